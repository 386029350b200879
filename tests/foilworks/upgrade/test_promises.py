"""What 0.1 showed to people and programs still works: commands, settings, API fields, slugs and names of jobs.

Names that have changed are in three tables: jobs/aliases.py, RENAMED of foilworks/settings.py and of foilworks/cli.py.
"""

import hashlib
import importlib
import inspect
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings

from foilworks import cli
from foilworks.api.api import api
from jobs.aliases import RENAMED, find_job
from tests.foilworks.upgrade.record import ENGINES, ROOT, recorded, surface

# Tables of slugs that rows may hold, where they are today.
TABLES = {
    "methods": "generation.methods.registry:METHODS",
    "filters": "generation.filters.registry:FILTERS",
    "caption makers": "generation.captioning.registry:CAPTIONERS",
    "importers": "corpus.importers.registry:IMPORTERS",
    "exporters": "corpus.exporters.registry:EXPORTERS",
    "reports": "evaluation.analyses.registry:REPORTS",
    "analyses": "evaluation.analyses.registry:OF_SCORES",
    "metrics": "evaluation.metrics.registry:METRICS",
    "adapters": "hub.adapters.registry:EVERY",
    "protocols": "evaluation.scoring.protocols:PROTOCOLS",
    "recipes of UTD": "evaluation.utd.recipes:RECIPES",
}


def settings_today() -> dict[str, Any]:
    """The tables of foilworks/settings.py, and every variable that it reads."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "scripts" / "environment.py")
    environment = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(environment)
    source = environment.SETTINGS.read_text(encoding="utf-8")
    return {"read": environment.variables(source), "renamed": environment.renamed(source)}


def test_the_record_was_made_by_the_recorder_that_is_here():
    """It is written for 4fafc4b: a name that changes today does not change in it."""
    recorder = (ROOT / "tests/foilworks/upgrade/recorder").glob("*.py")
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in recorder}
    assert digests == surface()["recorder"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_record_holds_every_job_in_every_state_and_every_address(engine):
    kept = recorded(engine)
    for state in ("waiting", "running", "failed"):
        jobs = {kept["said"]["jobs"][pk]["dotted"] for pk in kept["world"]["jobs"][state]["jobs"]}
        assert jobs == set(surface()["jobs"])
    asked = {row["name"] for row in kept["said"]["addresses"]}
    assert {name for name in surface()["addresses"] if not name.startswith("api:")} == asked
    operations = {f"{row['method']} {row['template']}" for row in kept["said"]["operations"]}
    assert operations == {f"{method.upper()} {path}" for path, method in _operations(surface()["api"])}


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for path, methods in document["paths"].items():
        yield from ((path, method) for method in methods)


@pytest.mark.parametrize("name", surface()["jobs"])
def test_a_job_is_found_under_its_stored_name(name):
    assert list(inspect.signature(find_job(name)).parameters)[1:] == ["job"]


def test_the_table_of_jobs_contains_only_old_names():
    assert set(RENAMED) <= set(surface()["jobs"])
    assert not set(RENAMED) & set(RENAMED.values())
    with pytest.raises(ImportError):
        find_job("evaluation.jobs.nonsense")


@cache
def parser_of(name: str) -> ArgumentParser:
    return import_module(f"{cli.COMMANDS}.{name}").Command().create_parser("foilworks", name)


@pytest.mark.parametrize("name", surface()["commands"])
def test_a_command_accepts_every_old_option(name):
    today = {flag: one for one in parser_of(cli.RENAMED.get(name, name))._actions for flag in _names(one)}
    lost = []
    for one in surface()["commands"][name]["options"]:
        for flag in one["flags"] or [one["name"]]:
            if flag not in today:
                lost.append(flag)
            elif today[flag].choices is not None and not set(one["choices"] or ()) <= set(today[flag].choices):
                lost.append(f"{flag}: {set(one['choices'] or ()) - set(today[flag].choices)}")
    assert lost == []
    asked = {one["name"] for one in surface()["commands"][name]["options"] if one["required"]}
    assert {one.dest for one in parser_of(cli.RENAMED.get(name, name))._actions if one.required} <= asked


def _names(action: Any) -> list[str]:
    return action.option_strings or [action.dest]


def test_a_renamed_command_runs_with_a_warning(capsys):
    for old, new in cli.RENAMED.items():
        with pytest.raises(SystemExit):
            cli.run([old, "--help"])
        printed = capsys.readouterr()
        assert printed.out.startswith(f"usage: foilworks {new}")
        assert printed.err == f"foilworks: `{old}` is now `{new}`; the old name works until 0.4\n"


def test_every_old_setting_is_read_or_reported_as_removed():
    today = settings_today()
    known = {*today["read"], *today["renamed"].values(), *settings.REMOVED}
    assert set(surface()["settings"]) <= known


@pytest.mark.parametrize("name", TABLES)
def test_every_slug_in_a_row_is_known(name):
    module, _, table = TABLES[name].partition(":")
    assert set(surface()["slugs"][name]) - set(getattr(import_module(module), table)) == set()


def test_the_api_accepts_and_returns_the_same_as_before():
    before, now = surface()["api"], api.get_openapi_schema(path_prefix="/api/")
    lost = [f"{method} {path}" for path, method in _operations(before) if method not in now["paths"].get(path, {})]
    for path, method in _operations(before):
        if f"{method} {path}" not in lost:
            pair = before["paths"][path][method], now["paths"][path][method]
            lost += [f"{method} {path}: {one}" for one in _narrowed(*pair)]
    shapes = before["components"]["schemas"], now["components"]["schemas"]
    for name, shape in shapes[0].items():
        fields = shapes[1].get(name, {}).get("properties")
        # A shape may change its name: what it holds is then compared by the answers (test_installation.py).
        lost += [
            f"{name}.{field}" for field in shape.get("properties", {}) if fields is not None and field not in fields
        ]
    assert lost == []


def _narrowed(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Parameters that are no longer taken, and those that a program of before does not send."""
    old, new = ({one["name"]: one for one in each.get("parameters", [])} for each in (before, now))
    yield from old.keys() - new.keys()
    yield from (f"{name} is required" for name in new.keys() - old.keys() if new[name].get("required"))
