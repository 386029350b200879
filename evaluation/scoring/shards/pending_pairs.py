"""Find what a run has to score (distinct texts by distinct clip, not stored yet), and store it in parallel with the
model.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Self, TypeVar

from django.db import connection

from evaluation.metrics.rungs import BLANK, DRAWN_VIEW, SHUFFLED_VIEW, SUBTITLES_VIEW, TEXT_VIEW, Rung
from evaluation.metrics.stress import STRESS
from evaluation.scoring.clip_keys import Keyed, clip_key, score_key, text_key
from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import PairScore, ScoringCounts
from evaluation.scoring.models import Run, Score
from evaluation.scoring.queries import Record, control_texts, item_texts_of, records_of
from evaluation.scoring.rung_scores import borrowed_clips
from evaluation.scoring.rungs import (
    LENDING,
    Ladder,
    ladder_of,
    look_view,
    record_view,
    shown_key,
    subtitles_of,
    views_of,
)
from evaluation.scoring.unread_answers import ANSWER_UNPARSABLE, MODEL_REFUSED
from foilworks.core.corpus.models import MediaState, ReleaseItem, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.text.batches import batched

ROWS_PER_QUERY = 500
Row = TypeVar("Row")
# Number of unstored scores in memory: a killed worker loses these and the batch at its model.
ON_THE_WAY = 1


@dataclass
class ClipWork:
    """A clip with its texts, and {id of an item that needs it: the item's position in the release}.

    `rung`: for which the clip is shown, "" for the whole one. `owner`: the position of the item whose clip it is, if
    others borrow it.
    """

    clip: Clip
    texts: dict[str, None] = field(default_factory=dict)  # insertion-ordered set
    items: dict[str, int] = field(default_factory=dict)
    rung: str = ""
    owner: int | None = None

    @property
    def positions(self) -> set[int]:
        """Return the positions of the items whose clip it is."""
        return set(self.items.values()) if self.owner is None else {self.owner}


def work_of(
    run: Run, needs_video: bool, by_item: bool, positions: Collection[int] | None = None
) -> tuple[list[ClipWork], list[str]]:
    """Return distinct texts by distinct clip (under one empty clip for a text-only model); items with missing media.

    `by_item`: texts that are scored together form a clip of their own, so no others mix in. `positions`: only the clips
    of these items.
    """
    planned = PlannedWork(run, needs_video, Keyed.TEXTS if by_item else Keyed.CLIP)
    members = ReleaseItem.objects.filter(release=run.release).select_related("video").order_by("position")
    if positions is not None:
        members = members.filter(position__in=positions)
    for member in members.iterator(chunk_size=ROWS_PER_QUERY):
        planned.add(member)
    return planned.work, planned.without_media


class PlannedWork:
    """Collects the work of a run, item by item."""

    def __init__(self, run: Run, needs_video: bool, keyed: Keyed) -> None:
        self.needs_video, self.keyed = needs_video, keyed
        # A text-only model's scores hold on every rung.
        self.ladder = ladder_of(run.params) if needs_video else None
        self.without_media: list[str] = []
        self._work_by_key: dict[tuple[str, str], ClipWork] = {}
        control = run.params.get("control")
        self._sampled = control_texts(records_of(run.release), control) if control else {}
        self._borrowers = _borrowers(run, self.ladder) if self.ladder else {}

    @property
    def work(self) -> list[ClipWork]:
        """Return the work, without the texts of borrowed clips that the clip's own items have."""
        for (key, _), clip_work in self._work_by_key.items():
            own = self._work_by_key.get((key, "")) if clip_work.owner is not None else None
            if own is not None:
                clip_work.texts = {text: None for text in clip_work.texts if text not in own.texts}
        return list(self._work_by_key.values())

    def add(self, member: ReleaseItem) -> None:
        record, video = member.record, member.video
        item_texts = item_texts_of(record, self.keyed)
        among = self._sampled.get(record["id"], ())
        comparisons = [("main", item_texts.main), ("proficiency", item_texts.proficiency)]
        if self.needs_video and clip_as_frozen("", video, record["video"]) is None:
            self.without_media.append(record["id"])
            self.without_media += [f"{borrower['id']} ({rung})" for _, borrower, rung in self._borrowed(member)]
            return
        for comparison, texts in (*comparisons, ("control", among)):
            self._add(member, score_key(self.keyed, record, comparison, texts), texts)
        for comparison, texts in comparisons if self.ladder else ():
            self._add_views(member, comparison, texts)
        for name in self.ladder.stress if self.ladder else ():
            for view in STRESS[name].views:
                texts = STRESS[name].texts or item_texts.main
                self._add(member, shown_key(self.keyed, record, "main", texts, view), texts, view, name)
        for position, borrower, rung in self._borrowed(member):
            self._lend(member, position, borrower, rung)

    def _borrowed(self, member: ReleaseItem) -> Sequence[tuple[int, Record, Rung]]:
        return self._borrowers.get(member.position, ())

    def _add(self, member: ReleaseItem, key: str, texts: Sequence[str], view: str = "", rung: str = "") -> None:
        if not texts:
            return
        record = member.record
        is_drawn = view.startswith((SHUFFLED_VIEW, DRAWN_VIEW))
        seed = f"{clip_key(record['video'])} {self.ladder.seed}" if self.ladder and is_drawn else ""
        clip = clip_as_frozen(key, member.video, record["video"], view, seed) if self.needs_video else None
        clip = clip or Clip("")
        if view.partition(" ")[0] in (SUBTITLES_VIEW, TEXT_VIEW):
            clip = replace(clip, subtitles=subtitles_of(record))
        # Without a clip, each item has work of its own, so that shards can be cut between any two items.
        group = f"{view} {record['id']}" if view == BLANK else view
        clip_work = self._work_by_key.setdefault((clip.key, group), ClipWork(clip, rung=rung))
        clip_work.texts.update(dict.fromkeys(texts))
        clip_work.items[record["id"]] = member.position

    def _add_views(self, member: ReleaseItem, comparison: str, texts: Sequence[str]) -> None:
        assert self.ladder is not None
        for name in (*self.ladder.views, *([BLANK] if Rung.NO_CLIP in self.ladder.rungs else ())):
            # Without subtitles, the item is shown as on another rung.
            if view := record_view(name, member.record):
                key = shown_key(self.keyed, member.record, comparison, texts, view)
                self._add(member, key, texts, view, rung_of(name, self.ladder))

    def _lend(self, member: ReleaseItem, position: int, borrower: Record, rung: Rung) -> None:
        """Show the member's clip with the texts of another item."""
        item_texts = item_texts_of(borrower, self.keyed)
        for comparison, texts in (("main", item_texts.main), ("proficiency", item_texts.proficiency)):
            key = score_key(self.keyed, member.record, comparison, texts)
            clip = clip_as_frozen(key, member.video, member.record["video"])
            if texts and clip is not None:
                new_work = ClipWork(clip, rung=rung, owner=member.position)
                # Work of each borrower alone says whose texts they are.
                clip_work = self._work_by_key.setdefault((key, f"{rung} {borrower['id']}"), new_work)
                clip_work.texts.update(dict.fromkeys(texts))
                clip_work.items[borrower["id"]] = position


def _borrowers(run: Run, ladder: Ladder) -> dict[int, list[tuple[int, Record, Rung]]]:
    """Return position of an item -> (position, record) of the items that are shown its clip instead of theirs, and the
    rung."""
    borrowers_by_position: dict[int, list[tuple[int, Record, Rung]]] = {}
    for rung in LENDING:
        for look in (0, *ladder.looks_of(rung)) if rung in ladder.rungs else ():
            for position, record, lender_position, _other in borrowed_clips(run, ladder, rung, look):
                borrowers_by_position.setdefault(lender_position, []).append((position, record, rung))
    return borrowers_by_position


def rung_of(view: str, ladder: Ladder) -> str:
    """Return the first rung that reads a view."""
    return next(
        rung
        for rung in (*ladder.rungs, Rung.FULL)
        if view
        in {*views_of(rung, ladder.tried), *(look_view(rung, look, ladder.tried) for look in ladder.looks_of(rung))}
    )


def clip_as_frozen(
    key: str, video: Video | None, frozen: Mapping[str, Any], view: str = "", seed: str = ""
) -> Clip | None:
    """Return the clip as frozen; None without its file. A file attached after the freeze is shown under its frozen
    trim.
    """
    if view.partition(" ")[0] in (BLANK, TEXT_VIEW):
        return Clip(key, view=view)
    if video is None or video.media_state != MediaState.READY or not video.file:
        return None
    same_unit = frozen["time_unit"] == "sec"
    start = frozen["start_time"] if same_unit else video.start_time
    end = frozen["end_time"] if same_unit else video.end_time
    return Clip(key, clip_file(video), start, end, video.sha256, view, seed)


def missing(run: Run, work: list[ClipWork], needs_video: bool) -> Iterator[tuple[ClipWork, list[str]]]:
    """Return the clips with the texts that are not stored yet."""
    rows = Score.objects.filter(model_key=run.model_key, protocol=run.protocol)
    for some in batched(work, ROWS_PER_QUERY):
        keys = [clip_work.clip.key for clip_work in some] if needs_video else [""]
        stored_rows = rows.filter(clip_key__in=keys).values_list("clip_key", "text_sha256")
        stored = set(stored_rows.iterator(chunk_size=ROWS_PER_QUERY))
        for clip_work in some:
            texts = [text for text in clip_work.texts if (clip_work.clip.key, text_key(text)) not in stored]
            if texts:
                # A softmax covers all texts with its key.
                yield clip_work, list(clip_work.texts) if run.params["by_item"] else texts


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
            parts=score.components or None,
        )
        for score in scores
    ]
    # Another worker may have stored the same pair since: the same model gave the same value.
    Score.objects.bulk_create(rows, batch_size=ROWS_PER_QUERY, ignore_conflicts=True)


def listed(work: Iterable[ClipWork], tally: ScoringCounts) -> dict[str, Any]:
    """Return what has no score, item by item: {"unreadable": [{"item", "why"}], "refused": ..., "not_finite": ...}.

    A rung has the name in "rung" and before "why". It is listed only for items whose whole clip has no such problem.
    """
    problem_list = _Listed()
    # For a text-only model, whose value is valid wherever the text occurs.
    for key, text, value in tally.not_finite:
        if key is None:
            problem_list.add("not_finite", text, f"the model gave {value}")
    reasons = _reasons(tally)
    for clip_work in sorted(work, key=lambda clip_work: bool(clip_work.rung)):
        whys: dict[str, list[str]] = {}
        for name, text, why in reasons.get(clip_work.clip.key, ()):
            if text is None or text in clip_work.texts:
                whys.setdefault(name, []).append(why)
        for name, why_texts in whys.items():
            for item in clip_work.items:
                problem_list.add(name, item, "; ".join(why_texts[: MAX_SAID.get(name, 1)]), clip_work.rung)
    return problem_list.problems


# Outcome of a served model's answer -> problem in the run.
NO_ANSWER = {"refused": MODEL_REFUSED, "unparsable": ANSWER_UNPARSABLE, "failed": "no_answer"}
MAX_SAID = {"not_finite": 3}


def _reasons(tally: ScoringCounts) -> dict[str, list[tuple[str, str | None, str]]]:
    """Return clip key -> (problem, the text that it is about or None, why)."""
    reasons_by_key: dict[str, list[tuple[str, str | None, str]]] = {}
    for name, pairs in (("unreadable", tally.unreadable), ("refused", tally.refused)):
        for key, why in pairs:
            reasons_by_key.setdefault(key, []).append((name, None, why))
    for clip, text, value in tally.not_finite:
        if clip is not None:
            reasons_by_key.setdefault(clip, []).append(
                ("not_finite", text, f"the model gave {value} for '{text[:80]}'")
            )
    for key, text, outcome, why in tally.unanswered:
        reasons_by_key.setdefault(key, []).append((NO_ANSWER[outcome], text, f"'{text[:80]}': {why}"))
    return reasons_by_key


class _Listed:
    def __init__(self) -> None:
        self.problems: dict[str, Any] = {"unreadable": [], "refused": [], "not_finite": []}
        self._whole: set[tuple[str, str]] = set()

    def add(self, name: str, item: str, why: str, rung: str = "") -> None:
        if rung and (name, item) in self._whole:
            return
        problem = {"item": item, "why": f"{rung.replace('_', ' ')}: {why}", "rung": rung}
        if not rung:
            problem = {"item": item, "why": why}
            self._whole.add((name, item))
        self.problems.setdefault(name, []).append(problem)


def in_time(rows: Iterable[Row], size: int, seconds: float) -> Iterator[list[Row]]:
    """Yield batches of `size`, or smaller ones after `seconds`: a slow model loses little when killed."""
    batch: list[Row] = []
    began = monotonic()
    for row in rows:
        batch.append(row)
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
            for future in self._waiting:
                future.result()

    def _write(self, scores: Sequence[PairScore]) -> None:
        began = perf_counter()
        self._store(scores)
        self.seconds += perf_counter() - began


def _hang_up() -> None:
    connection.close()
