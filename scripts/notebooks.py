"""Run the notebooks of docs/examples/ and store their outputs.

    .venv/bin/python scripts/notebooks.py update     runs all and stores the outputs
    .venv/bin/python scripts/notebooks.py check      runs all and names those whose outputs differ; then status 1

Needs nbclient and ipykernel beside Foilworks, nothing of the rest (tests/foilworks/test_wheel.py).
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "examples"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
MAX_SECONDS_PER_CELL = 600


def run(path: Path) -> Any:
    """Return the notebook with the outputs of a new kernel. nbclient's CellExecutionError: a cell raised an error."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=MAX_SECONDS_PER_CELL,
        kernel_name=KERNEL["name"],
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    # Versions of the kernel are no result.
    notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return notebook


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("update", "check"))
    action = parser.parse_args(arguments).action
    status = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        text = nbformat.writes(run(path)) + "\n"
        if action == "update":
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            status = 1
            sys.stderr.write(f"{path.name}: the stored outputs differ; run scripts/notebooks.py update\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
