"""Measure `metrics pairwise` over --records JSON lines (1,000,000), relative to another tree of this project.

    git worktree add ../old 4fafc4b
    .venv/bin/python benchmarks/score_tables.py --against ../old

Both trees read the same file in turn, --rounds times, each in a process of its own. Printed: wall seconds and processor
seconds (the lowest of the rounds), peak memory, the ratios, and whether all figures are equal.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MIB = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path, required=True, help="the other tree")
    options = parser.parse_args()
    trees = {"other": options.against.resolve(), "here": ROOT}
    with tempfile.TemporaryDirectory(prefix="foilworks-tables-") as folder:
        path = Path(folder) / "pairs.jsonl"
        _write(path, options.records)
        rounds = [{name: _run(tree, path, folder) for name, tree in trees.items()} for _ in range(options.rounds)]
    best = {
        name: {kind: min(each[name][kind] for each in rounds) for kind in ("seconds", "cpu_seconds", "peak_mib")}
        for name in trees
    }
    ratios = {
        kind: round(best["other"][kind] / best["here"][kind], 2) for kind in ("seconds", "cpu_seconds", "peak_mib")
    }
    same = all(_figures(each["here"]) == _figures(each["other"]) for each in rounds)
    print(json.dumps({"records": options.records, **best, "other_over_here": ratios, "same_figures": same}, indent=2))


def _write(path: Path, n: int) -> None:
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            scores = [round(draw.random(), 4) for _ in range(3)]
            record = {"id": f"item-{number:06d}", "caption": scores[0], "foils": scores[1:]}
            file.write(json.dumps(record) + "\n")


def _run(tree: Path, path: Path, folder: str) -> dict[str, Any]:
    command = [sys.executable, str(tree / "manage.py"), "metrics", "pairwise", "--file", str(path), "--json"]
    env = {**os.environ, "PYTHONPATH": str(tree), "FOILWORKS_HOME": folder}
    out = Path(folder) / "out.json"
    started = time.perf_counter()
    with out.open("w", encoding="utf-8") as file:
        child = subprocess.Popen(command, cwd=tree, env=env, stdout=file)
        _pid, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{tree}: metrics pairwise ended with {child.returncode}")
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_mib": round(used.ru_maxrss / MIB),
        "result": json.loads(out.read_text(encoding="utf-8")),
    }


def _figures(run: dict[str, Any]) -> dict[str, Any]:
    return {name: run["result"][name] for name in ("tie_policy", "overall", "subtests", "tests", "avg_P+T")}


if __name__ == "__main__":
    main()
