"""A crowd over HTTP, on the running server and PostgreSQL: nothing lost, nothing twice, nobody judges their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow(seconds=15)
@pytest.mark.parametrize(
    ("items", "annotators", "reviewers", "validators"),
    [
        pytest.param(40, 3, 1, 4, id="eight people"),
        pytest.param(846, 40, 8, 101, id="a tenth of ViLMA", marks=[pytest.mark.full, pytest.mark.slow(seconds=120)]),
    ],
)
def test_a_crowd_makes_its_items_and_each_has_exactly_its_votes(items, annotators, reviewers, validators):
    """The script asserts what it reports; the whole of ViLMA's size runs by hand with the same one."""
    if find_binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL here")
    people = ["--annotators", str(annotators), "--reviewers", str(reviewers), "--validators", str(validators)]
    crowd = ["--items", str(items), *people, "--reviewed", ".25"]
    command = [sys.executable, str(ROOT / "benchmarks/crowd.py"), *crowd]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["votes_an_item"] == {"3": items}
    assert found["stored"]["validation"] == 3 * items
    assert (found["rule_1_broken"], found["check"]) == (0, [])
