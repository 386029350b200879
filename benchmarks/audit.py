"""Measure time and peak memory of `foilworks audit` on benchmarks of --pairs made-up pairs (100,000 and 1,000,000).

    .venv/bin/python benchmarks/audit.py

Each audit runs in a process of its own, with a hundred subtests and two splits. Printed: wall seconds, seconds of a
processor, peak memory, and the figures that the file was made to have.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KIB = 1024
SUBTESTS = 100
# One pair in so many repeats the one before.
REPEAT = 1000
NOUNS = [f"thing{number}" for number in range(5_000)]
VERBS = [f"does{number}" for number in range(500)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 1_000_000])
    for n in parser.parse_args().pairs:
        with tempfile.TemporaryDirectory(prefix="foilworks-audit-") as folder:
            path = Path(folder) / "pairs.jsonl"
            _write(path, n)
            print(json.dumps({"pairs": n, "file_mib": round(path.stat().st_size / KIB**2), **_run(path)}, indent=2))


def _write(path: Path, n: int) -> None:
    draw = random.Random(0)
    text = ""
    with path.open("w", encoding="utf-8") as file:
        for number in range(n):
            if number % REPEAT or not text:
                first, second, other = draw.sample(VERBS, 3)
                scene = f"a {draw.choice(NOUNS)} {{}} near a {draw.choice(NOUNS)} and a {draw.choice(NOUNS)}"
                about = {"video": f"v{number // 2}", "split": "train" if number % 2 else "test"}
                about |= {"subtest": f"s{number % SUBTESTS}", "caption": scene.format(f"{first} {other}")}
                text = json.dumps({**about, "foil": scene.format(f"{second} {other}")})
            file.write(text + "\n")


def _run(path: Path) -> dict[str, Any]:
    command = [sys.executable, str(ROOT / "manage.py"), "audit", str(path), "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FOILWORKS_HOME": str(path.parent)}
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env, cwd=path.parent)
    seconds = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(done.stdout)
    figures = {
        finding["check"]: finding["value"]
        for finding in result["findings"]
        if finding["check"] in {"words", "duplicates", "leakage", "contradictions"}
    }
    return {
        "seconds": round(seconds, 1),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_mib": used.ru_maxrss // KIB,
        "sampled": result["sample"]["items"],
        "figures": figures,
    }


if __name__ == "__main__":
    main()
