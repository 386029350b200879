"""Serve the audit as a Space: a file of a benchmark in, its audit out (README.md)."""

import json
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import gradio

MAX_MEGABYTES, MAX_ITEMS, MAX_SECONDS = 20, 2_000, 300
TITLE = "Can your video benchmark be answered without the videos?"
ABOUT = (
    "Give a file with questions or captions, foils and names of videos: JSON, JSON lines, CSV or Parquet. Foilworks "
    f"measures what texts alone answer. Of more than {MAX_ITEMS:,} items, it solves a sample. Files are deleted "
    "after an hour."
)
# The page has its own styles, so it is shown in a frame. It has no script.
FRAME = '<iframe sandbox srcdoc="{page}" title="audit" style="width: 100%; height: 75vh; border: 0"></iframe>'


def audit(path: str | None) -> tuple[str, list[str]]:
    """Return the page of the audit, and the files of the page and its JSON."""
    if path is None:
        raise gradio.Error("Choose a file first.")
    folder = Path(tempfile.mkdtemp(dir=Path(path).parent))
    page, document = folder / "audit.html", folder / "audit.json"
    options = ["--html", str(page), "--json", "--set", f"sample={MAX_ITEMS}"]
    command = [sys.executable, "-m", "foilworks", "audit", path, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=MAX_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise gradio.Error(f"The audit takes more than {MAX_SECONDS} seconds: install foilworks to run it.") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["the audit failed"]
        # Only the file name: the folder means nothing to a visitor.
        raise gradio.Error(lines[-1].replace(f"{Path(path).parent}/", "").removeprefix("foilworks: "))
    document.write_text(json.dumps(json.loads(done.stdout), indent=1), encoding="utf-8")
    return FRAME.format(page=escape(page.read_text(encoding="utf-8"), quote=True)), [str(page), str(document)]


def interface() -> gradio.Blocks:
    """Return the page: a field for the file, a button, the result and its files."""
    # Uploads and results are deleted an hour after they were written.
    with gradio.Blocks(title=TITLE, delete_cache=(600, 3600), analytics_enabled=False) as blocks:
        gradio.Markdown(f"# {TITLE}\n\n{ABOUT}")
        file = gradio.File(label="File of the benchmark")
        button = gradio.Button("Audit file", variant="primary")
        page, files = gradio.HTML(label="Audit"), gradio.File(label="Page and JSON", file_count="multiple")
        # One at a time: an audit uses the processor.
        button.click(audit, inputs=file, outputs=[page, files], concurrency_limit=1, api_name="audit")
    return blocks


if __name__ == "__main__":
    interface().queue(max_size=20).launch(max_file_size=f"{MAX_MEGABYTES}mb")
