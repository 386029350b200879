"""Compute metrics from scores: what `foilworks metrics` does. One function per metric, of its name.

>>> from foilworks import metrics
>>> metrics.mc([{"id": "a", "scores": [0.9, 0.1]}, {"id": "b", "scores": [0.2, 0.3]}])["accuracy"]
0.5
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from evaluation.errors import EvaluationError
from evaluation.metrics.registry import METRICS, TIES
from evaluation.number_text import share
from foilworks.core.text.registry import load, lookup, parse_params
from foilworks.library.inputs import Data, opened_files
from foilworks.library.results import Bar, Result, Row

if TYPE_CHECKING:
    from evaluation.metrics.pairwise import PairScores
    from evaluation.score_files.scores import Notes

HIDDEN = frozenset({"kind", "warnings", "unmatched", "ignored_columns"})
GROUPS = ("subtests", "tests")
SHARES = (
    *("P", "T", "P+T", "text", "video", "question", "clip", "group", "score", "consistency", "first_error"),
    *("accuracy", "group_accuracy", "R@1", "value"),
)


class ScoreOptions(TypedDict, total=False):
    """How to read scores; all can be left out.

    `columns`: role -> column, as of `--column`; `layout` of an array; `names` of the columns of a CSV file without a
    header; `beside`: a CSV file with more columns for the same rows.

    >>> from foilworks import metrics
    >>> metrics.mc([{"id": "a", "prediction": 2, "answer": 2}], columns={"right": "answer"})["accuracy"]
    1.0
    """

    columns: Mapping[str, str]
    layout: str
    names: Sequence[str]
    beside: Path | None


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """The result of `compare`. Table: `models`, the share of each in 0..1 over the items that both scored.

    >>> from foilworks import metrics
    >>> first = [{"id": str(n), "scores": [0.9, 0.1]} for n in range(9)]
    >>> metrics.compare(first, first).tables()["models"]
    [{'model': 'a', 'share': 1.0}, {'model': 'b', 'share': 1.0}]
    """

    def summary(self) -> str:
        """Return the difference of both models with its interval."""
        gap = self.document["difference"]
        low, high = gap["ci"] or (-1.0, 1.0)
        points = f"{100 * gap['value']:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"
        p = "" if gap["p"] is None else f", p = {gap['p']:.2g}"
        return f"{share(self.document['a'])} and {share(self.document['b'])} of {gap['n']:,} items: {points}{p}"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the share of each model."""
        return {"models": [{"model": name, "share": self.document[name]} for name in ("a", "b")]}

    def bars(self) -> Sequence[Bar]:
        """Return the share of each model."""
        return [Bar(name, self.document[name]) for name in ("a", "b")]


@dataclass(frozen=True, repr=False)
class Scores(Result):
    """The result of a metric. Table: `groups`, one row per subtest or model, or one row of all values. Shares are 0..1.

    >>> from foilworks import metrics
    >>> result = metrics.pairwise([{"id": "a", "subtest": "order", "scores": [1, 0]}])
    >>> [row["name"] for row in result.tables()["groups"]]
    ['order', 'order', 'overall']
    """

    def summary(self) -> str:
        """Return the metric and its values over all items."""
        rows = [self.document["overall"]] if "overall" in self.document else self.tables()["groups"]
        return "; ".join([self.document["kind"], *(Result(row).summary() for row in rows)])

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the groups."""
        document = self.document
        groups = [{"name": name, **row} for kind in GROUPS for name, row in document.get(kind, {}).items()]
        if "overall" in document:
            return {"groups": [*groups, {"name": "overall", **document["overall"]}]}
        for name in ("models", "groups"):
            if isinstance(document.get(name), list):
                return {"groups": document[name]}
        return {"groups": [{name: value for name, value in document.items() if name not in HIDDEN}]}

    def bars(self) -> Sequence[Bar]:
        """Return the shares of each group."""
        labels = ("name", "model", "metric")
        rows = [
            (row, next((str(row[name]) for name in labels if row.get(name)), "")) for row in self.tables()["groups"]
        ]
        return [
            Bar(" ".join(filter(None, [label, name])), row[name])
            for row, label in rows
            for name in SHARES
            if isinstance(row.get(name), float)
        ]


def measure(
    kind: str,
    scores: Data,
    *,
    proficiency: Data = (),
    items: Sequence[Path] = (),
    against: Path | None = None,
    model: str = "",
    ties: str = str(TIES.default),
    params: Mapping[str, Any] | None = None,
    **reading: Unpack[ScoreOptions],
) -> Scores:
    """Compute a metric (docs/reference/reports.md).

    `kind`: a name of `evaluation.metrics.registry`; `params`: of a metric of a plug-in. `scores`: n records with `id`
    and scores, files, or an array. `proficiency`: the same of the proficiency items; `items`: files of items, of which
    only the valid ones count; `model`: of several in a file, all for `pairwise` only. `against`: a file of the ids that
    the scores must have. `ties`: half, strict, optimistic or first.

    EvaluationError: a record is wrong, or an option is not for this metric.

    >>> from foilworks import metrics
    >>> metrics.measure("pairwise", [{"id": "a", "caption": 0.9, "foils": [0.2]}])["overall"]["T"]
    1.0
    """
    from evaluation.metrics.pairwise import PairScores
    from evaluation.score_files.answers import ids_of, mismatches
    from evaluation.score_files.scores import read_scores
    from evaluation.score_files.valid_items import restrict_to_valid

    entry = lookup(METRICS, kind, "metric")
    metric = load(entry)
    with opened_files(scores, "scores") as files, opened_files(proficiency, "proficiency") as simpler:
        if not files:
            raise EvaluationError("scores: record: there is none; give at least one scored item")
        paths = [file.path for file in files]
        data, notes = read_scores(metric.INPUT, paths, [file.path for file in simpler], model=model, **reading)
        if items:
            if not isinstance(data, PairScores):
                raise EvaluationError("--items is for pairwise scores only; remove it")
            data, left_out = restrict_to_valid(data, paths, items)
            notes.unmatched |= left_out
        raw = {**({"ties": ties} if TIES in entry.params else {}), **(params or {})}
        result = metric.compute(data, **parse_params(entry, raw))
    notes.warnings += _unclustered(data)
    if against:
        if not hasattr(data, "ids"):
            raise EvaluationError("a matrix has no ids; remove --against")
        notes.unmatched |= mismatches(data.ids, ids_of(against))
    return Scores({"kind": kind, **result, **_seen(notes)})


def _seen(notes: "Notes") -> dict[str, Any]:
    return {"warnings": notes.warnings, "unmatched": notes.unmatched, "ignored_columns": list(notes.ignored)}


def _unclustered(data: Any) -> list[str]:
    """Warn that the intervals treat items as independent, if no two of them share a source video."""
    clusters = getattr(data, "clusters", None)
    if clusters is None or len(set(clusters)) < len(clusters):
        return []
    warning = "no two records share a cluster: the intervals treat items as independent, not clustered by video"
    return [f"{warning}; if items share a video, set the field cluster of each record to it"]


def pairwise(scores: Data, *, proficiency: Data = (), ties: str = str(TIES.default), model: str = "") -> Scores:
    """Compute P, T and P+T, the shares of items whose caption scores above every foil.

    Formulas: docs/reference/formulas.md#metric-pairwise.

    `scores`: n records with `id`, `caption` and `foils`, or `scores` with the caption first; optional `subtest`, `test`
    and `cluster` (intervals draw clusters). `proficiency`: the same of the proficiency items, by id.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> rows = [{"id": "a", "scores": [0.9, 0.2]}, {"id": "b", "scores": [0.1, 0.2]}]
    >>> metrics.pairwise(rows)["overall"]["T"]
    0.5
    """
    return measure("pairwise", scores, proficiency=proficiency, ties=ties, model=model)


def compare(first: Data, second: Data, *, ties: str = str(TIES.default)) -> Comparison:
    """Compare two models on the items that both scored (docs/reference/formulas.md#statistics).

    `first`, `second`: n records each as for `pairwise`, joined by `id` and `subtest`; intervals draw clusters. The
    result: shares `a` and `b` in 0..1, `difference` (a - b, its interval and p), `mcnemar`, `items_to_separate`, and
    `unmatched` ids.

    EvaluationError: as `measure`, or both have no item in common.

    >>> from foilworks import metrics
    >>> right, wrong = [0.9, 0.2], [0.1, 0.2]
    >>> first = [{"id": f"item {n}", "scores": right} for n in range(20)]
    >>> second = [{"id": f"item {n}", "scores": right if n % 2 else wrong} for n in range(20)]
    >>> metrics.compare(first, second)["difference"]["value"]
    0.5
    """
    from evaluation.metrics.comparison import compare_credits
    from evaluation.metrics.ties import hit, standing
    from evaluation.score_files.scores import read_pairs

    with opened_files(first, "first") as a_files, opened_files(second, "second") as b_files:
        a, b = (read_pairs([file.path for file in files]) for files in (a_files, b_files))
    a_keys, b_keys = _join_keys(a), _join_keys(b)
    b_rows = {key: row for row, key in enumerate(b_keys)}
    a_rows = [row for row, key in enumerate(a_keys) if key in b_rows]
    if not a_rows:
        raise EvaluationError("second: has no item of the first model; give the same ids and subtests to both")
    a_credit = hit(standing(a.main), ties)[a_rows]
    b_credit = hit(standing(b.main), ties)[[b_rows[a_keys[row]] for row in a_rows]]
    clusters = [a.clusters[row] for row in a_rows]
    shared = {a_keys[row] for row in a_rows}
    unmatched = {
        "not_in_second": [name for name, key in zip(a.ids, a_keys, strict=True) if key not in shared],
        "not_in_first": [name for name, key in zip(b.ids, b_keys, strict=True) if key not in shared],
    }
    return Comparison({"kind": "compare", **compare_credits(a_credit, b_credit, clusters), "unmatched": unmatched})


def _join_keys(scores: "PairScores") -> list[tuple[str, str]]:
    """Return subtest and id of each item; the only subtest is that of the file's name, so it does not count."""
    has_subtests = len(set(scores.subtests)) > 1
    return [(subtest if has_subtests else "", name) for subtest, name in zip(scores.subtests, scores.ids, strict=True)]


def mc(scores: Data, *, ties: str = str(TIES.default), **reading: Unpack[ScoreOptions]) -> Scores:
    """Compute multiple choice accuracy (docs/reference/formulas.md#metric-ranks).

    `scores`: n records with `id` and `scores` of the options, the right one first or at `right`; predictions with
    `prediction` and `right`; or an array (n, options) with the right one first.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> metrics.mc([{"id": "a", "scores": [0.1, 0.7, 0.2], "right": 1}])["accuracy"]
    1.0
    """
    return measure("mc", scores, ties=ties, **reading)


def rcad(scores: Data, *, ties: str = str(TIES.default), **reading: Unpack[ScoreOptions]) -> Scores:
    """Compute R@k and the mean rank of captions among counterfactuals (docs/reference/formulas.md#metric-ranks).

    `scores`: as for `mc`.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> metrics.rcad([{"id": "a", "scores": [0.9, 0.7]}, {"id": "b", "scores": [0.1, 0.7]}])["R@1"]
    0.5
    """
    return measure("rcad", scores, ties=ties, **reading)


def two_clips(scores: Data, *, ties: str = str(TIES.default)) -> Scores:
    """Compute text, video and group score of items of two clips (docs/reference/formulas.md#metric-two-clips).

    `scores`: n records with `id` and `c0_i0`, `c1_i0`, `c0_i1`, `c1_i1`: the score of caption c on clip i.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> metrics.two_clips([{"id": "a", "c0_i0": 0.9, "c1_i0": 0.2, "c0_i1": 0.1, "c1_i1": 0.8}])["overall"]["group"]
    1.0
    """
    return measure("two-clips", scores, ties=ties)


def classes(answers: Data, **reading: Unpack[ScoreOptions]) -> Scores:
    """Compute accuracy over samples, and over groups that count only if all their samples are right.

    Formulas: docs/reference/formulas.md#metric-utd.

    `answers`: n records with `id` and `correct` (true or false; `correct_NAME` per model), or predicted and true
    classes (`prediction`, `class`); optional `group` and `cluster` (intervals draw clusters). Shares are 0..1.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> rows = [{"id": "a", "correct": True, "group": "clip"}, {"id": "b", "correct": False, "group": "clip"}]
    >>> row = metrics.classes(rows)["models"][0]
    >>> row["accuracy"], row["group_accuracy"]
    (0.5, 0.0)
    """
    return measure("classes", answers, **reading)


def sets(answers: Data, **reading: Unpack[ScoreOptions]) -> Scores:
    """Compute scores of sets of answers that count together, such as pair and instance accuracy.

    Formulas: docs/reference/formulas.md#metric-sets.

    `answers`: n records with `id`, `set` and `correct` (true or false; empty if unreadable); optional `clip`,
    `question`, `part` (text or video), `structure`, `place`, `options` (their number, 2), `subtest` and `cluster`. Or
    samples of lmms-eval of MVP, Vinoground or Video-MME-v2, or results of TimeBlind. Shares are 0..1.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> right = [("1", True), ("1", True), ("2", True), ("2", False)]
    >>> rows = [{"id": str(n), "set": name, "correct": value} for n, (name, value) in enumerate(right)]
    >>> result = metrics.sets(rows)["overall"]
    >>> result["accuracy"], result["group"], result["chance"]["group"], result["luck"]["group"]
    (0.75, 0.5, 0.25, 0.5625)
    """
    return measure("sets", answers, **reading)


def open_answers(answers: Data, **reading: Unpack[ScoreOptions]) -> Scores:
    """Compute exact match of words and mean relative accuracy of numbers (docs/reference/formulas.md#metric-open).

    `answers`: n records with `id`, `prediction` and the right answer in `right`; optional `type` of question, and
    `video` (intervals draw videos). A right answer that is a number asks for a number. Shares are 0..1, one group per
    metric.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> rows = [{"id": "a", "prediction": "It is 9.", "right": "10"}]
    >>> rows += [{"id": "b", "prediction": "A ring", "right": "ring"}]
    >>> [(row["metric"], row["value"]) for row in metrics.open_answers(rows).tables()["groups"]]
    [('exact match', 1.0), ('mean relative accuracy', 0.8)]
    """
    return measure("open", answers, **reading)


def retrieval(similarities: Data, *, ties: str = str(TIES.default)) -> Scores:
    """Compute R@1, R@5, R@10, median and mean rank of text to video and video to text.

    `similarities`: an array (n, n), rows texts and columns videos, or a `.npy` file; cell (i, i) is right.

    EvaluationError: as `measure`.

    >>> import numpy as np
    >>> from foilworks import metrics
    >>> metrics.retrieval(np.eye(4))["t2v"]["R@1"]
    1.0
    """
    return measure("retrieval", similarities, ties=ties)
