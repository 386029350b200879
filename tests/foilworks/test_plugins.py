"""Packages from outside add rows by entry points. A broken one is a line of doctor, and the site starts."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.hub.adapters.fake import load_adapter
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter
from foilworks.core.text import plugins
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import MAX_VERSION_LENGTH, Entry, RegistryError, load, version_of
from foilworks.site.doctor import ABSENT, examine
from generation.methods.registry import METHODS

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/plugin"
PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/plugins.md"
ORIGIN = "foilworks-mirror 0.3.0"
# Several commands in one process: each start costs more than all of them.
COMMANDS = """
import json, sys
from django.core.management import call_command
import django
django.setup()
from foilworks.site.cli import run
for line in json.loads(sys.argv[1]):
    if status := run(line):
        sys.exit(status)
"""


def install(source: Path, folder: Path) -> None:
    """As `pip install` does, into a folder of the test's own; nothing is downloaded."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-index"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", folder, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_page_shows_the_example_as_it_is() -> None:
    """Settings and code on the page are in the files of the example, a part for a part."""
    shown = re.findall(r"^```(?:toml|python)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(shown) == 4
    there = "".join(path.read_text(encoding="utf-8") for path in sorted(EXAMPLE.rglob("*.*")) if path.is_file())
    lines = {line.strip() for line in there.splitlines()}
    assert [line for block in shown for line in block.splitlines() if line.strip() not in lines] == []


def test_the_test_of_the_example_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    # The example is copied and installed as it is.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = import_module("test_mirror").test_sides_change_places
    made()
    assert made.__module__ == "test_mirror"
    for name in ("test_mirror", "foilworks_mirror", "foilworks_mirror.mirror"):
        monkeypatch.delitem(sys.modules, name)


@pytest.mark.full
def test_the_example_is_installed_and_used_by_the_products_commands(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "source")
    install(tmp_path / "source", tmp_path / "site")
    (tmp_path / "doors.txt").write_text(
        "door.mp4\tA man walks to the left.\tA man walks to the right.\nlamp.mp4\tA lamp.\n", encoding="utf-8"
    )
    commands = [
        ["migrate", "--verbosity", "0"],
        ["import", "pairs", str(tmp_path / "doors.txt"), "--project", "doors", "--create", "--json"],
        ["foil", "--method", "mirror", "--caption", "From left to right, then up.", "--set", "max=2", "--json"],
        ["generate", "--project", "doors", "--method", "mirror", "--filters", "identical", "--sync", "--json"],
        ["export", "tsv", "--project", "doors", "--out", str(tmp_path / "tsv"), "--json"],
        ["doctor", "--json"],
    ]
    path = f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    own = {**os.environ, "PYTHONPATH": path, "FOILWORKS_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported, tried, generated, exported, doctor = map(json.loads, done.stdout.splitlines())
    assert (imported["plugin"], imported["created"]["items"]) == (ORIGIN, 1)
    assert imported["errors"] == [
        f"{tmp_path / 'doors.txt'}:2: line: has 2 fields; write video, caption, foil, with tabs between"
    ]
    assert [one["foil"] for one in tried["candidates"]] == ["From right to left, then up."]
    assert generated["state"] == "done"
    assert exported["plugin"] == ORIGIN
    written = (tmp_path / "tsv" / "items.tsv").read_text(encoding="utf-8")
    assert written == "doors:1\tA man walks to the left.\tA man walks to the right.\n"
    with sqlite3.connect(tmp_path / "home/foilworks.sqlite3") as database:
        made = database.execute("SELECT method, method_version FROM generation_candidate").fetchall()
        (details,) = database.execute(
            "SELECT details FROM projects_auditevent WHERE action = 'evaluation.import_records'"
        ).fetchone()
    assert made == [("mirror", f"1 ({ORIGIN})")]
    assert json.loads(details)["plugin"] == ORIGIN
    lines = [check for check in doctor["checks"] if check["name"].startswith("plug-in")]
    assert [line["found"] for line in lines] == [f"{ORIGIN} (methods mirror, importers pairs, exporters tsv)"]


Put = Callable[..., None]
OURS = {"number": Entry("Number", "generation.methods.number")}


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Put:
    """Install a distribution of one module: what `importlib.metadata` finds, without pip."""

    def install_one(name: str, code: str, *points: str, group: str = "foilworks.methods", needs: str = "") -> None:
        folder = tmp_path / name
        described = folder / f"{name}-1.0.dist-info"
        described.mkdir(parents=True)
        (folder / f"{name}_rows.py").write_text(code, encoding="utf-8")
        required = f"Requires-Dist: {needs}\n" if needs else ""
        (described / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{required}")
        (described / "entry_points.txt").write_text(f"[{group}]\n" + "\n".join(points) + "\n")
        monkeypatch.syspath_prepend(folder)
        monkeypatch.delitem(sys.modules, f"{name}_rows", raising=False)
        plugins._every_point.cache_clear()

    yield install_one
    monkeypatch.undo()
    plugins._every_point.cache_clear()


ROW = 'from foilworks.core.text.registry import Entry\nROW = Entry("New", "new_rows", summary="Does it.")\n'


def test_rows_are_an_entry_or_what_a_function_returns(put: Put) -> None:
    put("new", ROW + 'def other():\n    return "other", ROW\n', "row = new_rows:ROW", "x = new_rows:other")
    found = Registry("methods", OURS)
    assert list(found) == ["number", "row", "other"]
    assert (found["row"].origin, found["row"].summary) == ("new 1.0", "Does it. (plug-in new 1.0)")
    assert found["number"] is OURS["number"]
    assert [one.problem for one in found.findings] == ["", ""]


def test_rows_are_read_when_they_are_first_asked_for(put: Put) -> None:
    found = Registry("methods", OURS)
    put("new", ROW, "row = new_rows:ROW")
    assert "new_rows" not in sys.modules
    assert "row" in found


@pytest.mark.parametrize(
    ("code", "point", "problem"),
    [
        ("raise RuntimeError('no\\nlicence')", "x = bad_rows:ROW", "cannot be read (RuntimeError: no licence)"),
        ("import sys; sys.exit('bye')", "x = bad_rows:ROW", "cannot be read (SystemExit: bye)"),
        ("def f(:", "x = bad_rows:ROW", "cannot be read (SyntaxError: invalid syntax (bad_rows.py, line 1))"),
        ("import no_such_library", "x = bad_rows:ROW", "cannot be read (ModuleNotFoundError: No module named "),
        (ROW, "x = bad_rows:WOR", "cannot be read (AttributeError: module 'bad_rows' has no attribute 'WOR')"),
        ("ROW = {}", "x = bad_rows:ROW", "is a dict; name an Entry, or a function that returns (slug, Entry)"),
        ("def f(): return None", "x = bad_rows:f", "is a NoneType; name an Entry, or a function that returns"),
        (
            ROW.replace("new_rows", "bad_rows"),
            "Sides/2 = bad_rows:ROW",
            "slug 'Sides/2'; use at most 40 lowercase letters",
        ),
        (ROW.replace("new_rows", "bad_rows"), "number = bad_rows:ROW", "slug 'number' is already used by Foilworks"),
        (ROW.replace("new_rows", "bad_rows"), "file = bad_rows:ROW", "slug 'file' is already used by Foilworks"),
        (ROW.replace("new_rows", "bad_rowz"), "x = bad_rows:ROW", "its row names the module bad_rowz, which does not "),
    ],
    ids=lambda value: value[:40],
)
def test_an_unusable_plugin_gives_one_line_and_changes_nothing(
    put: Put, caplog: pytest.LogCaptureFixture, code: str, point: str, problem: str
) -> None:
    put("bad", code, point)
    found = Registry("methods", OURS, reserved={"file"})
    assert dict(found) == OURS
    (finding,) = found.findings
    assert finding.problem.startswith(problem)
    assert not finding.slug
    name = point.partition(" ")[0]
    assert caplog.messages == [f"plug-in bad 1.0, foilworks.methods '{name}': {finding.problem}"]
    assert "\n" not in caplog.text.strip()


@pytest.mark.parametrize(
    ("needs", "fits"),
    [
        ("foilworks>=0.1", True),
        ("foilworks", True),
        ("Foilworks[models]>=99; python_version < '3'", True),
        ("foilworks>=99", False),
        ("foilworks<0.1", False),
        ("numpy>=99", True),
    ],
)
def test_a_package_for_another_version_is_left_out(put: Put, needs: str, fits: bool) -> None:
    put("new", ROW, "row = new_rows:ROW", needs=needs)
    found = Registry("methods", OURS)
    assert ("row" in found) is fits
    assert found.findings[0].problem.startswith("" if fits else f"needs {needs}, this is ")


def test_of_two_packages_with_one_slug_the_first_by_name_counts(put: Put) -> None:
    for name in ("zebra", "ant"):
        put(name, ROW.replace("new_rows", f"{name}_rows"), f"side = {name}_rows:ROW")
    found = Registry("methods", {})
    assert found["side"].origin == "ant 1.0"
    assert [one.problem for one in found.findings] == ["", "slug 'side' is already used by ant 1.0; choose another one"]


def test_a_row_that_loads_a_model_library_is_named(put: Put, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.delitem(sys.modules, "spacy")
    put("heavy", "import spacy\n" + ROW.replace("new_rows", "heavy_rows"), "row = heavy_rows:ROW")
    (tmp_path / "heavy" / "spacy.py").touch()
    found = Registry("methods", {})
    assert "row" in found
    assert found.findings[0].problem.startswith("loads spacy into every web process")


@pytest.mark.django_db
def test_a_group_that_does_not_exist_is_a_line_of_doctor(put: Put) -> None:
    put("new", ROW, "row = new_rows:ROW", group="foilworks.method")
    (line,) = [check for check in examine() if check.name == "plug-in"]
    assert line.state == ABSENT
    assert line.found.startswith("plug-in new 1.0, foilworks.method 'row': this group does not exist; use one of: ")
    assert "foilworks.methods" in line.found


def test_a_plugin_that_fails_to_load_gives_one_line_with_its_package() -> None:
    with pytest.raises(RegistryError, match=r"^New: the plug-in new 1\.0 cannot be loaded \(ModuleNotFoundError: "):
        load(Entry("New", "no_such_module", origin="new 1.0"))
    with pytest.raises(ModuleNotFoundError):
        load(Entry("Ours", "no_such_module"))


MAKES = (
    ROW
    + """
import json
VERSION = "1"
def make(captions, *, params, mode, seed):
    yield json.loads("{")
"""
)


def test_code_of_a_plugin_that_raises_is_named_with_its_place(put: Put) -> None:
    put("new", MAKES, "new = new_rows:ROW")
    made = import_module("new_rows").make([], params={}, mode="", seed=1)
    with pytest.raises(ValueError, match="Expecting") as caught:
        next(made)
    said = plugins.failure_of(caught.value)
    assert said.startswith("the plug-in new 1.0 failed (JSONDecodeError: Expecting")
    assert said.endswith("in new_rows, line 7); repair or uninstall the package")
    assert not plugins.failure_of(ValueError("ours"))
    wanted = pytest.raises(RegistryError, match=r"^the plug-in new 1\.0 failed .* --traceback shows the calls$")
    with wanted, plugins.NamedFailures():
        next(import_module("new_rows").make([], params={}, mode="", seed=1))


@pytest.mark.django_db
def test_doctor_imports_what_only_jobs_import(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    put("new", ROW.replace('"new_rows"', '"new_rows:missing"'), "new = new_rows:ROW")
    monkeypatch.setattr(METHODS, "_rows", None)
    (line,) = [check for check in examine() if check.name == "plug-in"]
    assert line.found.startswith("New: the plug-in new 1.0 cannot be loaded (AttributeError: ")


def test_provenance_names_the_package_behind_the_version() -> None:
    ours, theirs = Entry("Ours", "m"), Entry("Theirs", "m", origin="new 1.0")
    assert version_of(ours, SimpleNamespace(VERSION="2")) == "2"
    assert version_of(theirs, SimpleNamespace(VERSION="2")) == "2 (new 1.0)"
    for wrong in (SimpleNamespace(), SimpleNamespace(VERSION=2), SimpleNamespace(VERSION="")):
        with pytest.raises(RegistryError, match=r"the plug-in new 1\.0 has no VERSION"):
            version_of(theirs, wrong)
    with pytest.raises(RegistryError, match="is too long"):
        version_of(theirs, SimpleNamespace(VERSION="2" * MAX_VERSION_LENGTH))


def test_scores_of_a_plugins_model_are_not_those_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    path = ADAPTERS["fake"].path
    monkeypatch.setitem(ADAPTERS, "theirs", Entry("Theirs", path, origin="new 1.0"))
    assert open_adapter("theirs:7").info.revision == f"{load_adapter('7').info.revision} (new 1.0)"
    assert open_adapter("fake:7").info.revision == load_adapter("7").info.revision


def test_a_model_whose_info_cannot_be_set_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed:
        def __init__(self) -> None:
            self._fake = load_adapter("7")

        info = property(lambda self: self._fake.info)
        encode_video = property(lambda self: self._fake.encode_video)
        encode_text = property(lambda self: self._fake.encode_text)
        score = property(lambda self: self._fake.score)

    monkeypatch.setitem(sys.modules, "fixed_rows", SimpleNamespace(load=lambda argument, device, dtype: Fixed()))
    monkeypatch.setitem(ADAPTERS, "fixed", Entry("Fixed", "fixed_rows:load", origin="new 1.0"))
    with pytest.raises(HubError, match="fixed: its info cannot be set"):
        open_adapter("fixed:")


def test_a_manifest_names_the_package_of_its_format(monkeypatch: pytest.MonkeyPatch) -> None:
    release = ReleaseContent("p", "r", "", "", ())
    monkeypatch.setitem(EXPORTERS, "theirs", Entry("Theirs", "m", origin="new 1.0"))
    assert manifest_facts(release, "theirs", 0)["plugin"] == "new 1.0"
    assert "plugin" not in manifest_facts(release, "jsonl", 0)
