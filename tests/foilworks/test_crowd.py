"""A crowd over HTTP, on the running server and PostgreSQL: nothing lost, nothing twice, nobody judges their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent
# A tenth of ViLMA's size.
ITEMS = 846


@pytest.mark.slow(seconds=120)
def test_a_crowd_makes_its_items_and_each_has_exactly_its_votes():
    """The script asserts what it reports; the whole of ViLMA's size runs by hand with the same one."""
    if find_binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL here")
    people = ["--annotators", "40", "--reviewers", "8", "--validators", "101"]
    crowd = ["--items", str(ITEMS), *people, "--reviewed", ".25"]
    command = [sys.executable, str(ROOT / "benchmarks/crowd.py"), *crowd]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["votes_an_item"] == {"3": ITEMS}
    assert found["stored"]["validation"] == 3 * ITEMS
    assert (found["rule_1_broken"], found["check"]) == (0, [])
