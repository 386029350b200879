"""Read item and vote files as the facts that reports compute on, without a database. Any bad record is an error.

Items: any import format (`--format`; `.json` means `vilma`), or one `{"caption", "foils": [...]}` per line with
optional `id`, `subtest`, `test`, `votes` ({"caption", "foil", "other"} counts) and `proficiency` (the same, inside).
Other requirements of the `jsonl` import (an id, a video) do not matter to a report. Votes: `.csv` or `.jsonl` with
`item`, `annotator`, `choice` and optional `position`, `foil`. Of the votes of an export (`stage`, `kind`, `state`,
`source`), the counted ones of validators on main items are read; votes from counts of a file name nobody.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.analyses.analysis_inputs import (
    CHOICES,
    NOBODY,
    OTHER,
    ItemFacts,
    ProficiencyFacts,
    Votes,
    with_hard_foils,
)
from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import Row, fail, rows
from evaluation.score_files.tables import Table
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.records import BadRecord, ItemRecord, PairRecord, RecordWarning, VoteCounts
from foilworks.core.corpus.release_records import cluster
from foilworks.core.corpus.rules.hard_foils import Candidates
from foilworks.core.corpus.vote_records import is_anonymous_vote
from foilworks.core.text.quoting import quoted
from foilworks.core.text.registry import lookup

# The rule of ViLMA's files: 2 of 3 validators chose the caption; all 3 for unanimous.
VOTES_FOR_VALID = 2
VOTES_FOR_UNANIMOUS = 3
LINES = "jsonl"
FORMAT_OF_SUFFIX = {".json": "vilma"}
COUNTED = {"stage": "validation", "kind": "main", "state": "counted"}
PLACES = {"1": 1, "2": 2, "first": 1, "second": 2}
NUMBERED = ("first", "second", "neither", "both", "cannot_tell")


def read_report_input(
    kind: str, paths: Sequence[Path], file_format: str | None = None
) -> tuple[list[ItemFacts] | Votes, list[str]]:
    """Read what a report with `INPUT == kind` (items, texts or votes) computes on, and the warnings in words."""
    if kind != "votes":
        return read_items(paths, file_format)
    if len(paths) != 1:
        raise EvaluationError("give exactly one --file with votes")
    return read_votes(paths[0], file_format), []


def read_items(paths: Sequence[Path], file_format: str | None = None) -> tuple[list[ItemFacts], list[str]]:
    """Read items of one or more files, and the warnings in words.

    A file is one subtest named by its stem, unless its records name others.
    """
    items: list[ItemFacts] = []
    warnings: list[str] = []
    for path in paths:
        path_format = file_format or FORMAT_OF_SUFFIX.get(path.suffix, LINES)
        n_before = len(warnings)
        file_items = (
            list(_from_lines(path, warnings)) if path_format == LINES else _imported(path, path_format, warnings)
        )
        if not file_items:
            if len(warnings) == n_before:
                raise EvaluationError(f"{path}: record: there is none; give at least one item")
            formats = "" if file_format else f"; if the format is not {path_format}, set it with --format"
            raise EvaluationError(f"{warnings[n_before]}: the file has no usable items{formats}")
        items += file_items
    return items, warnings


def _imported(path: Path, file_format: str, warnings: list[str]) -> list[ItemFacts]:
    records = list(_records(path, file_format, warnings))
    read = [
        Candidates(record.subtest or path.stem, record.caption, record.foils, record.extra, record.facts)
        for record in records
    ]
    return with_hard_foils([_facts(record, path) for record in records], read)


def _records(path: Path, file_format: str, warnings: list[str]) -> Iterator[ItemRecord]:
    # Imported on request: its limits are settings, which files of our own form do not need.
    from foilworks.core.corpus.limits import read_file

    entry = lookup(IMPORTERS, file_format, "format")
    for record in read_file(entry, path, {}):
        if isinstance(record, BadRecord):
            warnings.append(f"{record}; the record was skipped")
        if isinstance(record, RecordWarning):
            warnings.append(f"{record.where}: {record.field}: {record.problem}")
        elif isinstance(record, ItemRecord):
            if not record.foils:
                where = f"{path}:{record.line}" if record.line else f"{path}: {record.id}"
                raise EvaluationError(f"{where}: foils: there is none; reports need at least one foil per item")
            yield record


def _facts(record: ItemRecord, path: Path) -> ItemFacts:
    simpler = record.proficiency
    subtest = record.subtest or path.stem
    return ItemFacts(
        id=record.id,
        subtest=subtest,
        test=record.test or subtest,
        caption=record.caption,
        video=cluster({**asdict(record.video), "sha256": ""}),
        foils=tuple(record.foils),
        tallies=_tallies(record.votes),
        valid=is_valid(record.votes),
        unanimous=is_unanimous(record.votes),
        proficiency=_proficiency(simpler) if simpler else None,
        record_fields={**record.facts, **record.extra},
    )


def _proficiency(pair: PairRecord) -> ProficiencyFacts:
    return ProficiencyFacts(pair.caption, tuple(pair.foils), is_valid_proficiency(pair.votes))


def _tallies(votes: VoteCounts | None) -> tuple[tuple[int, ...], ...]:
    return ((votes.caption, votes.foil, votes.other),) if votes else ()


def is_valid(votes: VoteCounts | None) -> bool | None:
    """Report whether at least two validators, and more than half of them, chose the caption; None without counts."""
    if votes is None:
        return None
    total = votes.caption + votes.foil + votes.other
    return votes.caption >= VOTES_FOR_VALID and votes.caption * 2 > total


def is_unanimous(votes: VoteCounts | None) -> bool | None:
    """Report whether all of at least three validators chose the caption."""
    return None if votes is None else votes.caption >= VOTES_FOR_UNANIMOUS and not votes.foil and not votes.other


def is_valid_proficiency(votes: VoteCounts | None) -> bool | None:
    """Report whether the one internal validator chose the caption (`human.caption == 1`); of several, more than
    half."""
    if votes is None:
        return None
    return votes.caption == 1 or votes.caption * 2 > votes.caption + votes.foil + votes.other


def _from_lines(path: Path, warnings: list[str]) -> Iterator[ItemFacts]:
    for row in rows(path):
        caption, foils = _texts(row)
        _warn(row, caption, foils, warnings)
        votes = _counts(row)
        if votes and not votes.caption + votes.foil + votes.other:
            warnings.append(f"{path}:{row.line}: votes: there are none; the item counts as not valid")
        simpler = row.inner("proficiency")
        subtest = row.text("subtest", path.stem)
        yield ItemFacts(
            id=row.key or row.text("id", str(row.line)),
            subtest=subtest,
            test=row.text("test", subtest),
            caption=caption,
            video=_video(row.fields.get("video")),
            foils=foils,
            tallies=_tallies(votes),
            valid=is_valid(votes),
            unanimous=is_unanimous(votes),
            proficiency=ProficiencyFacts(*_texts(simpler), is_valid_proficiency(_counts(simpler))) if simpler else None,
            record_fields=row.fields,
        )


def _video(value: Any) -> str:
    """Return the source of a clip, as a name or as an export writes it; "" if there is none."""
    if not isinstance(value, Mapping):
        return str(value or "")
    return cluster({name: value.get(name, "") for name in ("source_dataset", "source_id", "sha256", "key")})


def _texts(row: Row) -> tuple[str, tuple[str, ...]]:
    return row.text("caption"), row.texts("foils" if "foils" in row.fields else "foil")


def _warn(row: Row, caption: str, foils: tuple[str, ...], warnings: list[str]) -> None:
    if caption in foils:
        warnings.append(f"{row.path}:{row.line}: foils: a foil equals the caption")
    if len(set(foils)) < len(foils):
        warnings.append(f"{row.path}:{row.line}: foils: a foil occurs twice")


def _counts(row: Row) -> VoteCounts | None:
    counts = row.inner("votes")
    return VoteCounts(*(counts.whole(name, 0) for name in ("caption", "foil", "other"))) if counts else None


def read_votes(path: Path, file_format: str | None = None, *, with_labels: bool = False) -> Votes:
    """Read one vote per record. `with_labels`: choices are any labels, which become the categories.

    EvaluationError: an unknown choice, a missing name, two votes of one person on one unit.
    """
    votes_format = file_format or (LINES if path.suffix in {".jsonl", ".ndjson", ".json"} else "csv")
    if votes_format not in {LINES, "csv"}:
        raise EvaluationError(f"unknown votes format {quoted(votes_format)}; choose csv or {LINES}")
    table = Table(path, is_csv=votes_format == "csv")
    # A vote may have an id of its own.
    name = "item" if "item" in table.names else "id"
    table.need(name, "annotator", "choice")
    units: dict[tuple[str, str], int] = {}
    people: dict[str, int] = {}
    items: dict[str, int] = {}
    labels: dict[str, int] = {}
    seen: dict[tuple[int, str], int] = {}
    columns: list[tuple[int, int, int, int]] = []
    for row in table.rows():
        if any(row.text(name, value) != value for name, value in COUNTED.items()):
            continue
        item, person = row.text("item" if "item" in row.fields else "id"), row.text("annotator")
        unit = units.setdefault((item, row.text("foil", "")), len(units))
        is_nobody = is_anonymous_vote(str(row.fields.get("source", "")), person)
        annotator = NOBODY if is_nobody else people.setdefault(person, len(people))
        if (unit, person) in seen:
            first = seen[unit, person]
            row.fail(
                "annotator",
                f"{quoted(person)} judged item {quoted(item)} twice (first in line {first})",
                "keep one of them",
            )
        seen[unit, person] = row.line
        choice = (labels.setdefault(row.text("choice"), len(labels)), 0) if with_labels else _choice(row)
        columns.append((unit, annotator, *choice))
    if not columns:
        fail(path, None, "record", "there is none", "give at least one vote")
    codes = np.array(columns, dtype=np.int64)
    names = [f"{item}/{foil}" if foil else item for item, foil in units]
    unit_items = np.array([items.setdefault(item, len(items)) for item, _ in units], dtype=np.int64)
    return Votes(
        codes[:, 0], codes[:, 1], codes[:, 2], codes[:, 3], names, list(people), unit_items, labels=list(labels)
    )


def _choice(row: Row) -> tuple[int, int]:
    """Return (code into CHOICES, position of the caption or 0)."""
    caption_position = _caption_position(row)
    answer = row.text("choice").strip().lower().replace(" ", "_").replace("-", "_")
    if answer.isdigit() and 1 <= int(answer) <= len(NUMBERED):
        answer = NUMBERED[int(answer) - 1]
    if answer in {"first", "second"}:
        if not caption_position:
            row.fail("position", "is missing", "give the position of the caption (1 or 2), or give the choice in words")
        return int(PLACES[answer] != caption_position), caption_position
    if answer == "other":
        return OTHER, caption_position
    if answer not in CHOICES:
        row.fail("choice", f"is {quoted(answer)}", f"give one of: {', '.join(CHOICES)}, or 1 to 5 with a position")
    return CHOICES.index(answer), caption_position


def _caption_position(row: Row) -> int:
    text = row.text("position", "").strip().lower()
    if text and text not in PLACES:
        row.fail("position", f"is {quoted(text)}", "give 1 if the caption was shown first, 2 if second")
    return PLACES.get(text, 0)
