"""docs/how-to/extend.md keeps its promise: its method and its model, each one file, one row and one test, run as they
stand on the page."""

import re
import subprocess
import sys
from inspect import getmembers, isfunction, signature
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest

import generation.methods
from evaluation.scoring.queries import run_results
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.hub import adapters
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.core.text.registry import Entry, Param
from generation.actions.runs import start_run as start_generation
from generation.methods.registry import METHODS
from generation.models import Candidate
from generation.run_request import FoilRequest
from tests import factories
from tests.evaluation.test_families import make_release, score, values
from tests.generation.making import drafts
from tests.hub import test_interfaces
from tests.test_architecture import too_long

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "extend.md"
METHOD, METHOD_ROW, METHOD_TEST, ADAPTER, ADAPTER_ROW, SPEC = re.findall(
    r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


def on_the_page(code: str) -> dict[str, Any]:
    """The rows of a table that stand on the page."""
    return eval("{" + code + "}", {"Entry": Entry, "Param": Param})


@pytest.fixture
def extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The installation with the two files and rows of the page."""
    for package, name, code in ((generation.methods, "mirror", METHOD), (adapters, "brightness", ADAPTER)):
        folder = tmp_path / package.__name__
        folder.mkdir()
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        monkeypatch.delitem(sys.modules, f"{package.__name__}.{name}", raising=False)
    for table, row in ((METHODS, METHOD_ROW), (ADAPTERS, ADAPTER_ROW)):
        for slug, entry in on_the_page(row).items():
            monkeypatch.setitem(table, slug, entry)


@pytest.mark.parametrize(
    ("name", "row"),
    [("generation/methods/registry.py", METHOD_ROW), ("foilworks/core/hub/catalogue/registry.py", ADAPTER_ROW)],
)
def test_the_rows_of_the_page_fit_into_their_tables(name: str, row: str) -> None:
    text = (PAGE.parents[2] / name).read_text(encoding="utf-8")
    for _ in range(5):
        text = text.replace(": dict[str, Entry] = {\n", ": dict[str, Entry] = {\n" + indent(row, "    "), 1)
    assert text.count(row.split("\n")[0]) >= 5
    assert not too_long(name, text)


def test_the_code_of_the_page_passes_the_linter(tmp_path: Path) -> None:
    files = {"method.py": METHOD, "test_method.py": METHOD_TEST, "adapter.py": ADAPTER}
    for name, code in files.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    settings = PAGE.parents[2] / "pyproject.toml"
    ruff = Path(sys.executable).with_name("ruff")
    # In this folder our own packages are not known as such: the order of imports is not asked for.
    asked = [ruff, "check", "--no-cache", "--config", settings, "--ignore", "I001", tmp_path]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tests_of_the_page_pass(extended: None, tmp_path: Path) -> None:
    written = ModuleType("test_mirror")
    exec(METHOD_TEST, written.__dict__)
    (own,) = [made for name, made in getmembers(written, isfunction) if name.startswith("test_")]
    own()
    (spec,) = on_the_page(SPEC).values()
    every = [
        test
        for name, test in getmembers(test_interfaces, isfunction)
        if list(signature(test).parameters) == ["adapter"]
    ]
    assert len(every) >= 5
    for test in every:
        test(open_adapter(spec(tmp_path), device="cpu"))


def test_the_table_of_what_make_gets_holds(extended: None) -> None:
    """A parameter of the row reaches the method with its kind; both modes are understood."""
    (draft,) = drafts("mirror", "left, right and up", max="2", mode="paper")
    assert draft.foil == "right, left and up"
    assert draft.facts == {"sides": 2}


@pytest.mark.django_db
def test_from_the_method_of_the_page_to_the_queue_of_annotators(extended: None) -> None:
    project = factories.make_project()
    owner, subtest = factories.make_member(project, Role.RESEARCHER), factories.make_subtest(project)
    for text in ("A dog runs to the left.", "A dog sleeps."):
        factories.make_caption(factories.make_video(project), text)
    run = start_generation(owner, project, FoilRequest(subtest=subtest, method="mirror"))
    assert run_now(run.job).state == JobState.DONE
    (candidate,) = Candidate.objects.filter(group__run=run)
    assert (candidate.text, candidate.state) == ("A dog runs to the right.", CandidateState.QUEUED)
    assert (candidate.method, candidate.method_version, candidate.facts) == ("mirror", "1", {"sides": 1})
    run.refresh_from_db()
    assert run.skipped == {"it names no side (left, right, up, down, above)": 1}


@pytest.mark.django_db
def test_from_the_model_of_the_page_to_the_results_of_a_release(extended: None) -> None:
    release = make_release()
    run = score(release, "brightness:?frames=2")
    assert run.problems == {}
    assert len(values(run)) == 4
    assert run_results(run, draws=20)["overall"]["n_all"] == 2
    assert run.model_key.startswith("brightness")
