"""Check a score file that a visitor submits against the release: every problem with its line, and nothing bad accepted.

Only one format is accepted, JSON lines as `foilworks metrics pairwise` reads them: an untrusted file is read line by
line and never as one document.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import Row
from foilworks.core.corpus.import_formats.parsing.json_records import unique_names
from foilworks.core.text.quoting import quoted

MAX_LINE_BYTES = 1_000_000
MAX_PROBLEMS = 20
MAX_NAMED = 5
FIX = 'write one object per line: {"id": …, "caption": …, "foils": […]}'

Records = Sequence[Mapping[str, Any]]


class BadScoresError(EvaluationError):
    """A score file that is rejected; `problems` are its first wrong lines, each with what to do."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)


def check_scores(path: Path, records: Records) -> list[dict[str, Any]]:
    """Return the numbers of the file, one entry per record, in their order.

    The file must have all `records`, each once, and a finite number for every text. It must score all valid proficiency
    pairs or none: P, T and P+T cover the items with a scored pair, so a submitter must not choose them. BadScoresError
    names up to MAX_PROBLEMS problems.
    """
    wanted = {record["id"]: record for record in records}
    problems: list[str] = []
    first: dict[str, int] = {}
    numbers: dict[str, dict[str, Any]] = {}
    for line, text in _lines(path):
        try:
            row = _row(path, line, text)
            name = _checked_name(row, wanted, first)
            numbers[name] = _numbers(row, wanted[name])
        except EvaluationError as error:
            problems.append(str(error).removeprefix(f"{path}:"))
            if len(problems) >= MAX_PROBLEMS:
                raise BadScoresError([*problems, "… and possibly more"]) from error
            continue
        first[name] = line
    problems += _absent([name for name in wanted if name not in first])
    able = [name for name in first if (pair := wanted[name]["proficiency"]) and pair["valid"]]
    without = [name for name in able if "proficiency" not in numbers[name]]
    if len(without) < len(able):
        problems += _without_pair(without)
    if problems:
        raise BadScoresError([_worded(problem) for problem in problems])
    return [{"id": name, **numbers[name]} for name in wanted]


def canonical(numbers: Records) -> bytes:
    """Return the numbers as JSON lines. Equal numbers give equal bytes, whatever the spelling and order of a file."""
    lines = (json.dumps(each, ensure_ascii=False, sort_keys=True, separators=(",", ":")) for each in numbers)
    return "".join(f"{line}\n" for line in lines).encode()


def _worded(problem: str) -> str:
    return f"line {problem}" if problem[:1].isdigit() else problem


def _absent(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [f"id: {len(names)} items of the release are missing: {_named(names)}; score every item"]


def _without_pair(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    what = f"proficiency: {len(names)} valid pairs of the release are missing, while other pairs have scores"
    return [f"{what}: {_named(names)}; score every valid pair or none"]


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(quoted(name) for name in names[:MAX_NAMED]) + more


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Return (number, bytes) of each line that is not empty; a line over the limit is cut, so it is not valid JSON."""
    with path.open("rb") as file:
        number = 0
        while text := file.readline(MAX_LINE_BYTES):
            number += 1
            if text.strip():
                yield number, text


def _row(path: Path, line: int, text: bytes) -> Row:
    empty = Row(path, line, {})
    try:
        value = json.loads(text.decode("utf-8-sig" if line == 1 else "utf-8"), object_pairs_hook=unique_names)
    except UnicodeDecodeError:
        empty.fail("record", "is not UTF-8", "save the file as UTF-8")
    except (ValueError, RecursionError):
        empty.fail("record", "is not JSON, or contains a name twice", FIX)
    if not isinstance(value, dict):
        empty.fail("record", "is not an object", FIX)
    return Row(path, line, value)


def _checked_name(row: Row, wanted: Mapping[str, Mapping[str, Any]], first: Mapping[str, int]) -> str:
    """Return the id of a correct row."""
    name = row.text("id")
    if name not in wanted:
        row.fail("id", f"{quoted(name)} is not an item of the release", "use the ids of items.jsonl of the release")
    if name in first:
        row.fail("id", f"{quoted(name)} occurs twice in the file (first in line {first[name]})", "keep one of them")
    if row.fields.get("higher_is_better", True) is not True:
        row.fail("higher_is_better", "is not true", "negate the scores, so that higher is better")
    return name


def _numbers(row: Row, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of the item, and of its proficiency pair if the row has them."""
    found = _pair(row, len(record["foils"]))
    inner = row.inner("proficiency")
    if inner is None:
        return found
    if record["proficiency"] is None:
        row.fail("proficiency", "the item has no proficiency pair", "leave it out")
    return {**found, "proficiency": _pair(inner, len(record["proficiency"]["foils"]))}


def _pair(row: Row, n_foils: int) -> dict[str, Any]:
    if "scores" in row.fields:
        # The reader of the file would use these instead of the caption's and foils' scores, which are checked.
        row.fail("scores", "is used together with caption and foils", "leave it out")
    caption, foils = row.number("caption"), row.numbers("foils")
    if len(foils) != n_foils:
        row.fail(
            "foils",
            f"has {len(foils)} scores, but the item has {n_foils} foils",
            "give one score per foil, in their order",
        )
    # -0.0 is 0.0.
    return {"caption": caption + 0.0, "foils": [score + 0.0 for score in foils]}
