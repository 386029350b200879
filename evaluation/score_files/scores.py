"""Read score files as arrays, for `foilworks metrics` and the `file:` model. Any bad record is an error.

Records, as JSON lines, JSON by id, or CSV: `id`, the scores (`caption` and `foils`, or `scores` with the positive
first), and where they are known `right` (the positive's place), `subtest`, `test`, `cluster`, `proficiency` and
`higher_is_better` (false of perplexities: the arrays hold the negated scores then). ViLMA's proficiency items are in a
second file. `.npy`: (n, candidates) without ids, or the similarities of RCAD's authors (score_files/arrays.py).
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.choices import ChoiceScores
from evaluation.metrics.classes import Answers
from evaluation.metrics.open_answers import OpenAnswers
from evaluation.metrics.pairwise import PairScores
from evaluation.metrics.sets import SetAnswers
from evaluation.metrics.two_clips import TwoClipScores
from evaluation.score_files.answers import read_answers, read_predictions
from evaluation.score_files.arrays import AUTO_LAYOUT, read_matrix, rows_of_candidates
from evaluation.score_files.json_records import Row
from evaluation.score_files.open_answers import open_table, read_open
from evaluation.score_files.score_columns import inner_scores, kind_of, score_rows
from evaluation.score_files.set_answers import read_sets
from evaluation.score_files.tables import Columns, Table
from evaluation.score_files.two_clips import read_two_clips
from foilworks.core.corpus.records import WINNER
from foilworks.core.corpus.release_records import release_id
from foilworks.core.text.quoting import quoted, shortened

# Subtest and id of a record.
RecordKey = tuple[str, str]
# Other fields of a record, in addition to its id and scores.
BESIDE = frozenset({"subtest", "test", "cluster", "proficiency"})


@dataclass
class Notes:
    """Notes of a reader that are not errors: warnings in words, ids of one file only, unused columns.

    `ids`: whether the rows of the last file are "named", have only an "index", or neither ("rows"). `only_winners`: the
    scores come from predictions or from right and wrong, so they have no ranks. `unreadable`: item -> why its
    answer cannot be read; it has no score. `harness`: what the log of a harness says about its run.
    """

    warnings: list[str] = field(default_factory=list)
    unmatched: dict[str, list[str]] = field(default_factory=dict)
    ignored: dict[str, None] = field(default_factory=dict)
    ids: str = "named"
    only_winners: bool = False
    unreadable: dict[str, str] = field(default_factory=dict)
    harness: dict[str, str] = field(default_factory=dict)

    def of_table(self, table: Table) -> None:
        """Add what is known of the table after its last row."""
        self.ignored |= table.ignored
        self.ids = table.ids


class Lists:
    """Lists of numbers in one array, one after the other."""

    def __init__(self) -> None:
        self.values, self.lengths = array("d"), array("q")

    def add(self, values: list[float]) -> None:
        self.values.fromlist(values)
        self.lengths.append(len(values))

    def padded(self) -> NDArray[np.float64]:
        """Return (n, longest) with NaN to the right of shorter rows; at least one column."""
        values, lengths = np.array(self.values), np.array(self.lengths)
        width = max(1, int(lengths.max(initial=0)))
        if len(values) == width * len(lengths):
            return values.reshape(-1, width)
        out = np.full((len(lengths), width), np.nan)
        out[np.arange(width) < lengths[:, None]] = values
        return out


def padded(lists: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    """Return (n, longest) with NaN to the right of shorter rows; at least one column."""
    rows = Lists()
    for values in lists:
        rows.add(list(values))
    return rows.padded()


@dataclass
class _Pairs:
    """n records, one column each, "" if a record names none; `proficiency` by the number of the record."""

    ids: list[str] = field(default_factory=list)
    main: Lists = field(default_factory=Lists)
    proficiency: dict[int, list[float]] = field(default_factory=dict)
    subtests: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    # Names that many records share are one string.
    _shared: dict[str, str] = field(default_factory=dict)

    def scores(self) -> PairScores:
        """Return the arrays. By default, a record belongs to the subtest of its file, the test of its subtest and its
        own cluster.
        """
        n, able = len(self.ids), self.proficiency
        self.fill()
        subtests = [name or stem for name, stem in zip(self.subtests, self.stems, strict=True)]
        return PairScores(
            ids=self.ids,
            main=self.main.padded(),
            proficiency=padded(able.get(k, ()) for k in range(n)) if able else np.full((n, 1), np.nan),
            subtests=subtests,
            tests=[test or subtest for test, subtest in zip(self.tests, subtests, strict=True)],
            clusters=self._clusters(),
        )

    def fill(self) -> None:
        for column in (self.subtests, self.tests, self.clusters):
            column += [""] * (len(self.ids) - len(column))

    def put(self, column: list[str], name: str) -> None:
        """Store `name` for the next record; earlier records without one have ""."""
        column += [""] * (len(self.ids) - len(column))
        column.append(self._shared.setdefault(name, name))

    def _clusters(self) -> list[str]:
        """Return clusters with a prefix each, lest an item without a cluster joins the cluster of that name."""
        if not (any(self.clusters) or any(self.subtests)):
            return self.ids
        columns = zip(self.clusters, self.subtests, self.ids, strict=True)
        return [f"cluster {name}" if name else f"item {_with_subtest(subtest, own)}" for name, subtest, own in columns]


def read_scores(
    kind: str,
    paths: Sequence[Path],
    proficiency: Sequence[Path] = (),
    *,
    model: str = "",
    columns: Columns | None = None,
    layout: str = AUTO_LAYOUT,
    names: Sequence[str] = (),
    beside: Path | None = None,
) -> tuple[PairScores | ChoiceScores | TwoClipScores | SetAnswers | Answers | OpenAnswers | NDArray[Any], Notes]:
    """Read the arrays that a metric with `INPUT == kind` computes on. EvaluationError names file, record and field.

    `model`: of files with pair scores of several models, the records of this one (its `model` or `model_key`).
    `columns`: {role: column}; `layout`: of an array, see arrays.py; `names`, `beside`: of CSV, see tables.py.
    """
    notes = Notes()
    if (names or beside) and kind not in {"choices", "answers"}:
        raise EvaluationError("--names and --beside apply only to mc, rcad and classes; leave them out")
    if kind == "pairs":
        return read_pairs(paths, proficiency, notes, model, columns), notes
    if model:
        raise EvaluationError("--model applies only to pairwise scores; leave it out")
    if proficiency:
        raise EvaluationError("--proficiency applies only to pairwise scores; leave it out")
    if len(paths) != 1:
        raise EvaluationError("give exactly one --file for this metric")
    (path,) = paths
    if kind == "matrix":
        return read_matrix(path), notes
    if kind == "choices":
        return read_choices(path, notes, columns, layout, names, beside), notes
    if kind == "open":
        table = open_table(path, columns)
        answers = read_open(table)
        notes.of_table(table)
        return answers, notes
    if kind == "sets":
        return read_sets(path, columns), notes
    table = Table(path, columns, names=names, second_file=beside)
    scores = read_two_clips(table) if kind == "two_clips" else read_answers(table)
    notes.of_table(table)
    return scores, notes


def read_pairs(
    paths: Sequence[Path],
    proficiency: Sequence[Path] = (),
    notes: Notes | None = None,
    model: str = "",
    columns: Columns | None = None,
) -> PairScores:
    """Read one or more files of pair scores; with `proficiency`, one file for all or one for each, by id and subtest.

    Items, or proficiency records, may omit the subtest if both files have the id once. Ids in only one of the two are
    listed in `notes.unmatched`; no item is dropped for it.
    """
    notes = notes if notes is not None else Notes()
    if len(proficiency) not in {0, 1, len(paths)}:
        raise EvaluationError(f"{len(proficiency)} proficiency files for {len(paths)} files; give one, or one for each")
    pairs = _Pairs()
    for index, path in enumerate(paths):
        start = len(pairs.ids)
        table = Table(path, columns)
        _add_table(pairs, table, model)
        notes.of_table(table)
        if proficiency:
            simpler = proficiency[index if len(proficiency) > 1 else 0]
            _add_proficiency(pairs, start, path.stem, simpler, notes, shared=len(proficiency) < len(paths))
        if len(paths) > 1:
            pairs.ids[start:] = [f"{path.stem}/{name}" for name in pairs.ids[start:]]
    if not pairs.ids:
        raise EvaluationError(f"{paths[0]}: record: there is none; give at least one scored item")
    if len(proficiency) == 1 and len(paths) > 1:
        _only_missing_everywhere(notes, len(paths))
    return pairs.scores()


def _add_table(pairs: _Pairs, table: Table, model: str) -> None:
    """Add the records of a table (only of `model`, if given), whose ids are unique within a subtest."""
    seen: set[str] = set()
    models: dict[str, None] = {}
    before, add_id, add_scores = len(pairs.ids), pairs.ids.append, pairs.main.add
    for values, right, row in score_rows(table):
        fields = row.fields
        if "model" in fields or model:
            own = [str(fields.get(name) or "") for name in ("model", "model_key")]
            models |= dict.fromkeys(name for name in own[:1] if name)
            if model and model not in own:
                continue
        name = row.key or row.text("id")
        subtest = row.text("subtest", "") if "subtest" in fields else ""
        record_key = f"{subtest}\0{name}" if subtest else name
        if record_key in seen:
            _refuse_second(table, row, subtest, name)
        seen.add(record_key)
        if not BESIDE.isdisjoint(fields):
            for column, what in ((pairs.subtests, "subtest"), (pairs.tests, "test"), (pairs.clusters, "cluster")):
                if value := row.text(what, ""):
                    pairs.put(column, value)
            if pair := row.inner("proficiency"):
                pairs.proficiency[len(pairs.ids)] = inner_scores(pair, row)
        add_id(name)
        add_scores(right_first(values, right) if right else values)
    pairs.fill()
    pairs.stems += [table.path.stem] * (len(pairs.ids) - before)
    if model and len(pairs.ids) == before:
        model_names = ", ".join(models) or "the file names none"
        raise EvaluationError(f"{table.path}: model: no record is for {quoted(model)}; its models: {model_names}")


def right_first(values: list[float], right: int) -> list[float]:
    """Return the scores with the right one first; the others keep their order."""
    return [values[right], *values[:right], *values[right + 1 :]]


def _add_proficiency(pairs: _Pairs, start: int, stem: str, simpler: Path, notes: Notes, *, shared: bool) -> None:
    """Add scores of a second file for the records from `start` on, and list ids on one side only."""
    names, subtests = pairs.ids[start:], pairs.subtests[start:]
    proficiency_scores = _proficiency_scores(simpler, stem, names, subtests, shared=shared)
    used: set[RecordKey] = set()
    for number, (name, subtest) in enumerate(zip(names, subtests, strict=True), start=start):
        record_key = (subtest or stem, name) if (subtest or stem, name) in proficiency_scores else ("", name)
        used.add(record_key)
        if number not in pairs.proficiency and record_key in proficiency_scores:
            pairs.proficiency[number] = proficiency_scores[record_key]
        if number not in pairs.proficiency:
            notes.unmatched.setdefault("without_proficiency", []).append(name)
    alone = [_with_subtest(*record_key) for record_key in proficiency_scores if record_key not in used]
    notes.unmatched.setdefault("proficiency_without_item", []).extend(alone)


def _proficiency_scores(
    simpler: Path, stem: str, names: Sequence[str], named_subtests: Sequence[str], *, shared: bool
) -> dict[RecordKey, list[float]]:
    """Return {(subtest, id): scores} of the proficiency items, subtest "" if none is named.

    An item that names no subtest gets the only record of its id, whatever that one's subtest; not if several files
    share the proficiency file (`shared`), because the file names are the subtests. EvaluationError: an id of several
    subtests without a subtest.
    """
    subtests: dict[str, list[str]] = {}
    for name, subtest in zip(names, named_subtests, strict=True):
        subtests.setdefault(name, []).append(subtest or stem)
    scores_by_key: dict[RecordKey, list[float]] = {}
    keys_by_name: dict[str, list[RecordKey]] = {}
    for values, right, row in score_rows(table := Table(simpler)):
        name, subtest = row.key or row.text("id"), row.text("subtest", "")
        if (subtest, name) in scores_by_key:
            _refuse_second(table, row, subtest, name)
        if not subtest and len(several := subtests.get(name, [])) > 1:
            row.fail(
                "subtest",
                f"is missing, and {quoted(name)} is an id in {shortened(', '.join(several))}",
                "name one of them",
            )
        scores_by_key[subtest, name] = right_first(values, right)
        keys_by_name.setdefault(name, []).append((subtest, name))
    for name, subtest in zip(names, named_subtests, strict=True):
        if not (shared or subtest) and len(subtests[name]) == len(keys_by_name.get(name, [])) == 1:
            scores_by_key[stem, name] = scores_by_key.pop(keys_by_name[name][0])
    return scores_by_key


def _with_subtest(subtest: str, name: str) -> str:
    return release_id(subtest, name) if subtest else name


def _only_missing_everywhere(notes: Notes, files: int) -> None:
    """Handle one proficiency file for several item files: an id is unmatched only if no item file has it."""
    names = notes.unmatched.get("proficiency_without_item", [])
    missing = {name for name, count in Counter(names).items() if count == files}
    notes.unmatched["proficiency_without_item"] = [name for name in dict.fromkeys(names) if name in missing]


def _refuse_second(table: Table, row: Row, subtest: str, name: str) -> NoReturn:
    """Refuse a second record of an id: of another model or protocol, as in an export's scores.jsonl, or a duplicate."""
    record_key = (subtest, name)
    first = next(
        earlier_row
        for earlier_row in table.again().rows()
        if (earlier_row.text("subtest", ""), earlier_row.key or earlier_row.text("id")) == record_key
    )
    for name_field in ("model", "model_key", "protocol"):
        first_value, second_value = first.fields.get(name_field), row.fields.get(name_field)
        if first_value != second_value:
            fix = "name one of them with --model, or give the export's scores/MODEL.jsonl"
            if name_field == "protocol":
                fix = "give the export's file of one of them, scores/MODEL.jsonl"
            row.fail(
                "id",
                f"{quoted(name)} has scores of the {name_field}s {quoted(first_value)} (line {first.line}) and "
                f"{quoted(second_value)}",
                fix,
            )
    row.fail("id", f"{quoted(name)} occurs twice in the file (first in line {first.line})", "keep one of them")


def read_choices(
    path: Path,
    notes: Notes | None = None,
    columns: Columns | None = None,
    layout: str = AUTO_LAYOUT,
    names: Sequence[str] = (),
    second_file: Path | None = None,
) -> ChoiceScores:
    """Read scores of candidates, the right one first (or at the index `right`), or predictions as scores of 1 and 0."""
    notes = notes if notes is not None else Notes()
    if path.suffix == ".npy":
        array_scores, warnings = rows_of_candidates(path, layout)
        notes.warnings += warnings
        notes.ids = "rows"
        return numbered(array_scores)
    table = Table(path, columns, names=names, second_file=second_file)
    if kind_of(table) == "predictions":
        ids, won = read_predictions(table)
        notes.of_table(table)
        notes.only_winners = True
        flags = np.array(won)
        return numbered(np.column_stack([flags, 1.0 - flags]), ids, all_candidates=False)
    seen: dict[str, int] = {}
    scores, right_indices = Lists(), array("q")
    clusters: list[str] = []
    for values, right, row in score_rows(table):
        name = row.new_name("id", seen)
        scores.add(values)
        right_indices.append(right)
        notes.only_winners |= row.fields.get("kind") == WINNER
        cluster = row.text("cluster", "") if row.fields.get("cluster") else ""
        clusters.append(f"cluster {cluster}" if cluster else f"item {name}")
    notes.of_table(table)
    if not seen:
        raise EvaluationError(f"{path}: record: there is none; give at least one")
    return ChoiceScores(list(seen), scores.padded(), np.array(right_indices), clusters, not notes.only_winners)


def numbered(
    scores: NDArray[np.float64], ids: Sequence[str] | None = None, *, all_candidates: bool = True
) -> ChoiceScores:
    """Return records with the right one first, each its own cluster; numbered from 0 without ids."""
    names = list(ids) if ids is not None else [str(row) for row in range(len(scores))]
    right = np.zeros(len(scores), dtype=np.int64)
    return ChoiceScores(names, scores, right, [f"item {name}" for name in names], all_candidates)
