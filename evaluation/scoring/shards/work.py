"""Find what a run has to score (distinct texts by distinct clip, not stored yet), and store it in parallel with the
model.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Self, TypeVar

from django.db import connection

from corpus.models import MediaState, ReleaseItem, Video
from corpus.video_files.stored_files import clip_file
from evaluation.scoring.clip_keys import Keyed, score_key, text_key
from evaluation.scoring.loop import Clip, PairScore, ScoringCounts
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import asked_of, control_texts, records_of
from hub.interfaces import ModelInfo
from text.batches import batched

ROWS_PER_QUERY = 500
Thing = TypeVar("Thing")
# Number of unstored scores in memory: a killed worker loses these and the batch at its model.
ON_THE_WAY = 1


@dataclass
class ClipWork:
    """A clip with its texts, and {id of an item that needs it: the item's position in the release}."""

    clip: Clip
    texts: dict[str, None] = field(default_factory=dict)  # insertion-ordered set
    items: dict[str, int] = field(default_factory=dict)


def work_of(
    run: Run, needs_video: bool, by_item: bool, positions: Collection[int] | None = None
) -> tuple[list[ClipWork], list[str]]:
    """Return distinct texts by distinct clip (under one empty clip for a text-only model); items with missing media.

    `by_item`: texts that are scored together form a clip of their own, so no others mix in. `positions`: only these
    items.
    """
    keyed = Keyed.TEXTS if by_item else Keyed.CLIP
    found: dict[str, ClipWork] = {}
    without_media: list[str] = []
    control = run.params.get("control")
    sampled = control_texts(records_of(run.release), control) if control else {}
    members = ReleaseItem.objects.filter(release=run.release).select_related("video").order_by("position")
    if positions is not None:
        members = members.filter(position__in=positions)
    for member in members.iterator(chunk_size=ROWS_PER_QUERY):
        asked = asked_of(member.record, keyed)
        among = sampled.get(member.record["id"], ())
        for key, texts in (
            (asked.main_key, asked.main),
            (asked.proficiency_key, asked.proficiency),
            (score_key(keyed, member.record, "control", among), among),
        ):
            clip = _clip(key, member.video, member.record["video"]) if needs_video else Clip("")
            if clip is None:
                without_media.append(member.record["id"])
                break
            if texts:
                each = found.setdefault(clip.key, ClipWork(clip))
                each.texts.update(dict.fromkeys(texts))
                each.items[member.record["id"]] = member.position
    return list(found.values()), without_media


def _clip(key: str, video: Video | None, frozen: dict[str, Any]) -> Clip | None:
    """Return the clip as frozen; None without its file. A file attached after the freeze is shown under its frozen
    trim.
    """
    if video is None or video.media_state != MediaState.READY or not video.file:
        return None
    same_unit = frozen["time_unit"] == "sec"
    start = frozen["start_time"] if same_unit else video.start_time
    end = frozen["end_time"] if same_unit else video.end_time
    return Clip(key, clip_file(video), start, end, video.sha256)


def missing(run: Run, work: list[ClipWork], needs_video: bool) -> Iterator[tuple[ClipWork, list[str]]]:
    """Return the clips with the texts that are not stored yet."""
    rows = Score.objects.filter(model_key=run.model_key, protocol=run.protocol)
    for some in batched(work, ROWS_PER_QUERY):
        keys = [each.clip.key for each in some] if needs_video else [""]
        found = rows.filter(clip_key__in=keys).values_list("clip_key", "text_sha256")
        stored = set(found.iterator(chunk_size=ROWS_PER_QUERY))
        for each in some:
            texts = [text for text in each.texts if (each.clip.key, text_key(text)) not in stored]
            if texts:
                # A softmax covers all texts with its key.
                yield each, list(each.texts) if run.params["by_item"] else texts


def store(run: Run, info: ModelInfo, scores: Iterable[PairScore]) -> None:
    rows = [
        Score(
            model_key=run.model_key,
            protocol=run.protocol,
            clip_key=score.clip_key or "",
            text_sha256=text_key(score.text),
            value=score.value,
            kind=info.kind.value,
            higher_is_better=info.higher_is_better,
        )
        for score in scores
    ]
    # Another worker may have stored the same pair since: the same model gave the same value.
    Score.objects.bulk_create(rows, batch_size=ROWS_PER_QUERY, ignore_conflicts=True)


def listed(work: Iterable[ClipWork], tally: ScoringCounts) -> dict[str, Any]:
    """Return what has no score, item by item: {"unreadable": [{"item", "why"}], "refused": ..., "not_finite": ...}."""
    unreadable, refused = dict(tally.unreadable), dict(tally.refused)
    not_finite: dict[str, list[str]] = {}
    found: dict[str, Any] = {"unreadable": [], "refused": [], "not_finite": []}
    for key, text, value in tally.not_finite:
        if key is None:
            # For a text-only model, whose value is valid wherever the text occurs.
            found["not_finite"].append({"item": text, "why": f"the model gave {value}"})
        else:
            not_finite.setdefault(key, []).append(f"the model gave {value} for '{text[:80]}'")
    for each in work:
        for name, why in (
            ("unreadable", unreadable.get(each.clip.key)),
            ("refused", refused.get(each.clip.key)),
            ("not_finite", "; ".join(not_finite.get(each.clip.key, [])[:3]) or None),
        ):
            found[name] += [{"item": item, "why": why} for item in each.items if why]
    return found | _unanswered(work, tally)


# Outcome of a served model's answer -> problem in the run.
NO_ANSWER = {"refused": "model_refused", "unparsable": "answer_unparsable", "failed": "no_answer"}


def _unanswered(work: Iterable[ClipWork], tally: ScoringCounts) -> dict[str, list[dict[str, str]]]:
    """Return items without an answer of a served model, by outcome; each with its first reason."""
    reasons: dict[tuple[str, str], str] = {}
    for key, text, outcome, why in tally.unanswered:
        reasons.setdefault((NO_ANSWER[outcome], key), f"'{text[:80]}': {why}")
    found: dict[str, list[dict[str, str]]] = {}
    items = {each.clip.key: list(each.items) for each in work}
    for (name, key), why in reasons.items():
        found.setdefault(name, []).extend({"item": item, "why": why} for item in items.get(key, ()))
    return found


def in_time(things: Iterable[Thing], size: int, seconds: float) -> Iterator[list[Thing]]:
    """Yield batches of `size`, or smaller ones after `seconds`: a slow model loses little when killed."""
    batch: list[Thing] = []
    began = monotonic()
    for thing in things:
        batch.append(thing)
        if len(batch) >= size or monotonic() - began > seconds:
            yield batch
            batch, began = [], monotonic()
    if batch:
        yield batch


class ScoreWriter:
    """Calls `store` from a thread with its own connection, in order; its errors are raised by the next `put`.

    Inside a transaction nobody else's connection sees its rows, and on SQLite none can write: no thread then.
    """

    def __init__(self, store: Callable[[Sequence[PairScore]], None]) -> None:
        self._store = store
        self._executor: ThreadPoolExecutor | None = None
        self._waiting: deque[Future[None]] = deque()
        # Seconds of writing, and seconds that the caller waited for it.
        self.seconds = 0.0

    def __enter__(self) -> Self:
        if not connection.in_atomic_block:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="scores")
        return self

    def put(self, scores: Sequence[PairScore]) -> None:
        if self._executor is None:
            self._write(scores)
            return
        while len(self._waiting) >= ON_THE_WAY:
            self._waiting.popleft().result()
        self._waiting.append(self._executor.submit(self._write, scores))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Store what was put, also if an error ended the block."""
        if self._executor is None:
            return
        self._executor.submit(_hang_up)
        self._executor.shutdown(wait=True)
        if error is None:
            for one in self._waiting:
                one.result()

    def _write(self, scores: Sequence[PairScore]) -> None:
        began = perf_counter()
        self._store(scores)
        self.seconds += perf_counter() - began


def _hang_up() -> None:
    connection.close()
