"""Packages from outside add rows by entry points. A broken one is a line of doctor, and the site starts."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import ModuleType, SimpleNamespace
from zipfile import ZipFile

import numpy as np
import pytest
from django.urls import reverse

from evaluation.analyses.registry import REPORTS
from evaluation.errors import EvaluationError
from evaluation.metrics.registry import METRICS
from evaluation.open_answers.actions.open_answers import import_open_answers
from foilworks.core.corpus.export_formats.parts.released_items import manifest_facts
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.records import ReleaseContent
from foilworks.core.hub.adapters.fake import load_adapter
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Role
from foilworks.core.text import plugins
from foilworks.core.text.plugins import Registry
from foilworks.core.text.registry import MAX_VERSION_LENGTH, Entry, Param, RegistryError, load, version_of
from foilworks.site.doctor import ABSENT, examine
from foilworks.site.exports.zipped import zipped
from foilworks.site.plugin_skeleton import GROUPS, SkeletonError, write_skeleton
from generation.captioning.registry import CAPTIONERS
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from generation.screening.registry import JUDGES
from tests.evaluation.served.worlds import make_release
from tests.factories import make_item, make_member, make_project, make_subtest

EXAMPLE = Path(__file__).resolve().parents[2] / "docs/examples/plugin"
PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/plugins.md"
ORIGIN = "foilworks-example 0.3.0"
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
    assert len(shown) >= 4
    there = "".join(path.read_text(encoding="utf-8") for path in sorted(EXAMPLE.rglob("*.*")) if path.is_file())
    lines = {line.strip() for line in there.splitlines()}
    assert [line for block in shown for line in block.splitlines() if line.strip() not in lines] == []


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_a_skeleton_passes_its_own_test(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write_skeleton(group, "my-own", tmp_path / "new")
    code = "".join((tmp_path / "new" / name).read_text(encoding="utf-8") for name in files)
    assert "foilworks_example" not in code
    assert f'[project.entry-points."foilworks.{group}"]\nmy-own = ' in code
    monkeypatch.syspath_prepend(tmp_path / "new")
    before = set(sys.modules)
    spec = spec_from_file_location("its_test", tmp_path / "new" / files[-1])
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        for made in [value for name, value in vars(module).items() if name.startswith("test_")]:
            made(*([tmp_path] if "tmp_path" in signature(made).parameters else []))
        assert len(files) == 5
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


def test_a_skeleton_needs_a_slug_and_a_new_folder(tmp_path: Path) -> None:
    with pytest.raises(SkeletonError, match="the name 'Mine' is not a slug"):
        write_skeleton("metrics", "Mine", tmp_path / "new")
    write_skeleton("metrics", "mine", tmp_path / "new")
    with pytest.raises(SkeletonError, match="exists and is not empty"):
        write_skeleton("metrics", "mine", tmp_path / "new")


@pytest.mark.full
def test_the_examples_are_installed_and_used_by_the_products_commands(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "source")
    install(tmp_path / "source", tmp_path / "site")
    folder = tmp_path / "clips"
    folder.mkdir()
    write_mp4(folder / "door.mp4", np.zeros((8, 32, 32, 3), np.uint8), fps=4)
    dark, bright = "A man walks to the left in the dark.", "A man walks to the left in bright light."
    (folder / "doors.txt").write_text(f"door.mp4\t{dark}\t{bright}\nlamp.mp4\tA lamp.\n", encoding="utf-8")
    (tmp_path / "scores.jsonl").write_text('{"id": "a", "scores": [0.9, 0.4]}\n', encoding="utf-8")
    project, media = ["--project", "doors"], ["--media", str(folder)]
    judged = ["--filters", "identical,short,video_judge", "--set", "video_judge.model=light:2", "--sync", "--json"]
    commands = [
        ["migrate", "--verbosity", "0"],
        ["doctor", "--json"],
        ["import", "pairs", str(folder / "doors.txt"), *project, "--create", *media, "--as-published", "--json"],
        ["foil", "--method", "mirror", "--caption", "From left to right, then up.", "--set", "max=2", "--json"],
        ["generate", *project, "--method", "mirror", *judged],
        ["caption", "--maker", "activity", "--text", "A man walks.", "--json"],
        ["export", "tsv", *project, "--out", str(tmp_path / "tsv"), "--set", "header=true", "--json"],
        ["metrics", "margin", "--file", str(tmp_path / "scores.jsonl"), "--set", "cap=0.25", "--json"],
        ["report", "lengths", *project, "--json"],
        ["release", *project, "--name", "first", "--json"],
        ["evaluate", "model", "length:", *project, "--release", "first", "--sync", "--json"],
    ]
    path = f"{tmp_path / 'site'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    own = {**os.environ, "PYTHONPATH": path, "FOILWORKS_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    results = list(map(json.loads, done.stdout.splitlines()))
    doctor, imported, tried, generated, captioned, exported, measured, reported, released, evaluated = results
    assert (imported["plugin"], imported["created"]["items"]) == (ORIGIN, 1)
    assert imported["errors"] == [
        f"{folder / 'doors.txt'}:2: line: has 2 fields; write video, caption, foil, with tabs between"
    ]
    assert [one["foil"] for one in tried["candidates"]] == ["From right to left, then up."]
    assert generated["state"] == "done"
    assert [one["why"] for one in captioned["skipped"]] == ["its video has no class label"]
    assert exported["plugin"] == ORIGIN
    assert (tmp_path / "tsv/items.tsv").read_text(encoding="utf-8") == (
        f"id\tcaption\tfoil\ndoors:1\t{dark}\t{bright}\n"
    )
    assert measured["mean_margin"] == 0.25
    assert reported["subtests"] == [{"subtest": "doors", "items": 1, "caption_words": 9.0, "foil_words": 9.0}]
    assert released["n_items"] == 1
    assert evaluated["state"] == "done"
    with sqlite3.connect(tmp_path / "home/foilworks.sqlite3") as database:
        made = database.execute("SELECT method, method_version FROM generation_candidate").fetchall()
        (judge,) = database.execute("SELECT params FROM generation_scorer").fetchone()
        (details,) = database.execute(
            "SELECT details FROM projects_auditevent WHERE action = 'evaluation.import_records'"
        ).fetchone()
    assert made == [("mirror", f"1 ({ORIGIN})")]
    assert json.loads(judge)["model"] == f"light:2@1 ({ORIGIN})"
    assert json.loads(details)["plugin"] == ORIGIN
    lines = [check for check in doctor["checks"] if check["name"].startswith("plug-in")]
    slugs = "methods mirror, filters short, captioners activity, importers pairs, exporters tsv, models length"
    assert [line["found"] for line in lines] == [f"{ORIGIN} ({slugs}, metrics margin, reports lengths, judges light)"]


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


BROKEN = [
    (METHODS, "def make(captions): ...", "has make with other arguments (got an unexpected keyword argument 'params')"),
    (METHODS, "", "has no function make; write it as docs/how-to/plugins.md shows"),
    (FILTERS, "VERSION = '1'", "has no function judge or judge_many or measure_many"),
    (CAPTIONERS, "make = 3", "has no function make"),
    (
        IMPORTERS,
        "def read(path, *, params): ...\nYIELDS = 'cats'",
        "has YIELDS = 'cats'; set it to one of: items, videos",
    ),
    (EXPORTERS, "def write(release, *, params): ...", "has write with other arguments (too many positional arguments)"),
    (
        METRICS,
        "INPUT = 'pair'\ndef compute(data): ...",
        "has INPUT = 'pair'; set it to one of: answers, choices,",
    ),
    (METRICS, "def compute(data): ...", "has compute with other arguments (got an unexpected keyword argument 'cap')"),
    (REPORTS, "def compute(*, cap): ...", "has compute with other arguments (too many positional arguments)"),
    (JUDGES, "def judge(pairs): ...", "has judge with other arguments (got an unexpected keyword argument 'argument')"),
]


def row_of(registry: Registry, code: str, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """A row of a plug-in whose module has this code."""
    module = ModuleType("broken_rows")
    exec(code, vars(module))
    monkeypatch.setitem(sys.modules, "broken_rows", module)
    params = (Param("cap", 1.0, "cap", "float"),) if registry in (METRICS, REPORTS) else ()
    return Entry("New", "broken_rows", params, origin="new 1.0", contract=registry.contract)


@pytest.mark.parametrize(("registry", "code", "problem"), BROKEN, ids=lambda value: str(value)[:30])
def test_a_broken_contract_is_one_line_with_the_package(
    registry: Registry, code: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RegistryError) as caught:
        load(row_of(registry, code, monkeypatch))
    assert str(caught.value).startswith(f"plug-in new 1.0: broken_rows {problem}")


def test_results_of_a_plugin_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    makes = load(row_of(METHODS, "def make(captions, *, params, mode, seed): yield 'text'", monkeypatch))
    with pytest.raises(RegistryError, match=r"is wrong: make yielded a str; yield FoilDraft or Skip or Shortfall or"):
        list(makes.make([], params={}, mode="", seed=0))
    reads = load(row_of(IMPORTERS, "def read(path, *, params): ...", monkeypatch))
    with pytest.raises(RegistryError, match=r"is wrong: read returned a NoneType; yield ItemRecord or BadRecord or"):
        reads.read(Path(), params={})
    judges = load(row_of(FILTERS, "def judge(caption, foil, *, others, params): return True", monkeypatch))
    with pytest.raises(RegistryError, match=r"is wrong: judge returned a bool; return Verdict"):
        judges.judge(None, "", others=[], params={})
    assert not judges.COSTLY
    code = "import numpy as np\ndef compute(data, *, cap): return {'a': np.float32(.5), 'b': np.arange(2), 'c': np.nan}"
    assert load(row_of(METRICS, code, monkeypatch)).compute(None, cap=1) == {"a": 0.5, "b": [0, 1], "c": None}
    bad = load(row_of(REPORTS, "def compute(data, *, cap): return {'rows': [{'a': {1}}]}", monkeypatch))
    with pytest.raises(RegistryError, match=r"has compute, whose result has a set at 'rows\[0\]\.a'; return"):
        bad.compute(None, cap=1)


def test_provenance_names_the_package_behind_the_version() -> None:
    ours, theirs = Entry("Ours", "m"), Entry("Theirs", "m", origin="new 1.0")
    assert version_of(ours, SimpleNamespace(VERSION="2")) == "2"
    assert version_of(theirs, SimpleNamespace(VERSION="2")) == "2 (new 1.0)"
    assert version_of(theirs, SimpleNamespace()) == "1 (new 1.0)"
    for wrong in (SimpleNamespace(VERSION=2), SimpleNamespace(VERSION="")):
        with pytest.raises(RegistryError, match=r"the plug-in new 1\.0 has VERSION = "):
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


REPORT = """
INPUT = "items"
def compute(data, *, cap):
    return {"n": len(data), "mean": 0.25, "rows": [{"subtest": item.subtest, "words": None} for item in data]}
"""


@pytest.mark.django_db
def test_a_report_has_a_page_files_and_one_line_if_it_fails(client, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project()
    item = make_item(make_subtest(project))
    client.force_login(make_member(project, Role.RESEARCHER))
    monkeypatch.setitem(REPORTS, "theirs", replace(row_of(REPORTS, REPORT, monkeypatch), summary="Counts items."))
    address = reverse("reports:report", args=[project.slug, "theirs"])
    text = client.get(address).content.decode()
    assert "Counts items." in text
    assert "<td>0.25</td>" in text
    assert f"<td>{item.subtest.name}</td><td>–</td>" in "".join(text.split("\n")).replace("  ", "")
    rows = (
        client.get(reverse("reports:report_file", args=[project.slug, "theirs", "csv"])).content.decode().splitlines()
    )
    assert rows == ["subtest,words", f"{item.subtest.name},"]
    monkeypatch.setattr(plugins, "failure_of", lambda error: f"the plug-in new 1.0 failed ({error})")
    broken = row_of(REPORTS, "def compute(data, *, cap): return 1 / 0", monkeypatch)
    monkeypatch.setitem(REPORTS, "theirs", replace(broken, summary="Fails."))
    assert "The plug-in new 1.0 failed (division by zero)" in client.get(f"{address}?cap=2").content.decode()


@pytest.mark.django_db
def test_an_exporter_that_says_nothing_gets_records(monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
def write(release, out, *, params):
    out.mkdir(parents=True)
    lines = [f"{i.id}\\t{i.caption}\\t{i.foils[0]}" for i in release.items]
    (out / "items.tsv").write_text("\\n".join(lines))
"""
    monkeypatch.setitem(EXPORTERS, "theirs", row_of(EXPORTERS, code, monkeypatch))
    release = make_release(1)
    item = Item.objects.get()
    with zipped(release, "theirs", "out") as file, ZipFile(file) as archive:
        assert sorted(archive.namelist()) == ["out/items.tsv", "out/manifest.json"]
        (line,) = archive.read("out/items.tsv").decode().splitlines()
        assert json.loads(archive.read("out/manifest.json"))["plugin"] == "new 1.0"
    assert line.split("\t")[1:] == [item.caption.text, item.foils.get().text]


@pytest.mark.django_db
def test_a_judge_of_a_plugin_judges_open_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = "def judge_answers(answers, *, argument):\n    yield from (one.answer == argument for one in answers)"
    monkeypatch.setitem(JUDGES, "theirs", row_of(JUDGES, code, monkeypatch))
    (tmp_path / "model.csv").write_text("id,prediction,right\n1,a cup,a mug\n2,a box,a chest\n", encoding="utf-8")
    answers = import_open_answers(None, make_release(1), tmp_path / "model.csv", judge="theirs:a cup")
    run_now(answers.job)
    answers.refresh_from_db()
    assert answers.judge_key == "theirs:a cup@1 (new 1.0)"
    assert list(answers.answers.order_by("pk").values_list("verdict", flat=True)) == ["right", "wrong"]
    with pytest.raises(EvaluationError, match=r"begin with one of: .*theirs"):
        import_open_answers(None, answers.release, tmp_path / "model.csv", judge="nobody:")
