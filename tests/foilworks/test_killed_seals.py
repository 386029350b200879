"""Processes that seal or erase are killed while others write: each row is sealed once, and every root holds."""

import json
import subprocess
import sys

import pytest

from tests.test_architecture import ROOT


@pytest.mark.machines
@pytest.mark.parametrize("database", ["--sqlite", ""])
def test_kills_lose_and_double_no_sealed_row(database):
    command = [sys.executable, "-m", "tests.foilworks.killed_seals", *([database] if database else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout.splitlines()[-1])
    assert figures["difference"] == ""
    assert figures["sealed"] == figures["rows"] > 0
    assert figures["erased"] > 0
    assert figures["seals"] > 1
