"""A crowd over HTTP, on the running server and PostgreSQL: nothing lost, nothing twice, nobody judges their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent
# Items, annotators, reviewers, validators: a hundredth and a tenth of ViLMA's size.
SMALL = (84, 6, 2, 12)
TENTH = (846, 40, 8, 101)


@pytest.mark.full
@pytest.mark.parametrize(
    "size",
    [
        pytest.param(SMALL, marks=pytest.mark.slow(seconds=20), id="small"),
        pytest.param(TENTH, marks=pytest.mark.slow(seconds=120), id="tenth"),
    ],
)
def test_a_crowd_makes_its_items_and_each_has_exactly_its_votes(size):
    """The script asserts what it reports; the whole of ViLMA's size runs by hand with the same one."""
    items, annotators, reviewers, validators = map(str, size)
    if find_binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL here")
    people = ["--annotators", annotators, "--reviewers", reviewers, "--validators", validators]
    crowd = ["--items", items, *people, "--reviewed", ".25"]
    command = [sys.executable, "-m", "tests.foilworks.crowd", *crowd]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["votes_an_item"] == {"3": size[0]}
    assert found["stored"]["validation"] == 3 * size[0]
    assert (found["rule_1_broken"], found["check"]) == (0, [])
