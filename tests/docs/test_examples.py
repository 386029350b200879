"""Blocks of code that a page marks as runnable (```python run) run, one after the other, each page by itself."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from scripts.doc_pages import name_of, pages, split

RUNNABLE = {
    path: [block for block in split(path.read_text(encoding="utf-8"))[1] if block.language == "python run"]
    for path in pages()
}


@pytest.mark.parametrize("path", [path for path, blocks in RUNNABLE.items() if blocks], ids=name_of)
def test_marked_examples_run(path: Path) -> None:
    names: dict[str, object] = {"__name__": "docs"}
    for block in RUNNABLE[path]:
        # Lines of errors are those of the page.
        code = compile("\n" * block.line + block.text, name_of(path), "exec")
        with redirect_stdout(io.StringIO()):
            exec(code, names)


def test_some_examples_are_marked() -> None:
    assert sum(map(len, RUNNABLE.values())) > 5


def test_unmarked_python_blocks_compile() -> None:
    for path in pages():
        for block in split(path.read_text(encoding="utf-8"))[1]:
            if block.language == "python":
                # A row of a table is shown without the table.
                whole = f"{{\n{block.text}\n}}" if re.match(r'"(?!"")', block.text) else block.text
                compile(whole, f"{name_of(path)}:{block.line}", "exec")
