"""Kills in every stage, on real processes and both databases: what comes of it equals an undisturbed run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.postgres import find_binaries

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.full
@pytest.mark.slow(seconds=120)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_every_stage_survives_kills(database):
    """The script asserts what it reports; two hundred kills run by hand with the same one."""
    if database == "postgresql" and find_binaries() is None and not os.environ.get("CI"):
        pytest.skip("no PostgreSQL here")
    command = [sys.executable, str(ROOT / "benchmarks/kills.py"), "--kills", "20", "--database", database]
    theirs = ("PYTEST_", "DATABASE_", "DJANGO_SETTINGS_", "REDIS_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(theirs)}
    done = subprocess.run(command, cwd=ROOT, env=inherited, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["killed"] == 20
    killed = {name: stage for name, stage in found["stages"].items() if stage["kills"]}
    assert len(killed) >= 6, found["stages"]
    assert all(stage["units"] == stage["equal"] and stage["resumed"] == stage["killed"] for stage in killed.values())
    assert found["check_by_command"].endswith("invariants hold")
    assert found["restored"]["ok"]
    validation = found["people"]["answers"]["validation"]
    assert validation["acknowledged"] == validation["stored"] > 0
