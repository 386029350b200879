"""Time `foilworks audit` on made-up questions with 4 options, 4 per clip: processor seconds with start-up, and memory.

    .venv/bin/python -m benchmarks.audit_times --items 1000 10000 1000000 --certify 10000

Printed per file: processor seconds of the command, seconds by the clock, and its largest resident memory.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.made_up_sets import fair_questions

# Of one draw; larger files are several.
MAX_DRAWN = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, nargs="*", default=[1_000, 10_000], help="sizes of first views")
    parser.add_argument("--certify", type=int, nargs="*", default=[], help="sizes of certificates")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n in options.items:
            print(f"first view of {n:,}: {_measure(Path(folder), n)}", flush=True)
        for n in options.certify:
            state = Path(folder) / f"{n}.state"
            print(f"certificate of {n:,}: {_measure(Path(folder), n, '--certify', str(state))}", flush=True)


def _measure(folder: Path, n: int, *more: str) -> str:
    path = folder / f"{n}.jsonl"
    if not path.exists():
        write(path, n)
    command = [str(Path(sys.executable).with_name("foilworks")), "audit", str(path), "--json", *more]
    start = time.monotonic()
    out = os.open(folder / "result.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1)])
    _, status, usage = os.wait4(child, 0)
    os.close(out)
    if status:
        raise RuntimeError(f"{' '.join(command)}: ended with status {status}")
    verdict = json.loads((folder / "result.json").read_text(encoding="utf-8"))["without_video"]["verdict"]
    return (
        f"{usage.ru_utime + usage.ru_stime:.1f} processor s, {time.monotonic() - start:.1f} s, "
        f"{usage.ru_maxrss / 1024:,.0f} MiB, {verdict}"
    )


def write(path: Path, n: int) -> None:
    """Write n questions as JSON lines."""
    draw = random.Random(n)
    with path.open("w", encoding="utf-8") as file:
        for first in range(0, n, MAX_DRAWN):
            for row in fair_questions(draw, min(MAX_DRAWN, n - first)):
                options = list(row.wrongs)
                options.insert(row.position or 0, row.right)
                record = {"question": row.question, "options": options, "answer": row.position}
                file.write(json.dumps({**record, "video": f"{first}-{row.video}"}) + "\n")


if __name__ == "__main__":
    main()
