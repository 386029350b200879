"""Released items as Parquet, in the columns of `jsonl`. `facts` and `extra`, which have no fixed shape, are JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foilworks.core.corpus.export_formats.jsonl import json_text, line
from foilworks.core.corpus.import_formats.parsing.parquet_rows import parquet_library
from foilworks.core.corpus.records import ItemRecord

# The media type of the files.
PARQUET = "application/x-parquet"
TEXT_COLUMNS = (
    "id",
    "subtest",
    "test",
    "caption",
    "video",
    "video_key",
    "url",
    "source_dataset",
    "source_id",
    "time_unit",
    "split",
    "class_label",
    "category",
    "movie",
    "pair",
    "facts",
    "extra",
)
NUMBER_COLUMNS = ("start_time", "end_time")
JSON_COLUMNS = ("facts", "extra")


def write_items(path: Path, items: Sequence[ItemRecord]) -> None:
    """Write one row per item. CorpusError: the library that writes Parquet is missing."""
    arrow, parquet = parquet_library()
    text, texts = arrow.string(), arrow.list_(arrow.string())
    counts = arrow.struct([(choice, arrow.int64()) for choice in ("caption", "foil", "other")])
    pair = arrow.struct([("caption", text), ("foils", texts), ("votes", counts), ("extra", text)])
    schema = arrow.schema(
        [
            *((name, text) for name in TEXT_COLUMNS),
            ("foils", texts),
            *((name, arrow.float64()) for name in NUMBER_COLUMNS),
            ("votes", counts),
            ("proficiency", pair),
        ]
    )
    parquet.write_table(arrow.Table.from_pylist([_row(item) for item in items], schema=schema), path)


def _row(item: ItemRecord) -> dict[str, Any]:
    record = line(item)
    row = {**record, **{name: json_text(record.get(name)) for name in JSON_COLUMNS}}
    if "proficiency" in row:
        row["proficiency"] = {**row["proficiency"], "extra": json_text(row["proficiency"].get("extra"))}
    return row


def write_choices(path: Path, choices: Sequence[Mapping[str, Any]], question: str) -> None:
    """Write one row per choice (foilworks.core.corpus.export_formats.parts.choices): a question, its options, the
    letter of the answer."""
    arrow, parquet = parquet_library()
    text = arrow.string()
    names = ("id", "subtest", "test", "video", "question", "answer")
    schema = arrow.schema([*((name, text) for name in names), ("options", arrow.list_(text))])
    rows = [{**choice, "question": question} for choice in choices]
    parquet.write_table(arrow.Table.from_pylist(rows, schema=schema), path)
