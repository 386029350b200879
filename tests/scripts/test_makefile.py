"""The Makefile explains itself, and its two main targets can be planned on a bare checkout."""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent.parent
BARE = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["make", *arguments], cwd=folder, env=BARE, capture_output=True, text=True, check=False)


@pytest.fixture
def checkout(tmp_path) -> Path:
    """What `make` reads, without an environment."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    return tmp_path


def test_help_lists_every_target_that_people_call():
    shown = make(ROOT).stdout
    targets = {line.split()[1] for line in shown.splitlines()}
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = {line.removeprefix(".PHONY: ") for line in text.splitlines() if line.startswith(".PHONY: ")}
    assert targets == phony
    assert {"demo", "test", "lint", "up", "clean"} <= targets


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("demo", ["-m venv .venv", "scripts/install_torch.py", "'.[models]'", "foilworks demo --headless"]),
        ("test", ["-m venv .venv", "scripts/install_torch.py", "'.[models,dev]'", "lint-imports", "-m pytest"]),
    ],
)
def test_a_bare_checkout_is_set_up_in_this_order(checkout, target, steps):
    plan = make(checkout, "--dry-run", target).stdout
    places = [plan.find(step) for step in steps]
    assert -1 not in places, plan
    assert places == sorted(places)


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_a_second_run_sets_up_nothing_and_a_changed_list_of_packages_installs_again(checkout, changed):
    stamps = checkout / ".venv/.stamps"
    stamps.mkdir(parents=True)
    for name in ("venv", "torch", "models", "dev"):
        (stamps / name).touch()
    assert "pip install" not in make(checkout, "--dry-run", "test").stdout
    later = (stamps / "dev").stat().st_mtime + 10
    os.utime(checkout / changed, (later, later))
    again = make(checkout, "--dry-run", "test").stdout
    assert "'.[models,dev]'" in again
    assert "-m venv" not in again


def test_exact_versions_are_installed_unless_the_newest_are_asked_for(checkout):
    assert "--constraint constraints.txt --editable" in make(checkout, "--dry-run", "test").stdout
    newest = make(checkout, "--dry-run", "CONSTRAINTS=", "test").stdout
    assert "--editable '.[models,dev]'" in newest
    assert "--constraint" not in newest


def test_exact_versions_cover_pyproject_and_fit_its_ranges():
    """A raised bound or a new dependency without `make versions` is found here, not on somebody's fresh machine."""
    lines = [line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    exact = {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    asked = [Requirement(line) for lines in (project["dependencies"], *extras) for line in lines]
    ours = {
        canonicalize_name(each.name): each.specifier
        for each in asked
        if each.name not in ("foilworks", "torch", "torchvision")
    }
    wrong = {name: exact.get(name) for name, allowed in ours.items() if exact.get(name, "0") not in allowed}
    assert wrong == {}, "run `make versions`"
    # torchvision follows the build of torch.
    assert "torch" not in exact, "torch's build depends on the machine: its pin is pyproject's alone"


def test_without_a_recent_python_it_says_so(checkout):
    done = make(checkout, "PYTHON=", "demo")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
