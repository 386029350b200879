"""Registries of methods, filters, importers, exporters, adapters, metrics and reports.

A registry maps a slug to an `Entry`. Menus, forms and method pages read it without imports; only
`load` imports, and only jobs and commands call it. So a page can list a method whose code needs a GPU library.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from foilworks.core.text.moved_names import moved_hint
from foilworks.core.text.plugin_contracts import Contract, RegistryError
from foilworks.core.text.quoting import quoted
from foilworks.core.text.storable import is_storable

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})
# Limits of the provenance: VERSION, and a plug-in's name and version.
MAX_VERSION_LENGTH = 200


@dataclass(frozen=True)
class Param:
    """A parameter of an entry. `kind` is str, int, float, bool, json or choice (with `choices`).

    RegistryError: an unknown kind, or a default of another kind.
    """

    name: str
    default: Any
    help: str
    kind: str = "str"
    choices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in CONVERTERS:
            raise RegistryError(f"parameter '{self.name}': kind '{self.kind}'; give one of: {', '.join(CONVERTERS)}")
        # A default reaches the method unconverted: "10" is not a whole number, though a form may send it.
        if _convert(self, self.default) != self.default:
            raise _wrong(self, self.default, f"a default of the kind {self.kind}, not text")


@dataclass(frozen=True)
class Entry:
    """A row: `path` is a module ("generation.methods.number") or an attribute
    ("foilworks.core.hub.adapters.fake:FakeEmbedder"); "" for a form outside the registries, whose action calls its
    function directly.

    `deviations`: differences from the publication; `published` False: not from a paper, so that these are
    notes and both modes do the same. `origin`: name and version of the plug-in that adds the row; "" for our own.
    `kind`: how the row works ("rule", "model", "endpoint", "people" for methods); `example`: a caption and its foil;
    `main`: the parameters that a form shows first. A method of the kind "rule" is previewed in web processes, so its
    module must import no model library.
    """

    label: str
    path: str = ""
    params: tuple[Param, ...] = ()
    deviations: tuple[str, ...] = ()
    needs_gpu: bool = False
    summary: str = ""
    published: bool = True
    origin: str = ""
    kind: str = ""
    example: tuple[str, str] | None = None
    main: tuple[str, ...] = ()
    # What the module of a plug-in must have; set by the registry of its group.
    contract: Contract | None = field(default=None, repr=False, compare=False)


def load(entry: Entry) -> Any:
    """Import the module or attribute of the entry. RegistryError: a plug-in cannot be imported or breaks its contract.

    The module of a plug-in has the default constants of its group, and its functions check their results.
    """
    module_name, _, attribute = entry.path.partition(":")
    failed = f"{entry.label}: the plug-in {entry.origin} cannot be loaded"
    with code_of_others(failed) if entry.origin else nullcontext():
        module = import_module(module_name)
        loaded = getattr(module, attribute) if attribute else module
    return entry.contract.apply(entry, [param.name for param in entry.params], loaded) if entry.contract else loaded


@contextmanager
def code_of_others(failed: str) -> Iterator[None]:
    """Turn any error of a plug-in's import into a RegistryError of one line that begins with `failed`."""
    try:
        yield
    except RegistryError:
        raise
    except (Exception, SystemExit) as error:
        problem = moved_hint(error) or " ".join(f"{type(error).__name__}: {error}".split())
        raise RegistryError(f"{failed} ({problem}); repair or uninstall the package") from error


def version_of(entry: Entry, module: Any) -> str:
    """Return the VERSION for the provenance, and for a plug-in its distribution: "1 (foilworks-mirror 0.3)"."""
    if not entry.origin:
        return str(module.VERSION)
    version = getattr(module, "VERSION", "1")
    if not isinstance(version, str) or not version:
        problem = f"the plug-in {entry.origin} has VERSION = {version!r}"
        raise RegistryError(f"{entry.label}: {problem}; write text, such as '1'")
    full_version = f"{version} ({entry.origin})"
    if len(full_version) > MAX_VERSION_LENGTH:
        raise RegistryError(
            f"{entry.label}: the version '{full_version}' is too long; use at most {MAX_VERSION_LENGTH}"
        )
    return full_version


def lookup(table: Mapping[str, Entry], slug: str, kind: str) -> Entry:
    """Find the row of `slug`; RegistryError lists the known slugs."""
    if slug not in table:
        raise RegistryError(f"unknown {kind} {quoted(slug)}; choose one of: {', '.join(sorted(table))}")
    return table[slug]


def parse_params(entry: Entry, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of the entry with values: defaults filled in, text converted to the declared kind.

    RegistryError names the parameter and its valid values.
    """
    params_by_name = {param.name: param for param in entry.params}
    for name in raw:
        if name not in params_by_name:
            param_names = ", ".join(params_by_name) or "no parameters"
            raise RegistryError(f"{entry.label} has no parameter {quoted(name)}; it takes: {param_names}")
    return {
        name: _convert(param, raw[name]) if name in raw else param.default for name, param in params_by_name.items()
    }


def _convert(param: Param, value: Any) -> Any:
    return CONVERTERS[param.kind](param, value)


def _wrong(param: Param, value: Any, allowed: str) -> RegistryError:
    return RegistryError(f"parameter {quoted(param.name)} is {quoted(value)}; give {allowed}")


def _str(param: Param, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(param, value, "text")
    if not is_storable(value):
        raise _wrong(param, value, "text without NUL or half of a surrogate pair")
    return value


def _int(param: Param, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise _wrong(param, value, "a whole number")
    try:
        return int(value)
    except ValueError as error:
        raise _wrong(param, value, "a whole number") from error


def _float(param: Param, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise _wrong(param, value, "a number")
    try:
        number = float(value)
    except ValueError as error:
        raise _wrong(param, value, "a number") from error
    if not math.isfinite(number):
        raise _wrong(param, value, "a finite number")
    return number


def _bool(param: Param, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in TRUE_WORDS or word in FALSE_WORDS:
        return word in TRUE_WORDS
    raise _wrong(param, value, "true or false")


def _json(param: Param, value: Any) -> Any:
    try:
        content = json.loads(value) if isinstance(value, str) else value
    except (json.JSONDecodeError, RecursionError) as error:
        raise _wrong(param, value, "JSON") from error
    if not is_storable(content):
        raise _wrong(param, value, "JSON without NUL, half of a surrogate pair, NaN or infinity")
    return content


def _choice(param: Param, value: Any) -> str:
    if value not in param.choices:
        raise _wrong(param, value, "one of: " + ", ".join(filter(None, param.choices)))
    return str(value)


CONVERTERS: dict[str, Callable[[Param, Any], Any]] = {
    "str": _str,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "choice": _choice,
    "json": _json,
}
