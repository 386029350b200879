"""The export of a large release is written in bounded memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

N_ITEMS = 10_000
LIMIT_MB = 200
# Peak of this program alone: `ru_maxrss` would include the memory of pytest, which starts it.
MEASURED = """
import sys
from pathlib import Path
from foilworks.site.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
status = Path("/proc/self/status").read_text()
print("peak", int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""
FORGET_TABLES = """
from evaluation.cached_results.models import CachedResult
CachedResult.objects.all().delete()
"""


def record(number: int) -> dict:
    verb, wrong = [("throws", "catches"), ("lifts", "drops"), ("kicks", "carries")][number % 3]
    text = "Somebody {} the ball number {} over the fence."
    return {
        "id": f"record-{number}",
        "source_dataset": "bench",
        "source_id": f"clip-{number // 3}",
        "subtest": "counting" if number % 2 else "actions",
        "caption": text.format(verb, number),
        "foils": [text.format(wrong, number)],
        "extra": {"template_id": number % 7},
    }


@pytest.mark.full
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_the_export_of_a_large_release_needs_little_memory(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record(number)) + "\n" for number in range(N_ITEMS)), encoding="utf-8")
    env = {**os.environ, "FOILWORKS_HOME": str(tmp_path / "home")}
    for name in ("DATABASE_URL", "DJANGO_SETTINGS_MODULE"):
        env.pop(name, None)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", MEASURED, *arguments]
        return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout

    run("migrate")
    run("import", "jsonl", str(path), "--project", "large", "--create", "--as-published")
    run("release", "--project", "large")
    for out in (tmp_path / "stored", tmp_path / "computed"):
        printed = run("export", "foilworks", "--project", "large", "--release", "1", "--out", str(out))
        assert int(printed.split("peak")[1]) <= LIMIT_MB, out.name
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["counts"]["released"] == N_ITEMS
        # The second export computes the tables that the freeze had stored.
        run("shell", "-c", FORGET_TABLES)
