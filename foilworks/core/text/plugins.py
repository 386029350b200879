"""Rows that installed packages add to the registries through entry points (docs/how-to/plugins.md).

An entry point of a group such as `foilworks.methods` names an `Entry`, whose slug is the name of the entry point, or a
function without arguments that returns `(slug, Entry)`. A registry reads them once per process, when it is first used.
Unusable plug-ins are skipped, logged and listed by `foilworks doctor`: they never stop the site.
"""

import logging
import re
import sys
from collections.abc import Collection, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from traceback import walk_tb
from types import TracebackType
from typing import Any

from packaging.requirements import Requirement

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.plugin_contracts import Contract
from foilworks.core.text.registry import Entry, RegistryError, code_of_others
from foilworks.version import __version__

logger = logging.getLogger(__name__)

PREFIX = "foilworks."
# The database columns have 40 characters.
SLUG = re.compile(r"[a-z][a-z0-9_-]{0,39}")
# Slow and large libraries that a web process must not load to list a row.
HEAVY = frozenset({"torch", "transformers", "sentence_transformers", "spacy"})


@dataclass(frozen=True)
class Finding:
    """The result of one entry point: the slug, or the problem in one line."""

    distribution: str
    group: str
    name: str
    slug: str = ""
    problem: str = ""

    def __str__(self) -> str:
        return f"plug-in {self.distribution}, {self.group} '{self.name}': {self.problem or 'in use'}"


class Registry(MutableMapping[str, Entry]):
    """A registry: our own rows of one kind, followed by the rows of plug-ins."""

    def __init__(
        self,
        group: str,
        own_entries: Mapping[str, Entry],
        contract: Contract | None = None,
        *,
        reserved: Collection[str] = (),
    ) -> None:
        """Create a registry. `contract`: of the plug-ins' modules; `reserved`: slugs that plug-ins must not use."""
        self.group, self.contract = PREFIX + group, contract or Contract()
        self._own, self._reserved = own_entries, frozenset(reserved)
        self._rows: dict[str, Entry] | None = None
        self._findings: list[Finding] = []

    @property
    def findings(self) -> list[Finding]:
        """Return the result of each entry point of this group."""
        self._all()
        return self._findings

    def _all(self) -> dict[str, Entry]:
        if self._rows is None:
            rows, findings = dict(self._own), []
            for point in _points(self.group):
                findings.append(_read(point, rows, self._reserved, self.contract))
                if findings[-1].problem:
                    logger.warning("%s", findings[-1])
            self._findings, self._rows = findings, rows
        return self._rows

    def __getitem__(self, slug: str) -> Entry:
        return self._all()[slug]

    def __setitem__(self, slug: str, entry: Entry) -> None:
        self._all()[slug] = entry

    def __delitem__(self, slug: str) -> None:
        del self._all()[slug]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def strays(known_groups: Collection[str]) -> list[Finding]:
    """Report entry points in groups with similar names: a misspelled group would hide the plug-in."""
    groups = [group for group in _groups() if group not in known_groups]
    problem = f"this group does not exist; use one of: {', '.join(sorted(known_groups))}"
    return [Finding(_origin(point), group, point.name, problem=problem) for group in groups for point in _points(group)]


def failure_of(error: BaseException) -> str:
    """Return one line that names the plug-in whose code raised the error, and the place; "" if none did."""
    owners = {point.module.partition(".")[0]: _origin(point) for group in _groups() for point in _points(group)}
    for frame, line in reversed(list(walk_tb(error.__traceback__))):
        name = frame.f_globals.get("__name__", "")
        if origin := owners.get(name.partition(".")[0]):
            message = " ".join(f"{type(error).__name__}: {error}".split())
            code_location = f"{name}, line {line}"
            return f"the plug-in {origin} failed ({message}, in {code_location}); repair or uninstall the package"
    return ""


class NamedFailures:
    """Turn an unexpected error of a plug-in's code into a RegistryError of one line; other errors stay."""

    def __enter__(self) -> None:
        """Start to watch."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, ActionableError) and (failed := failure_of(error)):
            raise RegistryError(f"{failed}; --traceback shows the calls") from error


def _groups() -> list[str]:
    return sorted(group for group in _every_point().groups if group.startswith(PREFIX))


@cache
def _every_point() -> Any:
    # Different classes before and since Python 3.12, both with `select` and `groups`.
    return metadata.entry_points()


def _points(group: str) -> list[metadata.EntryPoint]:
    """Return entry points in an order independent of install locations: of two equal slugs, the first one counts."""
    return sorted(_every_point().select(group=group), key=lambda point: (_origin(point), point.name))


def _origin(point: metadata.EntryPoint) -> str:
    """Return the distribution's name and version for the provenance."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else "unknown"


def _read(point: metadata.EntryPoint, rows: dict[str, Entry], reserved: frozenset[str], contract: Contract) -> Finding:
    """Add the row of the entry point to `rows`, or return the problem."""
    finding = Finding(_origin(point), point.group, point.name)
    loaded = HEAVY & sys.modules.keys()
    try:
        with code_of_others("cannot be read"):
            _check_requirements(point)
            slug, entry = _row(point)
            _check_row(slug, entry, rows, reserved)
    except RegistryError as error:
        return replace(finding, problem=str(error))
    summary = f"{entry.summary} (plug-in {finding.distribution})".strip()
    rows[slug] = replace(entry, origin=finding.distribution, summary=summary, contract=contract)
    if heavy := sorted((HEAVY & sys.modules.keys()) - loaded):
        problem = f"loads {', '.join(heavy)} into every web process; import it in the module that does the work"
        return replace(finding, slug=slug, problem=problem)
    return replace(finding, slug=slug)


def _check_requirements(point: metadata.EntryPoint) -> None:
    """Check the required Foilworks version, which pip can ignore. RegistryError: the package needs another one."""
    for line in (point.dist.requires if point.dist else None) or ():
        requirement = Requirement(line)
        if requirement.name.lower() != "foilworks" or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        if not requirement.specifier.contains(__version__, prereleases=True):
            raise RegistryError(
                f"needs foilworks{requirement.specifier}, this is {__version__}; install a version that fits"
            )


def _row(point: metadata.EntryPoint) -> tuple[Any, Any]:
    row = point.load()
    row = row() if callable(row) else row
    return row if isinstance(row, tuple) and len(row) == 2 else (point.name, row)


def _check_row(slug: Any, entry: Any, rows: Mapping[str, Entry], reserved: frozenset[str]) -> None:
    if not isinstance(entry, Entry) or not isinstance(slug, str):
        raise RegistryError(f"is a {type(entry).__name__}; name an Entry, or a function that returns (slug, Entry)")
    if not SLUG.fullmatch(slug):
        raise RegistryError(f"slug '{slug}'; use at most 40 lowercase letters, digits, - and _, starting with a letter")
    if slug in rows or slug in reserved:
        owner = rows[slug].origin if slug in rows else ""
        raise RegistryError(f"slug '{slug}' is already used by {owner or 'Foilworks'}; choose another one")
    module = entry.path.partition(":")[0]
    if not module:
        raise RegistryError("its row names no module; give the Entry a path")
    if find_spec(module) is None:
        raise RegistryError(f"its row names the module {module}, which does not exist; correct it")
