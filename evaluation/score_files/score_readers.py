"""Read scores of a model that ran elsewhere, in formats that other code writes, for the items of a release.

A file names items by the release's ids, or by ids within a subtest, which a record or else the file's name gives; an id
that occurs in one subtest needs none. Only a file that has no column but scores (RCAD's array) has its rows in the
order of the release, over the items with as many foils as it has columns. Predictions and right-or-wrong files only say
which text won: they become scores of 1 and 0, without ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.errors import EvaluationError
from evaluation.metrics.pairwise import PairScores
from evaluation.metrics.ties import Floats
from evaluation.score_files.answers import read_answers, read_predictions
from evaluation.score_files.arrays import AUTO_LAYOUT, CANDIDATES_LAYOUT, read_matrix, rows_of_candidates
from evaluation.score_files.harness_logs import answer_of_row, is_harness_log, log_of, read_harness_log
from evaluation.score_files.joined_answers import Questions, question_of_record
from evaluation.score_files.option_answers import option_scores
from evaluation.score_files.score_columns import kind_of
from evaluation.score_files.scores import Notes, padded, read_pairs
from evaluation.score_files.tables import Columns, Table
from evaluation.score_files.two_clips import halves, is_of_two_clips, read_two_clips
from foilworks.core.corpus.release_records import release_id
from foilworks.core.corpus.rules.two_clips import pairs_of
from foilworks.core.text.quoting import quoted, shortened

Record = Mapping[str, Any]
AUTO = "auto"
LETTERS = "letters"
# Columns of a file of predictions from VLMEvalKit, which repeats the questions.
LISTED_QUESTIONS = frozenset({"prediction", "question", "answer"})
# name -> label; names of formats that score_writers.py also writes are the same there.
FORMS: dict[str, str] = {
    AUTO: "detect from the file name and header",
    "pairs": "Foilworks, JSON lines",
    "vilma": "ViLMA, JSON by id, with the proficiency items in a second file",
    "rcad-csv": "RCAD, CSV: id and scores, the caption first",
    "rcad-npy": "RCAD, NumPy array (items, candidates) or (6 × items, items), in the order of the release",
    "winoground": "Winoground: the four scores of each pair (c0_i0, c0_i1 …), or label and score",
    "mc": "Multiple choice, CSV: id, prediction",
    LETTERS: "Multiple choice, answers as text, CSV or JSON: id, prediction (B, or the text of an option)",
    "utd": "UTD, CSV: sample and correct",
    "harness": "Samples of lmms-eval or Every Eval Ever, Inspect log, or VLMEvalKit predictions",
}


_KINDS = {"mc": "predictions", LETTERS: "predictions", "utd": "answers"}


def read_given(
    path: Path,
    form: str,
    records: Sequence[Record],
    proficiency: Path | None = None,
    model: str = "",
    notes: Notes | None = None,
    columns: Columns | None = None,
) -> PairScores:
    """Return scores by item under the release's ids, higher is better; unknown items keep the file's id.

    EvaluationError names file, record and field, or an unknown format.
    """
    notes = notes if notes is not None else Notes()
    if form not in FORMS:
        raise EvaluationError(f"unknown form {quoted(form)}; choose one of: {', '.join(FORMS)}")
    if proficiency is not None and (form not in {AUTO, "vilma", "pairs"} or path.suffix == ".npy"):
        raise EvaluationError("only the ViLMA format takes a second file; leave it out")
    if path.suffix == ".npy":
        return _array(path, records, notes)
    may_be_harness = form in ("harness", AUTO)
    if may_be_harness and is_harness_log(path):
        return _of_harness(path, records, notes)
    table = Table(path, columns)
    if may_be_harness and LISTED_QUESTIONS.issubset(table.names):
        return _of_harness(path, records, notes, table)
    if form == "harness":
        raise EvaluationError(f"{path}: is no log of a harness; give one of: {FORMS[form]}")
    if form == "winoground" or (form == AUTO and is_of_two_clips(table.names)):
        return _two_clips(table, records, notes)
    kind = kind_of(table) if form == AUTO else _KINDS.get(form, "scores")
    if kind == "scores" and kind_of(table) == "predictions":
        raise EvaluationError(f"{path}: the file contains predictions, not scores; choose mc")
    if kind == "predictions" and _names_options(form, table, records):
        return _by_options(table, records, notes, may_count=form == LETTERS)
    if kind != "scores":
        ids, right = read_predictions(table) if kind == "predictions" else _one_model(table)
        notes.of_table(table)
        notes.only_winners = True
        return _won(_released(path, ids, [""] * len(ids), records), right, records)
    data = read_pairs([path], [proficiency] if proficiency else (), notes, model, columns)
    return replace(data, ids=_ids(path, data, records, notes))


def _names_options(form: str, table: Table, records: Sequence[Record]) -> bool:
    """Report whether predictions name published options. A position of the right one means that they name texts."""
    if form != AUTO:
        return form == LETTERS
    return "right" not in table.names and any("options" in record["facts"] for record in records)


def _by_options(table: Table, records: Sequence[Record], notes: Notes, *, may_count: bool) -> PairScores:
    """Return 1 for the chosen text of each item and 0 for the rest."""
    table.need("id", "prediction")
    seen: dict[str, int] = {}
    rows = list(table.rows({"id", "prediction", "right", "finish_reason"}.__contains__, truth="right"))
    ids = _released(table.path, [row.new_name("id", seen) for row in rows], [""] * len(rows), records)
    record_by_id = {record["id"]: record for record in records}
    answers = [
        option_scores(row, record_by_id[name], may_count=may_count) if name in record_by_id else [0.0, 0.0]
        for row, name in zip(rows, ids, strict=True)
    ]
    notes.of_table(table)
    notes.only_winners = True
    return _readable(ids, answers, notes)


def _readable(ids: Sequence[str], answers: Sequence[list[float] | str], notes: Notes) -> PairScores:
    """Return the scores of the answers that could be read; the items of the others, with the reason, are noted."""
    read = {name: answer for name, answer in zip(ids, answers, strict=True) if not isinstance(answer, str)}
    notes.unreadable |= {name: why for name, why in zip(ids, answers, strict=True) if isinstance(why, str)}
    return _pairs(list(read), list(read.values()))


def _of_harness(path: Path, records: Sequence[Record], notes: Notes, table: Table | None = None) -> PairScores:
    """Return the scores of a log, or of a table of predictions with their questions."""
    questions = Questions(list(map(question_of_record, records)), is_ordered=False)
    if table is None:
        log = read_harness_log(path, questions)
    else:
        log = log_of(path, {"harness": "VLMEvalKit"}, map(answer_of_row, table.rows()), questions)
    notes.harness = log.details
    notes.only_winners = log.only_winners
    ids = _released(path, log.ids, [""] * len(log.ids), records)
    if not log.only_winners:
        return _pairs(ids, log.scores)
    reasons = dict(zip(ids, log.reasons, strict=True))
    notes.unreadable |= {name: why for name, why in reasons.items() if why}
    right = {name: scores[0] for name, scores in zip(ids, log.scores, strict=True) if not reasons[name]}
    return _won(list(right), list(right.values()), records)


def _two_clips(table: Table, records: Sequence[Record], notes: Notes) -> PairScores:
    """Return the scores of both items of each pair, which the file calls by its pair name; an unknown name is kept.

    EvaluationError: two subtests have a pair of this name and the file does not say which.
    """
    data = read_two_clips(table)
    notes.of_table(table)
    pairs_by_name: dict[str, list[tuple[str, str, str]]] = {}
    subtest_of = {record["id"]: record["subtest"] for record in records}
    for pair in pairs_of(records):
        pairs_by_name.setdefault(pair[0], []).append(pair)
    ids: list[str] = []
    for name, subtest in zip(data.ids, data.subtests, strict=True):
        named_pairs = pairs_by_name.get(name, [])
        items = [pair for pair in named_pairs if subtest_of[pair[1]] == subtest] or named_pairs
        if len(items) > 1:
            names = ", ".join(subtest_of[pair[1]] for pair in items)
            raise EvaluationError(
                f"{table.path}: id: {quoted(name)} is a pair in several subtests ({shortened(names)}); give subtest"
            )
        ids += items[0][1:] if items else (f"{name} (clip 0)", f"{name} (clip 1)")
    lists = [values.tolist() for pair_scores in zip(*halves(data.scores), strict=True) for values in pair_scores]
    return _pairs(ids, lists)


def _array(path: Path, records: Sequence[Record], notes: Notes) -> PairScores:
    """Return the rows in the order of the release; its items resolve an ambiguous shape."""
    shape = read_matrix(path).shape
    wide = [record for record in records if len(shape) == 2 and 1 + len(record["foils"]) == shape[1]]
    is_plain = bool(wide) and len(wide) == shape[0]
    scores, _warnings = rows_of_candidates(path, CANDIDATES_LAYOUT if is_plain else AUTO_LAYOUT)
    notes.ids = "rows"
    return _pairs(_in_order(path, scores, records), scores.tolist())


def _ids(path: Path, data: PairScores, records: Sequence[Record], notes: Notes) -> list[str]:
    """Return the ids of the file, if it has any. An index that only counts the rows does not count, unless items have
    such ids.
    """
    subtests = ["" if name == path.stem else name for name in data.subtests]
    if notes.ids == "named":
        return _released(path, data.ids, subtests, records)
    if notes.ids == "index":
        released_ids = _released(path, data.ids, subtests, records)
        counts = [[str(k + first) for k in range(len(released_ids))] for first in (0, 1)]
        if list(data.ids) not in counts or {record["id"] for record in records}.issuperset(released_ids):
            return released_ids
    if notes.ignored:
        names = ", ".join(notes.ignored)
        fix = f"say which it is, such as id={next(iter(notes.ignored))}"
        raise EvaluationError(f"{path}: id: there is no column of ids ({names} is not used); {fix}")
    return _in_order(path, data.main, records)


def _in_order(path: Path, scores: Floats, records: Sequence[Record]) -> list[str]:
    widths = set((~np.isnan(scores)).sum(axis=1).tolist())
    names = [record["id"] for record in records if 1 + len(record["foils"]) in widths]
    if len(widths) != 1 or len(names) != len(scores):
        wide = " or ".join(map(str, sorted(widths)))
        raise EvaluationError(
            f"{path}: rows: there are {len(scores)} of {wide} scores, and the release has {len(names)} such items; "
            "name the rows by an id column, or give one row an item in the release's order"
        )
    return names


def _one_model(table: Table) -> tuple[list[str], list[float]]:
    data = read_answers(table)
    if len(data.right) != 1:
        raise EvaluationError(f"{table.path}: model: the file contains {len(data.right)} models; give a file with one")
    (right,) = data.right.values()
    return list(data.ids), right.tolist()


def _won(ids: Sequence[str], right: Sequence[float], records: Sequence[Record]) -> PairScores:
    """Return 1 for the winner and 0 for the rest; a wrong answer does not name the foil, so the first one wins."""
    foils = {record["id"]: len(record["foils"]) for record in records}
    lists = []
    for name, credit in zip(ids, right, strict=True):
        n_more_foils = max(0, foils.get(name, 1) - 1)
        lists.append([credit, 1.0 - credit, *[0.0] * n_more_foils])
    return _pairs(ids, lists)


def _released(path: Path, ids: Sequence[str], subtests: Sequence[str], records: Sequence[Record]) -> list[str]:
    """Return the release's ids of the file's `ids`, subtest "" if its format has none; unknown ids do not change.

    EvaluationError: an id of several subtests without a subtest, or two records of one item.
    """
    subtest_by_id = {record["id"]: record["subtest"] for record in records}
    within: dict[str, list[str]] = {}
    for name, subtest in subtest_by_id.items():
        within.setdefault(name.removeprefix(f"{subtest}:"), []).append(name)
    file_is = path.stem if path.stem in subtest_by_id.values() else ""
    released_ids: list[str] = []
    first: dict[str, str] = {}
    for name, named_subtest in zip(ids, subtests, strict=True):
        subtest = named_subtest or file_is
        if subtest and (item := release_id(subtest, name)) in subtest_by_id:
            items = [item]
        elif name in subtest_by_id:
            items = [name]
        else:
            items = [] if subtest else within.get(name, [])
        if len(items) > 1:
            raise EvaluationError(
                f"{path}: id: {quoted(name)} is in several subtests; give the full id: {shortened(' or '.join(items))}"
            )
        item = items[0] if items else ""
        if item in first:
            raise EvaluationError(
                f"{path}: id: {quoted(first[item])} and {quoted(name)} name the same item {quoted(item)}; keep one of "
                "them"
            )
        if item:
            first[item] = name
        released_ids.append(item or name)
    return released_ids


def _pairs(ids: Sequence[str], lists: Sequence[Sequence[float]]) -> PairScores:
    names = list(ids)
    return PairScores(names, padded(lists), padded([[] for _ in names]), [""] * len(names), [""] * len(names), names)
