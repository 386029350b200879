"""The notebooks of docs/examples/ are stored with outputs, which are those of this version."""

import json
import subprocess
import sys

import pytest

from scripts.doc_pages import DOCS

NOTEBOOKS = sorted((DOCS / "examples").glob("*.ipynb"))


def test_the_notebooks_are_stored_with_outputs_and_without_errors():
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        assert any("text/html" in output.get("data", {}) for output in outputs), path.name
        assert {output["output_type"] for output in outputs} <= {"execute_result", "stream"}, path.name
        assert not [output for output in outputs if output.get("name") == "stderr"], path.name


@pytest.mark.full
@pytest.mark.slow(seconds=30)
def test_the_stored_outputs_are_those_of_this_version():
    done = subprocess.run(
        [sys.executable, "scripts/notebooks.py", "check"], cwd=DOCS.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
