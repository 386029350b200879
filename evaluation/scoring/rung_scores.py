"""Read the stored scores of a run's rungs: which keys hold them, and which of several frames counts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet

from evaluation.metrics.rungs import (
    BLANK,
    DRAWN_VIEW,
    FRAME_VIEW,
    GRAY_VIEW,
    LOW_VIEW,
    REVERSED_VIEW,
    RUNGS,
    SHUFFLED_VIEW,
    SOUND_VIEW,
    SUBTITLES_VIEW,
    TEXT_VIEW,
    Rung,
)
from evaluation.metrics.stress import STRESS
from evaluation.scoring.clip_keys import Keyed, text_key
from evaluation.scoring.models import Run, Score
from evaluation.scoring.rungs import (
    LENDING,
    Ladder,
    keys_of,
    ladder_of,
    look_view,
    most_certain,
    other_clips,
    views_of,
)
from foilworks.core.corpus.models import ReleaseItem

# Views whose names end a key, and those that a number follows.
WHOLE_NAMES = (
    *(REVERSED_VIEW, SHUFFLED_VIEW, GRAY_VIEW, LOW_VIEW, SOUND_VIEW),
    *(view for test in STRESS.values() for view in test.views),
)
NUMBERED = (FRAME_VIEW, SHUFFLED_VIEW, DRAWN_VIEW, SUBTITLES_VIEW, TEXT_VIEW)
Record = Mapping[str, Any]
StoredScores = dict[tuple[str, str], float]


def lenders_of(
    run: Run, records: Sequence[Record] | None = None, look: int = 0, rung: Rung = Rung.OTHER_CLIP
) -> dict[str, Record]:
    """Return {id: record whose clip is shown instead} of the items that have one on a rung. Two queries.

    `records`: the public ones, or the private ones. `look`: which draw of other clips.
    """
    ladder = ladder_of(run.params)
    if ladder is None or rung not in LENDING:
        return {}
    if records is None:
        rows = borrowed_clips(run, ladder, rung, look)
    else:
        rows = borrowed(list(enumerate(records)), ladder, rung, look)
    return {record["id"]: lender for _at, record, _place, lender in rows}


def borrowed_clips(run: Run, ladder: Ladder, rung: Rung, look: int = 0) -> Iterator[tuple[int, Record, int, Record]]:
    """Yield (position, record, position and record of the other item whose clip it is shown). Two queries.

    Both are public or both are private, so that everybody can draw the clips of the public items.
    """
    for is_private in (False, True):
        members = ReleaseItem.objects.filter(release=run.release_id, is_private=is_private).order_by("position")
        yield from borrowed(list(members.values_list("position", "record")), ladder, rung, look)


def borrowed(
    rows: Sequence[tuple[int, Record]], ladder: Ladder, rung: Rung, look: int = 0
) -> Iterator[tuple[int, Record, int, Record]]:
    """Yield (position, record, position and record of the other item) of those that have one. Pure."""
    drawn = other_clips([record for _position, record in rows], ladder.seed + look, RUNGS[rung].lender)
    for (position, record), at in zip(rows, drawn, strict=True):
        if at is not None:
            yield position, record, *rows[at]


def rows_of(rows: QuerySet[Score], run: Run, rung: Rung, look: int = 0) -> QuerySet[Score]:
    """Return the rows that a rung can need, so that the others are not read."""
    ladder = ladder_of(run.params)
    if ladder is None:
        return rows
    if rung in ladder.files:
        return rows.filter(clip_key__endswith=f"~{rung}#{ladder.files[rung][:16]}")
    if look and (view := look_view(rung, look, ladder.tried)):
        return rows.filter(Q(clip_key="") | Q(clip_key__endswith=f"~{view}"))
    if rung == Rung.FULL or rung in LENDING:
        other_views = Q(clip_key__startswith=f"~{BLANK}")
        for name in WHOLE_NAMES:
            other_views |= Q(clip_key__endswith=f"~{name}")
        for name in NUMBERED:
            other_views |= Q(clip_key__contains=f"~{name} ")
        return rows.exclude(other_views)
    if rung == Rung.NO_CLIP:
        return rows.filter(Q(clip_key="") | Q(clip_key__startswith=f"~{BLANK}"))
    if rung == Rung.WITH_SUBTITLES:
        # Items without subtitles have the scores of the whole clip.
        return rows
    if rung == Rung.SUBTITLES_ONLY:
        blank = Q(clip_key="") | Q(clip_key__startswith=f"~{BLANK}")
        return rows.filter(blank | Q(clip_key__contains=f"~{TEXT_VIEW} "))
    condition = Q(clip_key="")
    for view in views_of(rung, ladder.tried):
        condition |= Q(clip_key__endswith=f"~{view}")
    return rows.filter(condition)


class RungValues:
    """The values of a rung's parts, from the stored scores; `higher` says in which direction they rank."""

    def __init__(
        self,
        scores: StoredScores,
        keyed: Keyed,
        rung: Rung,
        ladder: Ladder | None,
        lenders: Mapping[str, Record],
        *,
        higher: bool = True,
        look: int = 0,
    ) -> None:
        self.look = look
        self.scores, self.keyed, self.rung, self.ladder, self.lenders = scores, keyed, rung, ladder, lenders
        self.sign = 1.0 if higher else -1.0

    def __call__(self, record: Record, comparison: str, texts: Sequence[str]) -> list[float] | None:
        """Return one value per text; None if one is missing. Of several views, the most certain one counts."""
        lender = self.lenders.get(record["id"])
        keys = keys_of(self.keyed, record, comparison, texts, self.rung, self.ladder, lender, self.look)
        values_by_view = [values for key in keys if (values := values_of(self.scores, key, texts)) is not None]
        if len(values_by_view) < len(keys):
            return None
        if len(values_by_view) == 1 or len(texts) < 2:
            return values_by_view[0]
        return values_by_view[int(most_certain([self.sign * np.array([values]) for values in values_by_view])[0])]


def values_of(scores: StoredScores, key: str, texts: Iterable[str]) -> list[float] | None:
    """Return the texts' values, None if one is missing; a text-only model's values have an empty clip key."""
    values: list[float] = []
    for text in texts:
        digest = text_key(text)
        value = scores.get((key, digest), scores.get(("", digest)))
        if value is None:
            return None
        values.append(value)
    return values
