"""Score files -> arrays: what `foilworks metrics` and the `file:` model read. Any bad record is an error.

pairs: `{"id", "caption": s, "foils": [s...], "proficiency": {...}?, "subtest"?, "test"?, "cluster"?}` a line, or
ViLMA's `{id: {"scores": [caption, foil...]}}` with a second such file for the proficiency items.
choices: `{"id", "scores": [positive, negative...], "right"?, "cluster"?}` a line, `.npy` (n, candidates) or `.csv`.
Both may say `"higher_is_better": false` (perplexity): the arrays hold the negated scores then.
matrix: `.npy` (N, N), rows texts, columns videos, mapped and not loaded.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from corpus.importers.parsing.json_records import read_text
from corpus.release_records import release_id
from evaluation.errors import EvaluationError
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.classes import Answers
from evaluation.metrics.pairwise import PairScores
from evaluation.score_files.answers import is_choices_made, read_answers, read_choices_made
from evaluation.score_files.json_records import Row, fail, rows

# An id, [caption, foil...], the record.
Scored = tuple[str, list[float], Row]
# A subtest and an id.
Place = tuple[str, str]


@dataclass
class Notes:
    """What a reader saw that is no error: warnings in words, ids that stand in one file only."""

    warnings: list[str] = field(default_factory=list)
    unmatched: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class _Pairs:
    ids: list[str] = field(default_factory=list)
    main: list[list[float]] = field(default_factory=list)
    proficiency: list[list[float]] = field(default_factory=list)
    subtests: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)


def read_scores(
    kind: str, paths: Sequence[Path], proficiency: Sequence[Path] = (), *, model: str = ""
) -> tuple[PairScores | ChoiceScores | Answers | NDArray[Any], Notes]:
    """The arrays that a metric with `INPUT == kind` computes on. EvaluationError names file, record and field.

    `model`: of files that hold several models' pair scores, the records of this one (its `model` or `model_key`).
    """
    notes = Notes()
    if kind == "pairs":
        return read_pairs(paths, proficiency, notes, model), notes
    if model:
        raise EvaluationError("--model goes with pairwise scores only; leave it out")
    if proficiency:
        raise EvaluationError("--proficiency goes with pairwise scores only; leave it out")
    if len(paths) != 1:
        raise EvaluationError("give exactly one --file for this metric")
    if kind == "answers":
        return read_answers(paths), notes
    return (read_choices(paths[0]) if kind == "choices" else read_matrix(paths[0])), notes


def read_pairs(
    paths: Sequence[Path], proficiency: Sequence[Path] = (), notes: Notes | None = None, model: str = ""
) -> PairScores:
    """One or more files of pair scores; with `proficiency`, one file for all or one for each, by id and subtest.

    Items, or proficiency records, may leave the subtest out where both files have the id once. Ids that stand in only
    one of the two are listed in `notes.unmatched`; no item is dropped for it.
    """
    notes = notes if notes is not None else Notes()
    if len(proficiency) not in {0, 1, len(paths)}:
        raise EvaluationError(f"{len(proficiency)} proficiency files for {len(paths)} files; give one, or one for each")
    pairs = _Pairs()
    for place, path in enumerate(paths):
        simpler = proficiency[place if len(proficiency) > 1 else 0] if proficiency else None
        shared = len(proficiency) < len(paths)
        _add_file(pairs, path, simpler, notes, namespaced=len(paths) > 1, shared=shared, model=model)
    if not pairs.ids:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one scored item")
    if len(proficiency) == 1 and len(paths) > 1:
        _only_missing_everywhere(notes, len(paths))
    return PairScores(
        ids=pairs.ids,
        main=padded(pairs.main),
        proficiency=padded(pairs.proficiency),
        subtests=pairs.subtests,
        tests=pairs.tests,
        clusters=pairs.clusters,
    )


def _add_file(
    pairs: _Pairs, path: Path, simpler: Path | None, notes: Notes, *, namespaced: bool, shared: bool, model: str
) -> None:
    given = _scored(path, model)
    beside = _beside(simpler, path, given, shared=shared) if simpler else {}
    used: set[Place] = set()
    for name, scores, row in given:
        subtest = row.text("subtest", path.stem)
        place = (subtest, name) if (subtest, name) in beside else ("", name)
        own = row.inner("proficiency")
        able = [_sign(row) * value for value in _caption_and_foils(own)] if own else beside.get(place, [])
        used.add(place)
        if simpler and not able:
            notes.unmatched.setdefault("without_proficiency", []).append(name)
        unique = f"{path.stem}/{name}" if namespaced else name
        pairs.ids.append(unique)
        pairs.main.append(scores)
        pairs.proficiency.append(able)
        pairs.subtests.append(subtest)
        pairs.tests.append(row.text("test", subtest))
        # A name of its own keeps an item without a cluster from joining the cluster of that name.
        item = _with_subtest(row.text("subtest", ""), unique)
        pairs.clusters.append("cluster " + row.text("cluster", "") if row.fields.get("cluster") else f"item {item}")
    if simpler:
        alone = [_with_subtest(*place) for place in beside if place not in used]
        notes.unmatched.setdefault("proficiency_without_item", []).extend(alone)


def _beside(simpler: Path, path: Path, given: Sequence[Scored], *, shared: bool) -> dict[Place, list[float]]:
    """{(subtest, id): scores} of the proficiency items, subtest "" where none is named.

    An item that names no subtest has the only record of its id, whatever that one's subtest; not of a file that is
    `shared` by several, whose names are the subtests. EvaluationError: the subtest is left out of an id that several
    subtests of `path` have.
    """
    subtests: dict[str, list[str]] = {}
    for name, _, row in given:
        subtests.setdefault(name, []).append(row.text("subtest", path.stem))
    found: dict[Place, list[float]] = {}
    places: dict[str, list[Place]] = {}
    for name, scores, row in _scored(simpler):
        subtest = row.text("subtest", "")
        if not subtest and len(several := subtests.get(name, [])) > 1:
            row.fail("subtest", f"is missing, and {name!r} is an id of {', '.join(several)}", "name one of them")
        found[subtest, name] = scores
        places.setdefault(name, []).append((subtest, name))
    for name, _, row in given:
        if not (shared or row.fields.get("subtest")) and len(subtests[name]) == len(places.get(name, [])) == 1:
            found[path.stem, name] = found.pop(places[name][0])
    return found


def _with_subtest(subtest: str, name: str) -> str:
    return release_id(subtest, name) if subtest else name


def _only_missing_everywhere(notes: Notes, files: int) -> None:
    """One proficiency file for several item files: an id is unmatched only if no item file has it."""
    names = notes.unmatched.get("proficiency_without_item", [])
    missing = {name for name in names if names.count(name) == files}
    notes.unmatched["proficiency_without_item"] = [name for name in dict.fromkeys(names) if name in missing]


def _scored(path: Path, model: str = "") -> list[Scored]:
    """(id, [caption, foil...], record) of every record, or of those of `model`; ids are unique within a subtest."""
    found: list[Scored] = []
    seen: dict[Place, Row] = {}
    models: dict[str, None] = {}
    for row in rows(path):
        own = [str(row.fields.get(name) or "") for name in ("model", "model_key")]
        models |= dict.fromkeys(name for name in own[:1] if name)
        if model and model not in own:
            continue
        name = row.key or row.text("id")
        place = (row.text("subtest", ""), name)
        if place in seen:
            _refuse_second(row, name, seen[place])
        seen[place] = row
        found.append((name, [_sign(row) * value for value in _caption_and_foils(row)], row))
    if model and not found:
        known = ", ".join(models) or "none is named in it"
        raise EvaluationError(f"{path}: model: no record is of {model!r}; its models: {known}")
    return found


def _refuse_second(row: Row, name: str, first: Row) -> NoReturn:
    """Two records of an id: of two models or protocols, as an export's scores.jsonl has them, or one too many."""
    for said in ("model", "model_key", "protocol"):
        one, other = first.fields.get(said), row.fields.get(said)
        if one != other:
            fix = "name one of them with --model, or give the export's scores/MODEL.jsonl"
            if said == "protocol":
                fix = "give the export's file of one of them, scores/MODEL.jsonl"
            row.fail("id", f"{name!r} is scored by the {said}s {one!r} (line {first.line}) and {other!r}", fix)
    row.fail("id", f"{name!r} stands in the file twice (first in line {first.line})", "keep one of them")


def _sign(row: Row) -> float:
    higher = row.fields.get("higher_is_better", True)
    if not isinstance(higher, bool):
        row.fail("higher_is_better", f"is {higher!r}", "give true or false")
    return 1.0 if higher else -1.0


def _caption_and_foils(row: Row) -> list[float]:
    if "scores" in row.fields:
        scores = row.numbers("scores")
        if len(scores) < 2:
            row.fail("scores", "has no foil", "give the caption's score and at least one foil's")
        return scores
    return [row.number("caption"), *row.numbers("foils" if "foils" in row.fields else "foil")]


def padded(lists: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """(n, longest) with NaN to the right of shorter rows; at least one column."""
    width = max([1, *map(len, lists)])
    out = np.full((len(lists), width), np.nan)
    for row, values in enumerate(lists):
        out[row, : len(values)] = values
    return out


def read_choices(path: Path) -> ChoiceScores:
    """Scores of candidates, the right one first (or in column `right`)."""
    if path.suffix == ".npy":
        return _from_array(path)
    if is_choices_made(path):
        return _from_choices(path)
    if path.suffix == ".csv":
        return _from_csv(path)
    ids: dict[str, int] = {}
    scores: list[list[float]] = []
    right: list[int] = []
    clusters: list[str] = []
    for row in rows(path):
        name = row.new_name("id", ids)
        values = [_sign(row) * value for value in row.numbers("scores")]
        column = row.count("right", 0)
        if len(values) < 2:
            row.fail("scores", "has no negative", "give the positive's score and at least one negative's")
        if column >= len(values):
            row.fail("right", f"is {column}", f"give a column from 0 to {len(values) - 1}")
        scores.append(values)
        right.append(column)
        clusters.append("cluster " + row.text("cluster", "") if row.fields.get("cluster") else f"item {name}")
    if not ids:
        raise EvaluationError(f"{path}: record: there is none; give at least one")
    return ChoiceScores(list(ids), padded(scores), np.array(right, dtype=np.int64), clusters)


def _from_choices(path: Path) -> ChoiceScores:
    """Predictions as scores of two, right or not: the accuracy is theirs; ranks and candidates are not known."""
    ids, right = read_choices_made(path)
    flags = np.array(right)
    return replace(_numbered(np.column_stack([flags, 1.0 - flags]), ids), all_candidates=False)


def _from_array(path: Path) -> ChoiceScores:
    array = _array(path)
    if array.ndim != 2 or array.shape[1] < 2 or not array.shape[0]:
        fail(path, None, "shape", f"is {array.shape}", "give (records, candidates), the positive in the first column")
    scores = np.asarray(array, dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(scores))
    if len(wrong):
        row, column = (int(each) for each in wrong[0])
        fail(path, row + 1, f"scores[{column}]", f"is {scores[row, column]}", "give a finite number")
    return _numbered(scores)


def _from_csv(path: Path) -> ChoiceScores:
    """Rows of numbers, the positive first; a header and a leading text column of ids are taken for what they are."""
    try:
        table = list(csv.reader(io.StringIO(read_text(path)), strict=True))
    except csv.Error as error:
        fail(path, None, "CSV", str(error), "mend the file")
    if not table:
        fail(path, None, "record", "there is none", "give at least one row of scores")
    header = [name.strip().lower() for name in table[0]]
    named = header[:1] == ["id"]
    start = 1 if named or not _is_number(table[0][0]) else 0
    lists: list[list[float]] = []
    ids: list[str] = []
    for line, cells in enumerate(table[start:], start=start + 1):
        if not cells:
            continue
        fields = {"id": cells[0] if named else str(line), "scores": [_number(cell) for cell in cells[int(named) :]]}
        row = Row(path, line, fields)
        values = row.numbers("scores")
        if len(values) < 2:
            row.fail("scores", "has no negative", "give the positive's score and at least one negative's")
        lists.append(values)
        ids.append(row.text("id"))
    if not lists:
        fail(path, None, "record", "there is none", "give at least one row of scores")
    return _numbered(padded(lists), ids)


def _is_number(cell: str) -> bool:
    return isinstance(_number(cell), float)


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _numbered(scores: NDArray[np.float64], ids: list[str] | None = None) -> ChoiceScores:
    names = ids or [str(row) for row in range(len(scores))]
    return ChoiceScores(names, scores, np.zeros(len(scores), dtype=np.int64), [f"item {name}" for name in names])


def read_matrix(path: Path) -> NDArray[Any]:
    """A `.npy` of similarities, mapped into memory: rows texts, columns videos."""
    return _array(path)


def _array(path: Path) -> NDArray[Any]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        fail(path, None, "file", f"cannot be read ({error.strerror or error})", "give a .npy file")
    except (ValueError, EOFError) as error:
        fail(path, None, "file", f"is no plain .npy array ({error})", "write it with numpy.save, numbers only")
    if not isinstance(array, np.ndarray):
        # An archive of arrays, which numpy opens under any name and leaves open.
        array.close()
        fail(path, None, "file", "is no plain .npy array (an archive)", "write it with numpy.save, numbers only")
    if array.dtype.kind not in "fiu":
        fail(path, None, "dtype", "is no array of numbers", "write it with numpy.save, numbers only")
    return array
