"""The weight budget: what is measured, and what is heavier than at the last release."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from foilworks.site.cli import own_commands

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def weight():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", ["", *sys.path])
        spec = importlib.util.spec_from_file_location("weight", ROOT / "scripts" / "weight.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stored(weight):
    return json.loads(weight.STORED.read_text(encoding="utf-8"))["numbers"]


def test_a_number_that_grew_by_more_than_a_tenth_is_heavier(weight):
    before = {"MB a": 10.0, "MB b": 10.0, "modules c": 100, "MB gone": 1.0}
    now = {"MB a": 11.0, "MB b": 11.1, "modules c": 50, "MB new": 99.0}
    assert weight.grown(before, now) == ["MB b"]
    shown = weight.table(before, now).splitlines()
    assert [line.split()[-2:] for line in shown[1:]] == [
        ["10", "11"],
        ["10", "11.1"],
        ["100", "50"],
        ["-", "99"],
        ["1", "-"],
    ]


def test_an_installation_without_extras_has_no_model_library(weight):
    base = weight.required("")
    assert {"foilworks", "django", "asgiref", "psycopg-binary"} <= base
    assert not {"torch", "transformers", "pytest"} & base
    assert "torch" in weight.required("models") - base
    assert 0 < weight.megabytes({"foilworks"}) < weight.megabytes({"foilworks", "django"})


def test_the_stored_numbers_have_every_command_and_the_pages_of_the_demo(stored):
    names = {f"modules, foilworks {name}" for name in ("--help", *own_commands())}
    assert names == {name for name in stored if name.startswith("modules")}
    assert max(size for name, size in stored.items() if name.startswith("kB of a page")) < 150


@pytest.mark.parametrize("name", ["--help", "export"])
def test_the_start_of_a_command_imports_no_more_modules_than_at_the_last_release(weight, stored, name):
    label = f"modules, foilworks {name}"
    command = [sys.executable, "-c", weight.START, *([] if name == "--help" else [name]), "--help"]
    _seconds, modules = weight._start(command)
    assert modules > 100
    assert weight.grown({label: stored[label]}, {label: modules}) == []
