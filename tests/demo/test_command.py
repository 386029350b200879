"""`foilworks demo --headless --json` as anyone would run it: a home of its own, workers, the embedded queue."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from foilworks.site.demo.plan import ARCHITECTURES, FULL, Sizes

ROOT = Path(__file__).resolve().parents[2]
MAX_SECONDS = 900  # the demo's own limit is 360 on two idle cores; tests run beside it
SMALL = Sizes(training=14, pairs=14, counting=12, free=2, described=8)
# The command with another size: all its processes are as they are.
PROGRAM = """
import json, sys
from functools import partial
import django
django.setup()
from django.core.management import call_command
from foilworks.site.demo.plan import Sizes
from foilworks.site.management.commands import demo
demo.make_demo = partial(demo.make_demo, sizes=Sizes(**json.loads(sys.argv[1])))
call_command("demo", *sys.argv[2:])
"""


def demo(home: Path, sizes: Sizes) -> tuple[dict[str, Any], str]:
    """Its result, and what it said of its steps."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(asdict(sizes)), "--headless", "--json", "--seed", "1"],
        cwd=ROOT,
        env={**os.environ, "FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"},
        capture_output=True,
        text=True,
        timeout=MAX_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "seconds": None}, done.stderr


@pytest.mark.full
@pytest.mark.slow(seconds=20)
def test_a_small_demo_from_nothing_to_its_export_and_found_the_second_time(tmp_path: Path) -> None:
    result, steps = demo(tmp_path, SMALL)
    assert "filming" in steps
    assert result["items"] >= 2 * SMALL.pairs
    lines = (Path(result["export"]) / "items.jsonl").read_text(encoding="utf-8").splitlines()
    decided = Counter(json.loads(line)["state"] for line in lines)
    assert result["valid"] == decided["valid"]
    scored = {model: scores["n"] for model, scores in result["models"].items()}
    assert set(scored) == set(ARCHITECTURES)
    assert 0 < scored["average"] == scored["temporal"] <= result["valid"]
    again, steps = demo(tmp_path, SMALL)
    assert again == result
    assert "filming" not in steps


@pytest.mark.full
@pytest.mark.slow(seconds=70)
def test_the_models_of_the_whole_demo_tell_what_they_should(tmp_path: Path) -> None:
    result, _ = demo(tmp_path, FULL)
    assert result["items"] >= 2 * FULL.pairs
    lines = (Path(result["export"]) / "items.jsonl").read_text(encoding="utf-8").splitlines()
    decided = Counter(json.loads(line)["state"] for line in lines)
    assert result["valid"] == decided["valid"]
    assert (decided["invalid"] + decided["disputed"]) / result["items"] >= 0.1
    average, temporal = result["models"]["average"], result["models"]["temporal"]
    # Every released clip stands beside its exact reversal: who averages frames is at chance.
    assert 0.4 <= average["T"] <= 0.6
    assert temporal["T"] >= 0.9
    assert min(average["P"], temporal["P"]) >= 0.8
    assert average["n"] == temporal["n"] >= 100
