"""Two models on one item: every text with both scores, the margins, and what served models answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.board.comparison import OUTCOMES, Comparison
from evaluation.scoring.models import Run, ServedAnswer
from evaluation.scoring.queries import Record, release_scores
from foilworks.core.corpus.models import Release, ReleaseItem, Video
from foilworks.core.corpus.records import ReleaseScore
from foilworks.core.text.diff import diff_segments
from generation.models import ModelAnswer


@dataclass(frozen=True)
class Place:
    """Where the item is among those with its outcome: `number` from 1; positions of the next and the previous one."""

    position: int
    outcome: str
    number: int
    total: int
    previous: int | None
    next: int | None


@dataclass(frozen=True)
class Row:
    """A text of the item: differences from the caption, and the score of each model, None without one."""

    segments: list[tuple[str, str]]
    is_caption: bool
    scores: tuple[float | None, float | None]
    is_best: tuple[bool, bool]


@dataclass(frozen=True)
class Column:
    """A model: the caption's score minus the best foil's in its own unit, whether it is right, its raw answers."""

    run: Run
    margin: float | None
    credit: float | None
    raw: Sequence[dict[str, Any]]


@dataclass(frozen=True)
class SideBySide:
    record: Record
    item: int | None
    video: Video | None
    columns: tuple[Column, Column]
    rows: list[Row]


def place_of(comparison: Comparison, show: str, position: int | None) -> Place | None:
    """Return the place of a position of the release among the items with its outcome; without one, the first of `show`.

    None: neither model scored it, or no item has this outcome.
    """
    if position is not None:
        show = next((name for name in OUTCOMES if position in comparison.outcomes[name]), "")
    listed = list(comparison.outcomes.get(show, ()))
    if not listed:
        return None
    at = listed.index(position) if position is not None else 0
    return Place(
        listed[at],
        show,
        at + 1,
        len(listed),
        listed[at - 1] if at else None,
        listed[at + 1] if at + 1 < len(listed) else None,
    )


def side_by_side(release: Release, position: int, a: Run, b: Run) -> SideBySide | None:
    """Return both models on the item at this position; None if it was taken down. At most nine queries."""
    rows = ReleaseItem.objects.filter(release=release, position=position, is_private=False)
    member = rows.filter(video__takedown__isnull=True).select_related("video__project").first()
    if member is None:
        return None
    record = member.record
    scores = [_score(run, record) for run in (a, b)]
    texts = [record["caption"], *record["foils"]]
    values = [[None] * len(texts) if score is None else [score.caption, *score.foils] for score in scores]
    best = [_best(score) for score in scores]
    shown = [
        Row(
            diff_segments(record["caption"], text),
            not k,
            (values[0][k], values[1][k]),
            (k in best[0], k in best[1]),
        )
        for k, text in enumerate(texts)
    ]
    columns = tuple(_column(run, score, position) for run, score in zip((a, b), scores, strict=True))
    return SideBySide(record, member.item_id, member.video, (columns[0], columns[1]), shown)


def _score(run: Run, record: Record) -> ReleaseScore | None:
    scored, _missing = release_scores(run, [record], few=True)
    return scored[0] if scored else None


def _best(score: ReleaseScore | None) -> set[int]:
    """Return the indices of the texts with the best score: several if they are tied."""
    if score is None:
        return set()
    values = [score.caption, *score.foils]
    top = max(values) if score.higher_is_better else min(values)
    return {k for k, value in enumerate(values) if value == top}


def _column(run: Run, score: ReleaseScore | None, position: int) -> Column:
    if score is None:
        return Column(run, None, None, ())
    sign = 1.0 if score.higher_is_better else -1.0
    best = _best(score)
    credit = 0.0 if 0 not in best else 1.0 if len(best) == 1 else 0.5
    margin = min(sign * (score.caption - foil) for foil in score.foils)
    return Column(run, margin, credit, _raw(run, position))


def _raw(run: Run, position: int) -> list[dict[str, Any]]:
    """Return what a served model answered to the questions about the item, with its own words. Two queries."""
    rows = ServedAnswer.objects.filter(
        release=run.release_id, model_key=run.model_key, protocol=run.protocol, position=position
    ).order_by("options", "number", "pk")
    answers = list(rows)
    keys = {row.request_sha256 for row in answers}
    texts = dict(ModelAnswer.objects.filter(sha256__in=keys).values_list("sha256", "text")) if keys else {}
    return [{"row": row, "text": texts.get(row.request_sha256, "")} for row in answers]
