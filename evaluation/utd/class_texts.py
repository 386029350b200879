"""Read the texts of classes, which differ from their names: `class_name,class_text`, as the authors publish them."""

from pathlib import Path

from evaluation.score_files.json_records import fail
from evaluation.score_files.tables import Table

NAME, TEXT = "class_name", "class_text"
MAX_TEXT_LENGTH = 500


def read_class_texts(path: Path) -> dict[str, str]:
    """Return {class: text}. EvaluationError names file and line: a missing column or text, or a duplicate class."""
    table = Table(path, None)
    table.need(NAME, TEXT)
    texts_by_class: dict[str, str] = {}
    for row in table.rows({NAME, TEXT}.__contains__):
        name, text = row.text(NAME, "").strip(), row.text(TEXT, "").strip()
        if not name or not text or len(text) > MAX_TEXT_LENGTH:
            fail(path, None, name or NAME, "has no text, or a text that is too long", f"give 1 to {MAX_TEXT_LENGTH}")
        if name in texts_by_class:
            fail(path, None, name, "appears twice", "keep one of the lines")
        texts_by_class[name] = text
    if not texts_by_class:
        fail(path, None, "record", "there is none", "give at least one class")
    return texts_by_class
