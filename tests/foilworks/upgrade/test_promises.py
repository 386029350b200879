"""What 0.3.0 showed to people and programs still works: commands, settings, API fields, slugs and names of jobs.

Changed names are in three tables: foilworks/core/jobs/names_of_0_3.py, RENAMED of foilworks/site/settings.py and of
foilworks/site/cli.py.
"""

import hashlib
import importlib
import inspect
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.names import find_job
from foilworks.core.jobs.names_of_0_3 import NAMES_OF_0_3
from foilworks.core.rooms import declared
from foilworks.site import cli
from foilworks.site.api.api import api
from foilworks.site.management import commands
from foilworks.site.management.old_spellings import moved_hint
from tests.foilworks.upgrade import removed
from tests.foilworks.upgrade.record import ENGINES, ROOT, recorded, surface

STATES = ("waiting", "running", "failed")
# Name in the record -> registry of slugs today.
REGISTRIES = {
    "methods": "generation.methods.registry:METHODS",
    "filters": "generation.filters.registry:FILTERS",
    "caption makers": "generation.captioning.registry:CAPTIONERS",
    "importers": "foilworks.core.corpus.import_formats.registry:IMPORTERS",
    "exporters": "foilworks.core.corpus.export_formats.registry:EXPORTERS",
    "reports": "evaluation.analyses.registry:REPORTS",
    "analyses": "evaluation.analyses.registry:OF_SCORES",
    "metrics": "evaluation.metrics.registry:METRICS",
    "adapters": "foilworks.core.hub.catalogue.registry:EVERY",
    "protocols": "evaluation.scoring.protocols:PROTOCOLS",
    "recipes of UTD": "evaluation.utd.recipes:RECIPES",
}


def settings_today() -> set[str]:
    """Return every variable that foilworks/site/settings.py reads, under its name of today and its old name."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "scripts" / "environment.py")
    environment = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(environment)
    source = environment.SETTINGS.read_text(encoding="utf-8")
    return {*environment.variables(source), *environment.renamed(source).values()}


def test_the_record_was_made_by_the_recorder_that_is_here():
    """It is written for 0.3.0: a name that changes today does not change in it."""
    recorder = (ROOT / "tests/foilworks/upgrade/recorder").glob("*.py")
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in recorder}
    assert digests == surface()["recorder"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_record_has_every_job_in_every_state_and_every_address(engine):
    record = recorded(engine)
    answers = record["answers"]
    for state in STATES:
        jobs = [answers["jobs"][pk] for pk in record["installation"]["jobs"][state]["jobs"]]
        names = {job["dotted"] for job in jobs if job["state_before"] == state}
        assert names == set(surface()["jobs"])
        assert {job["state_before"] for job in jobs} == {state, "spread"}
        assert {job["state"] for job in jobs} == {"done"}
    names = {row["name"] for row in answers["addresses"]}
    assert {name for name in surface()["addresses"] if not name.startswith("api:")} == names
    operations = {f"{row['method']} {row['template']}" for row in answers["operations"]}
    assert operations == {f"{method.upper()} {path}" for path, method in _operations(surface()["api"])}


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, methods in document["paths"].items():
        yield from ((path, method) for method in methods)


@pytest.mark.parametrize("name", sorted(set(surface()["jobs"]) - removed.JOBS))
def test_every_job_name_of_0_3_0_resolves_to_a_function(name):
    function = find_job(name)
    assert inspect.isfunction(function)
    assert list(inspect.signature(function).parameters)[1:] == ["job"]


@pytest.mark.parametrize("name", sorted(removed.JOBS))
def test_a_removed_job_ends_with_one_line(name):
    with pytest.raises(JobError, match=r"version 0\.4 removed [a-z ]+; nothing is left to do for this job"):
        find_job(name)


def test_the_table_of_old_names_has_every_job_of_0_3_0_and_leads_to_those_of_today():
    assert set(NAMES_OF_0_3) == set(surface()["jobs"]) - removed.JOBS
    assert set(NAMES_OF_0_3.values()) <= set(declared("JOBS"))
    with pytest.raises(JobError):
        find_job("evaluation.jobs.nonsense")


@cache
def parser_of(name: str) -> ArgumentParser:
    return import_module(f"{commands.__name__}.{name}").Command().create_parser("foilworks", name)


@pytest.mark.parametrize("name", surface()["commands"])
def test_a_command_accepts_every_old_option_or_names_its_new_spelling(name):
    parser = parser_of(cli.RENAMED.get(name, name))
    groups = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    subparsers = {subcommand: part for group in groups for subcommand, part in group.choices.items()}
    parsers = [parser, *subparsers.values()]
    today = {flag: action for part in parsers for action in part._actions for flag in _names(action)}
    lost = []
    # What was written before an option of 0.3.0: the action, or nothing.
    had_actions = any(option["choices"] and not option["flags"] for option in surface()["commands"][name]["options"])
    before = [[part] for part in subparsers] if subparsers and had_actions else [[]]
    for option in surface()["commands"][name]["options"]:
        if subparsers and not option["flags"] and option["choices"]:
            lost += sorted(set(option["choices"]) - set(subparsers))
            continue
        for flag in option["flags"] or [option["name"]]:
            choices = set(option["choices"] or ()) - removed.SLUGS
            hints = [moved_hint(cli.RENAMED.get(name, name), [*first, flag]) for first in before]
            if (name, flag) in removed.OPTIONS:
                assert flag not in today
            elif flag not in today:
                lost += [] if any(hints) else [flag]
            elif today[flag].choices is not None and not choices <= set(today[flag].choices):
                lost.append(f"{flag}: {choices - set(today[flag].choices)}")
    assert lost == []
    required = {option["name"] for option in surface()["commands"][name]["options"] if option["required"]}
    assert subparsers or {action.dest for action in parser._actions if action.required} <= required


def _names(action: Any) -> list[str]:
    return action.option_strings or [action.dest]


def test_a_renamed_command_runs_with_a_warning(capsys, monkeypatch):
    monkeypatch.setitem(cli.RENAMED, "old-check", "check")
    for old, new in cli.RENAMED.items():
        with pytest.raises(SystemExit):
            cli.run([old, "--help"])
        printed = capsys.readouterr()
        assert printed.out.startswith(f"usage: foilworks {new}")
        assert printed.err == f"foilworks: `{old}` is now `{new}`; the old name works until 0.5\n"


def test_every_old_setting_is_read():
    assert set(surface()["settings"]) <= settings_today()


@pytest.mark.parametrize("name", REGISTRIES)
def test_every_slug_in_a_row_is_known(name):
    module, _, table = REGISTRIES[name].partition(":")
    assert set(surface()["slugs"][name]) - removed.SLUGS - set(getattr(import_module(module), table)) == set()


def test_the_api_accepts_and_returns_the_same_as_before():
    """Addresses without a version lead to those of version 1."""
    before, now = surface()["api"], api.get_openapi_schema()
    before = {**before, "paths": {f"/api/v1/{path[5:]}": methods for path, methods in before["paths"].items()}}
    lost = [f"{method} {path}" for path, method in _operations(before) if method not in now["paths"].get(path, {})]
    for path, method in _operations(before):
        if f"{method} {path}" not in lost:
            pair = before["paths"][path][method], now["paths"][path][method]
            lost += [f"{method} {path}: {problem}" for problem in _narrowed(*pair)]
    shapes = before["components"]["schemas"], now["components"]["schemas"]
    for name, shape in shapes[0].items():
        fields = shapes[1].get(name, {}).get("properties")
        # If a shape changes its name, test_installation.py compares its fields in replies.
        lost += [
            f"{name}.{field}" for field in shape.get("properties", {}) if fields is not None and field not in fields
        ]
    assert lost == []


def _narrowed(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Yield parameters that are no longer accepted, and new ones that are required."""
    old, new = (
        {parameter["name"]: parameter for parameter in operation.get("parameters", [])} for operation in (before, now)
    )
    yield from old.keys() - new.keys()
    yield from (f"{name} is required" for name in new.keys() - old.keys() if new[name].get("required"))
