"""Name the rungs of the evidence ladder: the same items, scored with less and less of their clip. Pure.

A rung is scored with a *view* of a clip: its frames in another order, one of them, or none. The key of a score names
the view, so that the scores of all rungs are stored with those of the run. A model that reads texts alone has one score
per text, which holds on every rung.
"""

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.rungs import (
    BLANK,
    DRAWN_VIEW,
    FRAME_VIEW,
    GRAY_VIEW,
    LOW_SIDE,
    LOW_VIEW,
    REVERSED_VIEW,
    RUNGS,
    SHUFFLED_VIEW,
    SOUND_VIEW,
    SUBTITLES_VIEW,
    TEXT_VIEW,
    Lender,
    Rung,
    frame_view,
)
from evaluation.metrics.stress import BACKWARD_VIEW, CLAIMS_VIEW, FORWARD_VIEW, STRESS
from evaluation.scoring.clip_keys import MAX_KEY_LENGTH, Keyed, fitting, item_key, score_key, texts_hash
from foilworks.core.corpus.release_records import cluster
from foilworks.core.media import subtitles
from foilworks.core.text.quoting import quoted

VERSION = 1
# Number of single frames that the best one is chosen from: first, middle, last.
FRAMES_TRIED = 3
MAX_TRIED = 99
# Orders of an item's frames that one press adds: enough for evidence about single items, unless answers repeat.
LOOKS = 15
# Other clips and drawn frames repeat each other more, and are asked less often.
MOST_LOOKS = {"other_clip": 6, "full": 4}
GREY = 127
# Of models that take frames of any size.
GREY_SIZE = (224, 224)
# Room for the longest view at the end of a key.
VIEW_LENGTH = 20
# Views of the frames in their own order.
SAME_ORDER = frozenset({GRAY_VIEW, LOW_VIEW, SUBTITLES_VIEW, SOUND_VIEW, CLAIMS_VIEW, FORWARD_VIEW})
# The key of a clip that does not exist: no score has it, and a text-only model's score holds for it.
NO_KEY = "~none"
CONTROLS = tuple(rung for rung in Rung if rung != Rung.FULL)
USUAL = tuple(rung for rung in CONTROLS if RUNGS[rung].is_usual)
LENDING = tuple(rung for rung in Rung if RUNGS[rung].lender)
# What a model is asked about a clip instead of whether it shows a text (evaluation/metrics/stress.py).
ASKS = {view: kind.asks for kind in STRESS.values() for view in kind.views}


def views_of(rung: Rung, tried: int = FRAMES_TRIED) -> tuple[str, ...]:
    """Return the views whose scores a rung reads: several for the best frame, "" for the clip as it is.

    Rungs that lend a clip read the plain view of another item's clip. The first, the middle and the last frame are
    among the frames tried if `tried` is odd.
    """
    return RUNGS[rung].views(tried)


def subtitles_of(record: Mapping[str, Any]) -> str:
    """Return the subtitles of a record's clip, one line each: those of its column, else of the file beside its video.

    "" without any. Lines with times count if they are shown during the clip.
    """
    video = record["video"]
    text = str(record["facts"].get("subtitles") or video.get("subtitles") or "")
    in_seconds = video["time_unit"] == "sec"
    edges = (video["start_time"], video["end_time"]) if in_seconds else (None, None)
    return subtitles.spoken(text, *edges) if text else ""


def record_view(view: str, record: Mapping[str, Any]) -> str:
    """Return the view of one record: with the hash of its subtitles, or without them if it has none."""
    if view not in (SUBTITLES_VIEW, TEXT_VIEW):
        return view
    if text := subtitles_of(record):
        return f"{view} {hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return BLANK if view == TEXT_VIEW else ""


def look_view(rung: Rung, look: int, tried: int = FRAMES_TRIED) -> str:
    """Return the view of one look at a rung, from 1: a frame, an order, or frames drawn again; "" of another clip."""
    if rung == Rung.BEST_FRAME:
        return frame_view(look - 1, tried)
    return {Rung.SHUFFLED: f"{SHUFFLED_VIEW} {look + 1}", Rung.FULL: f"{DRAWN_VIEW} {look + 1}"}.get(rung, "")


def grey_frames(k: int, size: tuple[int, int] | None) -> NDArray[np.uint8]:
    """Return what a model that needs frames is shown without a clip: k grey ones, at least one."""
    return np.full((max(1, k), *(size or GREY_SIZE), 3), GREY, np.uint8)


def order_of(k: int, view: str, seed: str = "") -> list[int]:
    """Return which of k frames a view shows, in its order.

    A shuffled order is drawn uniformly from all but the original and its reverse, so that forwards and backwards are
    equally likely; of two frames it is either. EvaluationError: an unknown view.
    """
    plain = list(range(k))
    if view == "":
        return plain
    if view == REVERSED_VIEW:
        return plain[::-1]
    name, _, position = view.partition(" ")
    draw = random.Random(hashlib.sha256(f"{seed} {k}{position and f' {view}'}".encode()).digest())
    if name == SHUFFLED_VIEW:
        return _shuffled(plain, draw)
    if name == DRAWN_VIEW:
        # In time order; a frame can be left out, and a neighbour shown twice.
        return sorted(min(max(at + draw.choice((-1, 0, 1)), 0), k - 1) for at in plain)
    if name == FRAME_VIEW:
        at, tried = (int(number) for number in position.split(" of "))
        return [_single(at - 1, tried, k)] * k
    if name == BACKWARD_VIEW:
        return plain[::-1]
    if name in SAME_ORDER:
        return plain
    raise EvaluationError(f"view {quoted(view)} is unknown; choose one of the rungs: {', '.join(Rung)}")


def pixels_of(frames: NDArray[np.uint8], view: str) -> NDArray[np.uint8]:
    """Return (k, height, width, 3) frames with the pixels that a view shows, in their order."""
    if view == GRAY_VIEW:
        return np.full_like(frames, GREY)
    if view == LOW_VIEW:
        return np.stack([_low(frame) for frame in frames])
    return frames


def _low(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    height, width = frame.shape[:2]
    shrunk = LOW_SIDE / max(height, width)
    if shrunk >= 1:
        return frame
    small = (max(1, round(width * shrunk)), max(1, round(height * shrunk)))
    # On request: every process that has reports knows the rungs.
    from PIL import Image

    image = Image.fromarray(frame).resize(small, Image.Resampling.BOX)
    return np.asarray(image.resize((width, height), Image.Resampling.BILINEAR))


def _shuffled(plain: list[int], draw: random.Random) -> list[int]:
    order = plain[:]
    while True:
        draw.shuffle(order)
        if len(plain) < 3 or order not in (plain, plain[::-1]):
            return order


def _single(at: int, tried: int, k: int) -> int:
    """Return the place of a frame tried: evenly from the first to the last of k, the middle one at k // 2."""
    if tried == 1 or 2 * at + 1 == tried:
        return k // 2
    return round(at * (k - 1) / (tried - 1))


@dataclass(frozen=True)
class Ladder:
    """How the rungs of a run are scored: `run.params["ladder"]`. `files`: {rung: hash} of imported score files.

    `looks`: how often each item is shown on a rung; all but the first one only show how sure an answer is. `stress`:
    the stress tests that are run beside the rungs.
    """

    rungs: tuple[Rung, ...]
    tried: int = FRAMES_TRIED
    seed: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    looks: int = 1
    stress: tuple[str, ...] = ()

    def looks_of(self, rung: Rung) -> range:
        """Return the numbers of the further looks at a rung; a single frame is a look."""
        if rung == Rung.BEST_FRAME:
            return range(1, 1 + self.tried)
        if rung == Rung.SHUFFLED:
            return range(1, self.looks)
        return range(1, min(self.looks, MOST_LOOKS.get(rung, 1)))

    @property
    def views(self) -> tuple[str, ...]:
        """Return the distinct views of a clip in addition to the clip as it is, without the blank one."""
        distinct_views = dict.fromkeys(view for rung in self.rungs for view in views_of(rung, self.tried))
        looks = [(rung, look) for rung in (*self.rungs, Rung.FULL) for look in self.looks_of(rung)]
        distinct_views |= dict.fromkeys(look_view(rung, look, self.tried) for rung, look in looks)
        return tuple(view for view in distinct_views if view not in ("", BLANK))


def ladder_of(params: Mapping[str, Any]) -> Ladder | None:
    """Return the ladder of a run with these `params`; None if it scored the full clips only."""
    stored = params.get("ladder")
    if not stored:
        return None
    files = {rung: file_facts.get("sha256", "") for rung, file_facts in stored.get("files", {}).items()}
    rungs = tuple(rung for rung in CONTROLS if rung in stored["rungs"])
    return Ladder(
        rungs,
        stored.get("tried", FRAMES_TRIED),
        stored.get("seed", 0),
        files,
        stored.get("looks", 1),
        tuple(stored.get("stress", ())),
    )


def other_clips(records: Sequence[Mapping[str, Any]], seed: int, lender: Lender = Lender.ANY) -> list[int | None]:
    """Return the index of another record for each, drawn uniformly from those of other source videos; None if there
    are none. `lender`: from all, or from those of its subtest.

    The draw of an item depends on the seed, its id, and the records, not on their order.
    """
    if lender == Lender.SUBTEST:
        by_subtest: dict[str, list[int]] = {}
        for at, record in enumerate(records):
            by_subtest.setdefault(record["subtest"], []).append(at)
        within: list[int | None] = [None] * len(records)
        for indices in by_subtest.values():
            drawn_indices = other_clips([records[at] for at in indices], seed)
            for at, drawn_index in zip(indices, drawn_indices, strict=True):
                within[at] = None if drawn_index is None else indices[drawn_index]
        return within
    names = [(cluster(record["video"]), str(record["id"])) for record in records]
    order = sorted(range(len(records)), key=names.__getitem__)
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for rank, at in enumerate(order):
        first.setdefault(names[at][0], rank)
        count[names[at][0]] = count.get(names[at][0], 0) + 1
    other_indices: list[int | None] = []
    for source, name in names:
        n_others = len(records) - count[source]
        if not n_others:
            other_indices.append(None)
            continue
        drawn = random.Random(hashlib.sha256(f"{seed} {name}".encode()).digest()).randrange(n_others)
        other_indices.append(order[drawn if drawn < first[source] else drawn + count[source]])
    return other_indices


def keys_of(
    keyed: Keyed,
    record: Mapping[str, Any],
    comparison: str,
    texts: Iterable[str],
    rung: Rung,
    ladder: Ladder | None = None,
    lender: Mapping[str, Any] | None = None,
    look: int = 0,
) -> tuple[str, ...]:
    """Return the keys under which the scores of a comparison's texts on a rung are stored; several for the best frame.

    `lender`: the record whose clip is shown instead, on that rung. `look`: one of the further looks.
    """
    if look and ladder is not None and rung not in LENDING:
        return (shown_key(keyed, record, comparison, texts, look_view(rung, look, ladder.tried)),)
    if rung == Rung.FULL or ladder is None:
        return (score_key(keyed, record, comparison, texts),)
    if keyed == Keyed.ITEM:
        return (f"{item_key(record, comparison)}~{rung}#{ladder.files.get(rung, '')[:16]}",)
    if rung in LENDING:
        return (NO_KEY if lender is None else score_key(keyed, lender, comparison, texts),)
    views = [record_view(view, record) for view in views_of(rung, ladder.tried)]
    return tuple(shown_key(keyed, record, comparison, texts, view) for view in views)


def shown_key(keyed: Keyed, record: Mapping[str, Any], comparison: str, texts: Iterable[str], view: str) -> str:
    """Return the key of the scores of a comparison's texts for a view of the record's clip."""
    if view == BLANK:
        # Without a clip, all clips share one key.
        return f"~{BLANK}" + (f"#{texts_hash(texts)}" if keyed == Keyed.TEXTS else "")
    key = score_key(keyed, record, comparison, texts)
    return f"{fitting(key, MAX_KEY_LENGTH - VIEW_LENGTH)}~{view}" if view else key


def most_certain(values: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Return (n,) which of several views the model is most certain about, without the answer.

    `values`: one (n, texts) array a view, higher is better, NaN where an item has fewer texts. Certainty is the
    distance from the best text to the second best. Choosing without the answer keeps the chance of a guess as it is.
    """
    gaps = []
    for scores in values:
        ordered = np.sort(np.where(np.isnan(scores), -np.inf, scores), axis=1)
        gaps.append(ordered[:, -1] - ordered[:, -2])
    return np.argmax(np.stack(gaps), axis=0)
