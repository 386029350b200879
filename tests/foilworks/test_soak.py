"""Kills under load, on real processes: nothing acknowledged is lost, nothing is there twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.slow(seconds=15)
def test_two_kills_of_the_web_server_on_sqlite_lose_nothing_that_was_acknowledged():
    found = soaked("--kills", "2", "--items", "30", "--sqlite")
    assert found["killed"] == 2
    assert found["answers"]["edit"]["stored"] > 0


@pytest.mark.full
@pytest.mark.slow(seconds=60)
@pytest.mark.skipif(find_binaries() is None and not os.environ.get("CI"), reason="no PostgreSQL here")
def test_twenty_kills_lose_nothing_that_was_acknowledged_and_do_nothing_twice():
    """Two hundred kills run by hand with the same script."""
    found = soaked("--kills", "20", "--items", "60", "--slots", "1")
    assert found["killed"] == 20
    assert found["answers"]["validation"]["stored"] > 0


def soaked(*arguments: str) -> dict:
    """What the script reports; it asserts all of it."""
    command = [sys.executable, str(ROOT / "benchmarks/soak.py"), *arguments]
    theirs = ("PYTEST_", "DATABASE_", "DJANGO_SETTINGS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["collected_too_much"] == 0
    assert all(counts["acknowledged"] == counts["stored"] for counts in found["answers"].values())
    assert found["check_by_command"].endswith("invariants hold")
    return found
