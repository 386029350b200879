"""`load.py`, which is in every export: reads the folder it is in with Python's own library, and nothing else."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def records(name: str) -> Iterator[dict]:
    """The lines of a .jsonl file of this folder."""
    with (FOLDER / name).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def items() -> Iterator[dict]:
    """The released items: caption, foils, video (source, trim), proficiency pair, provenance."""
    return (item for item in records("items.jsonl") if item["released"])


def votes() -> Iterator[dict]:
    """Judgements that count, under pseudonyms."""
    return records("votes.jsonl")


def scores(model: str = "") -> Iterator[dict]:
    """Raw scores, of one model where it is named by its label or key."""
    return (row for row in records("scores.jsonl") if not model or model in (row["model"], row["model_key"]))


if __name__ == "__main__":
    manifest = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))
    counts = [sum(1 for _ in read()) for read in (items, votes, scores)]
    words = "{project}, {release}: {} items, {} judgements, {} scores"
    sys.stdout.write(words.format(*counts, **manifest) + "\n")
