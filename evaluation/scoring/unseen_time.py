"""Find the items that a run's model cannot see, because only the time of the frames tells their texts apart.

A clip and the same clip at another speed have the same frames. A model that gets a fixed number of them, without their
times, gets the same input for both. Such an item has no score in that run, and is not wrong
(docs/explanation/two-clip-items.md#time).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.scoring.models import UNSEEN_TIME, Run
from evaluation.scoring.protocol_models import sampling
from evaluation.scoring.protocols import Protocol
from evaluation.scoring.queries import SCORE_FILE, records_of
from foilworks.core.corpus.rules.two_clips import NEEDS_TIME
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.media.frames import Span
from foilworks.core.media.sampling import Sampling

Record = Mapping[str, Any]
# Frames per second of a clip whose record does not say it; only the makers' rules count frames.
ASSUMED_RATE = 25.0
NO_TIMES = "it gets {n} frames of both clips, without their times"
TOO_FEW_FRAMES = "it gets {n} frames, and {needed} show how often the event is repeated"


def unseen_of(run: Run, info: ModelInfo, protocol: Protocol) -> dict[str, list[dict[str, str]]]:
    """List the items of the run's release that its model cannot see: {UNSEEN_TIME: [{"item", "part", "why"}]}.

    A model that reads texts alone sees no clip anyway, so it has none.
    """
    if not info.needs_video or info.reads_times or run.spec.startswith(SCORE_FILE):
        return {}
    records = [*records_of(run.release), *records_of(run.release, private=True)]
    rows = list(_unseen([record for record in records if record["facts"].get(NEEDS_TIME)], sampling(protocol, info)))
    return {UNSEEN_TIME: rows} if rows else {}


def _unseen(records: Sequence[Record], frames: Sampling) -> Iterable[dict[str, str]]:
    """Yield the items whose clips give the same number of frames, or too few. A drawn window shows the pace itself."""
    if frames.is_drawn:
        return
    counts = defaultdict(set)
    for record in records:
        counts[_pair_of(record)].add(len(frames.moments(_span(record))))
    for record in records:
        n, *others = counts[_pair_of(record)]
        needed = record["facts"][NEEDS_TIME]
        if others:
            continue
        if isinstance(needed, bool):
            yield _row(record, NO_TIMES.format(n=n))
        elif n < needed:
            yield _row(record, TOO_FEW_FRAMES.format(n=n, needed=needed))


def _pair_of(record: Record) -> tuple[str, str]:
    return record["subtest"], record.get("pair") or record["id"]


def _row(record: Record, why: str) -> dict[str, str]:
    return {"item": record["id"], "part": "main", "why": why}


def _span(record: Record) -> Span:
    """Return the span of the clip from 0; made clips have no trim, and unknown lengths count as one frame."""
    video = record["video"]
    end = video["end_time"] if video["end_time"] is not None else video.get("duration")
    rate = video.get("fps") or ASSUMED_RATE
    n_frames = max(1, round(((end or 0.0) - (video["start_time"] or 0.0)) * rate))
    return Span(0.0, n_frames / rate, tuple(number / rate for number in range(n_frames)))
