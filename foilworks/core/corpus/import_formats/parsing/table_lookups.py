"""Texts by key in a file beside a table: the names of classes, or the steps of tasks."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.table_recipe import Recipe
from foilworks.core.corpus.import_formats.parsing.text_lines import rows_of_text


def read_lookup(root: Path, recipe: Recipe) -> dict[str, str]:
    """Key -> text; {} without a lookup. CorpusError: the file is missing or cannot be read.

    Form `lines`: the key, a blank, the text. Form `tasks`: blocks of lines (id, title, address, number of steps, steps
    with commas between them); the key of a step is `id.number`, numbers from 1, and that of a title is `id`.
    """
    if not recipe.lookup:
        return {}
    path = (root if root.is_dir() else root.parent) / recipe.lookup["file"]
    if not path.is_file():
        raise CorpusError(f"{path}: file: is missing, and the recipe reads texts from it; put it beside the table")
    lines = (line.rstrip("\r\n") for line in rows_of_text(path))
    return dict(_lines(lines) if recipe.lookup["form"] == "lines" else _tasks(lines))


def _lines(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in filter(str.strip, lines):
        key, _, text = line.strip().partition(" ")
        yield key, text.strip()


def _tasks(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for is_block, block in groupby(lines, key=lambda line: bool(line.strip())):
        if not is_block:
            continue
        task, title, *lines_below = [line.strip() for line in block] + [""]
        yield task, title
        steps = lines_below[2] if len(lines_below) > 2 else ""
        for number, step in enumerate(steps.split(","), 1):
            if step.strip():
                yield f"{task}.{number}", step.strip()
