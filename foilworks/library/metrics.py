"""Compute metrics from scores: what `foilworks metrics` does. One function per metric, of its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from evaluation.errors import EvaluationError
from evaluation.metrics.registry import METRICS, TIES
from foilworks.core.text.registry import load, parse_params
from foilworks.library.inputs import Data, opened_files
from foilworks.library.results import Bar, Result, Row

if TYPE_CHECKING:
    from evaluation.score_files.scores import Notes

HIDDEN = frozenset({"kind", "warnings", "unmatched", "ignored_columns"})
GROUPS = ("subtests", "tests")
SHARES = ("P", "T", "P+T", "text", "video", "group", "accuracy", "R@1")


class ScoreOptions(TypedDict, total=False):
    """How to read scores; all can be left out.

    `columns`: role -> column, as of `--column`; `layout` of an array; `names` of the columns of a CSV file without a
    header; `beside`: a CSV file with more columns for the same rows.
    """

    columns: Mapping[str, str]
    layout: str
    names: Sequence[str]
    beside: Path | None


@dataclass(frozen=True, repr=False)
class Scores(Result):
    """The result of a metric. Table: `groups`, one row per subtest or model, or one row of all values."""

    def summary(self) -> str:
        """Return the metric and its values over all items."""
        row = self.document.get("overall", self.document)
        values = [f"{name} {value:.4g}" for name, value in row.items() if isinstance(value, int | float)]
        n_rows = len(self.tables()["groups"])
        return f"{self.document['kind']}, {', '.join(values) or f'{n_rows:,} rows'}"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the groups."""
        document = self.document
        groups = [{"name": name, **row} for kind in GROUPS for name, row in document.get(kind, {}).items()]
        if "overall" in document:
            return {"groups": [*groups, {"name": "overall", **document["overall"]}]}
        if isinstance(document.get("models"), list):
            return {"groups": document["models"]}
        return {"groups": [{name: value for name, value in document.items() if name not in HIDDEN}]}

    def bars(self) -> Sequence[Bar]:
        """Return the shares of each group."""
        return [
            Bar(" ".join(filter(None, [str(row.get("name", row.get("model", ""))), name])), row[name])
            for row in self.tables()["groups"]
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
    **reading: Unpack[ScoreOptions],
) -> Scores:
    """Compute a metric (docs/reference/reports.md).

    `kind`: a name of `evaluation.metrics.registry`. `scores`: n records with `id` and scores, files, or an array.
    `proficiency`: the same of the proficiency items; `items`: files of items, of which only the valid ones count;
    `model`: of several in a file, all for `pairwise` only. `against`: a file of the ids that the scores must have.
    `ties`: half, strict, optimistic or first.

    EvaluationError: a record is wrong, or an option is not for this metric.

    >>> from foilworks import metrics
    >>> metrics.measure("pairwise", [{"id": "a", "caption": 0.9, "foils": [0.2]}])["overall"]["T"]
    1.0
    """
    from evaluation.metrics.pairwise import PairScores
    from evaluation.score_files.answers import ids_of, mismatches
    from evaluation.score_files.scores import read_scores
    from evaluation.score_files.valid_items import restrict_to_valid

    entry = METRICS[kind]
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
        result = metric.compute(data, **parse_params(entry, {"ties": ties} if TIES in entry.params else {}))
    notes.warnings += unclustered(data)
    if against:
        if not hasattr(data, "ids"):
            raise EvaluationError("a matrix has no ids; remove --against")
        notes.unmatched |= mismatches(data.ids, ids_of(against))
    return Scores({"kind": kind, **result, **_seen(notes)})


def _seen(notes: "Notes") -> dict[str, Any]:
    return {"warnings": notes.warnings, "unmatched": notes.unmatched, "ignored_columns": list(notes.ignored)}


def unclustered(data: Any) -> list[str]:
    """Warn that the intervals treat items as independent, if no two of them share a source video."""
    clusters = getattr(data, "clusters", None)
    if clusters is None or len(set(clusters)) < len(clusters):
        return []
    told = "no two records share a cluster: the intervals treat items as independent, not clustered by video"
    return [f"{told}; if items share a video, set the field cluster of each record to it"]


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
    """Compute accuracy over samples (docs/reference/formulas.md#metric-utd).

    `answers`: n records with `id` and `right` (true or false), or predicted and true classes.

    EvaluationError: as `measure`.

    >>> from foilworks import metrics
    >>> metrics.classes([{"id": "a", "correct": True}, {"id": "b", "correct": False}])["models"][0]["accuracy"]
    0.5
    """
    return measure("classes", answers, **reading)


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
