"""An audit is the same in every process: nothing learned depends on the order of a set."""

import os
import subprocess
import sys

import pytest

from scripts.doc_pages import DOCS

AUDIT = """
from pathlib import Path
import foilworks
names = ("actor-swap", "change-of-state")
print(foilworks.audit({name: Path(f"vilma-{name}.jsonl") for name in names}).to_json())
"""


@pytest.mark.full
@pytest.mark.slow(seconds=20)
def test_processes_with_other_hashes_give_equal_json():
    results = {
        subprocess.run(
            [sys.executable, "-c", AUDIT],
            cwd=DOCS / "examples" / "data",
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(DOCS.parent)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(results) == 1
    assert b"without_video" in results.pop()
