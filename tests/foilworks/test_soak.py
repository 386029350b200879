"""Kills in a few seconds under load, on real processes: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.machines
@pytest.mark.parametrize(
    "kills",
    [
        pytest.param(3, marks=pytest.mark.slow(seconds=25)),
        pytest.param(20, marks=pytest.mark.slow(seconds=60)),
    ],
)
def test_kills_lose_no_acknowledged_answer_and_repeat_nothing(kills):
    """The script asserts what it reports; two hundred kills run by hand with the same one."""
    if find_binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL here")
    small = ["--kills", str(kills), "--items", "60", "--slots", "1"]
    command = [sys.executable, "-m", "tests.foilworks.soak", *small]
    theirs = ("PYTEST_", "DATABASE_", "DJANGO_SETTINGS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["killed"] == kills
    assert found["collected_too_much"] == 0
    assert all(counts["acknowledged"] == counts["stored"] for counts in found["answers"].values())
    assert all(counts["stored"] > 0 for counts in found["answers"].values())
    assert found["check_by_command"].endswith("invariants hold")
