"""Scores of a model that ran elsewhere, in the forms that other code writes, against the items of a release.

A file names items by the release's ids, or by those within a subtest, which a record names or else the file's name;
in a form without subtests an id goes by itself where one subtest alone has it. A file without names (RCAD's array) has
its rows in the order of the release, over the items with as many foils as it has columns. Predictions and
right-or-wrong files say who won and nothing more: they become scores of 1 and 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corpus.release_records import release_id
from evaluation.errors import EvaluationError
from evaluation.metrics.pairwise import PairScores
from evaluation.score_files.answers import is_choices_made, read_answers, read_choices_made
from evaluation.score_files.scores import Notes, padded, read_choices, read_pairs

Record = Mapping[str, Any]
AUTO = "auto"
# name -> how people know it; the names are those of evaluation/files/score_writers.py where it writes the same.
FORMS: dict[str, str] = {
    AUTO: "guessed by its name and header",
    "pairs": "Foilworks, JSON lines",
    "vilma": "ViLMA, JSON by id, with the proficiency items in a second file",
    "rcad-csv": "RCAD, CSV: id and scores, the positive first",
    "rcad-npy": "RCAD, NumPy array (items, candidates) in the order of the release",
    "mc": "Multiple choice, CSV: id, prediction",
    "utd": "UTD, CSV: sample and correct",
}


def read_given(
    path: Path,
    form: str,
    records: Sequence[Record],
    proficiency: Path | None = None,
    model: str = "",
    notes: Notes | None = None,
) -> PairScores:
    """Scores by item under the release's ids, higher is better; what is no item of it keeps the file's id.

    EvaluationError names file, record and field, or an unknown form.
    """
    if form not in FORMS:
        raise EvaluationError(f"unknown form '{form}'; choose one of: {', '.join(FORMS)}")
    form = _guessed(path) if form == AUTO else form
    if proficiency is not None and form not in {"vilma", "pairs"}:
        raise EvaluationError("a second file goes with ViLMA's form only; leave it out")
    if form in {"pairs", "vilma"}:
        data = read_pairs([path], [proficiency] if proficiency else (), notes, model)
        return replace(data, ids=_released(path, data.ids, data.subtests, records))
    if form in {"mc", "utd"}:
        ids, right = _utd(path) if form == "utd" else read_choices_made(path)
        return _won(_released(path, ids, [""] * len(ids), records), right, records)
    if form == "rcad-csv" and is_choices_made(path):
        raise EvaluationError(f"{path}: these are predictions, not scores; choose mc")
    return _ranked(path, records)


def _guessed(path: Path) -> str:
    if path.suffix == ".npy":
        return "rcad-npy"
    if path.suffix != ".csv":
        return "pairs"
    if is_choices_made(path):
        return "mc"
    with path.open(encoding="utf-8-sig") as file:
        header = file.readline().lower()
    return "utd" if "sample" in [name.strip() for name in header.split(",")] else "rcad-csv"


def _ranked(path: Path, records: Sequence[Record]) -> PairScores:
    """Rows of scores, the positive brought to the front; rows without ids by the order of the release."""
    data = read_choices(path)
    lists = []
    for scores, right in zip(data.scores, data.right.tolist(), strict=True):
        values = scores[~np.isnan(scores)].tolist()
        lists.append([values[right], *values[:right], *values[right + 1 :]])
    named = path.suffix == ".csv" and _has_ids(path)
    if not named:
        return _pairs(_in_order(path, lists, records), lists)
    return _pairs(_released(path, data.ids, [""] * len(data.ids), records), lists)


def _has_ids(path: Path) -> bool:
    with path.open(encoding="utf-8-sig") as file:
        return file.readline().partition(",")[0].strip().lower() == "id"


def _in_order(path: Path, lists: Sequence[Sequence[float]], records: Sequence[Record]) -> list[str]:
    widths = {len(values) for values in lists}
    names = [record["id"] for record in records if 1 + len(record["foils"]) in widths]
    if len(widths) != 1 or len(names) != len(lists):
        wide = " or ".join(map(str, sorted(widths)))
        raise EvaluationError(
            f"{path}: rows: there are {len(lists)} of {wide} scores, and the release has {len(names)} such items; "
            "name the rows by an id column, or give one row an item in the release's order"
        )
    return names


def _utd(path: Path) -> tuple[list[str], list[float]]:
    data = read_answers([path])
    if len(data.right) != 1:
        raise EvaluationError(f"{path}: model: there are {len(data.right)}; give a file of one model")
    (right,) = data.right.values()
    return list(data.ids), right.tolist()


def _won(ids: Sequence[str], right: Sequence[float], records: Sequence[Record]) -> PairScores:
    """1 for what won and 0 for the rest; of a wrong answer nobody says which foil won, so the first one did."""
    foils = {record["id"]: len(record["foils"]) for record in records}
    lists = []
    for name, credit in zip(ids, right, strict=True):
        rest = max(0, foils.get(name, 1) - 1)
        lists.append([credit, 1.0 - credit, *[0.0] * rest])
    return _pairs(ids, lists)


def _released(path: Path, ids: Sequence[str], subtests: Sequence[str], records: Sequence[Record]) -> list[str]:
    """The release's ids of what a file calls `ids`, subtest "" where its form has none; others stay as they are.

    EvaluationError: an id of several subtests that names none of them, or two records of one item.
    """
    known = {record["id"]: record["subtest"] for record in records}
    within: dict[str, list[str]] = {}
    for name, subtest in known.items():
        within.setdefault(name.removeprefix(f"{subtest}:"), []).append(name)
    file_is = path.stem if path.stem in known.values() else ""
    found: list[str] = []
    first: dict[str, str] = {}
    for name, named in zip(ids, subtests, strict=True):
        subtest = named or file_is
        if subtest and (item := release_id(subtest, name)) in known:
            items = [item]
        elif name in known:
            items = [name]
        else:
            items = [] if subtest else within.get(name, [])
        if len(items) > 1:
            raise EvaluationError(f"{path}: id: {name!r} is of several subtests; name it in full: {' or '.join(items)}")
        item = items[0] if items else ""
        if item in first:
            raise EvaluationError(f"{path}: id: {first[item]!r} and {name!r} are both {item!r}; keep one of them")
        if item:
            first[item] = name
        found.append(item or name)
    return found


def _pairs(ids: Sequence[str], lists: Sequence[Sequence[float]]) -> PairScores:
    names = list(ids)
    return PairScores(names, padded(lists), padded([[] for _ in names]), [""] * len(names), [""] * len(names), names)
