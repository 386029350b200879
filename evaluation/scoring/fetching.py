"""Read clips ahead of a model, pure: one decode for all views of a clip, and each distinct view shown once."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Protocol

import numpy as np

from evaluation.metrics.rungs import BLANK, GRAY_VIEW, LOW_VIEW, SOUND_VIEW, TEXT_VIEW
from evaluation.scoring.rungs import ASKS, grey_frames, order_of, pixels_of
from foilworks.core.hub.interfaces import Frames, ModelInfo, VideoMeta
from foilworks.core.hub.served.prompts import SUBTITLES
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import sample_frames


@dataclass(frozen=True)
class Clip:
    """What is shown: `key` names it in scores; `start` and `end` in seconds trim the file, None = to its limit.

    `content`: the SHA-256 of the file's bytes if known, for caches. `view`: which of its frames are shown, in which
    order (`scoring.rungs`); `seed` draws a shuffled order. `subtitles`: those that the view adds to the prompt.
    """

    key: str
    path: os.PathLike[str] | None = None
    start: float | None = None
    end: float | None = None
    content: str = ""
    view: str = ""
    seed: str = ""
    subtitles: str = ""

    @property
    def is_blank(self) -> bool:
        """Report whether no frame is shown."""
        return self.view == BLANK or self.view.partition(" ")[0] == TEXT_VIEW

    @property
    def pixels(self) -> str:
        """Return the view that names its pixels, "" for those of the file."""
        return self.view if self.view in (GRAY_VIEW, LOW_VIEW) else ""

    @property
    def hears(self) -> bool:
        return self.view == SOUND_VIEW

    @property
    def before(self) -> str:
        """Return the text before the prompt."""
        return SUBTITLES.format(self.subtitles) if self.subtitles else ""

    @property
    def asks(self) -> str:
        """Return the question of yes or no that is asked about it, "" for the model's own."""
        return ASKS.get(self.view, "")

    @property
    def source(self) -> tuple[str, float | None, float | None]:
        """Return what all views of the clip have in common."""
        if self.is_blank:
            return f"{BLANK} {self.subtitles}", None, None
        path = "" if self.path is None else os.fspath(self.path)
        return self.content or path or self.key, self.start, self.end

    @property
    def whole(self) -> "Clip":
        """Return the clip as it is."""
        return replace(self, view="", seed="", subtitles="")

    @property
    def in_order(self) -> "Clip":
        """Return the clip with its frames in their order, and the pixels of its view."""
        return replace(self.whole, view=self.pixels)

    def order(self, k: int) -> list[int]:
        """Return which of its k frames are shown, in this order."""
        return order_of(k, self.view, self.seed)


ReadFrames = Callable[[Clip, ModelInfo], tuple[Frames, VideoMeta]]


def read_frames(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
    """Read the frames that the model needs, at the centres of equal time bins (foilworks.core.media.frames).
    MediaError: unusable file.
    """
    if clip.path is None:
        raise MediaError(f"{clip.key}: has no video file; attach it, then score again")
    frames, times, seconds = sample_frames(Path(clip.path), info.frames, clip.start, clip.end, info.size)
    return frames, about(clip, times, seconds)


def about(clip: Clip, times: Iterable[float], seconds: float = 0.0) -> VideoMeta:
    """Return what an adapter receives about a clip, in addition to its frames."""
    presented = tuple(float(time) for time in times)
    return VideoMeta(clip.key, presented, clip.path or "", clip.start, clip.end, seconds=seconds)


class StoredVectors(Protocol):
    """Rows of clips that were encoded before."""

    def get(self, clip: Clip, info: ModelInfo) -> np.ndarray | None:
        """Return the clip's row of this model; None if it is not cached."""
        ...

    def put(self, clip: Clip, info: ModelInfo, row: np.ndarray) -> None: ...


@dataclass
class ClipTexts:
    clip: Clip
    texts: dict[str, None]  # insertion-ordered set


def merged(requests: Iterable[tuple[Clip, Sequence[str]]]) -> list[ClipTexts]:
    """Return one entry per clip key, in the order of their first mention, with its distinct texts (at least one)."""
    requests_by_key: dict[str, ClipTexts] = {}
    for clip, texts in requests:
        requests_by_key.setdefault(clip.key, ClipTexts(clip, {})).texts.update(dict.fromkeys(texts))
    return [clip_request for clip_request in requests_by_key.values() if clip_request.texts]


def by_source(clip_requests: Iterable[ClipTexts]) -> list[list[ClipTexts]]:
    """Group the views of a clip, in the order of their first mention."""
    groups: dict[tuple[str, float | None, float | None], list[ClipTexts]] = {}
    for clip_request in clip_requests:
        groups.setdefault(clip_request.clip.source, []).append(clip_request)
    return list(groups.values())


@dataclass(frozen=True)
class Fetched:
    """A clip on its way to the model, as all of `wants` show it, or as it is if a row has one entry per frame.

    It has a cached row, or frames, or `why` it has neither; without any of these, the model is asked without a clip.
    `seconds`: of reading.
    """

    wants: Sequence[ClipTexts]
    row: np.ndarray | None = None
    frames: Frames | None = None
    order: Sequence[int] | None = None
    meta: VideoMeta | None = None
    why: str = ""
    seconds: float = 0.0
    decoded: bool = False
    by_frame: bool = False

    @property
    def shown(self) -> Frames:
        assert self.frames is not None
        return self.frames if self.order is None else self.frames[list(self.order)]

    @property
    def is_empty(self) -> bool:
        return self.row is None and self.frames is None and not self.why

    @property
    def clips(self) -> list[Clip]:
        """Return the distinct clips to cache the row of."""
        clips = [clip_request.clip.in_order if self.by_frame else clip_request.clip for clip_request in self.wants]
        return list({clip.view: clip for clip in clips}.values())

    def row_of(self, clip_request: ClipTexts, row: np.ndarray) -> np.ndarray:
        """Return the row of one of `wants`, from the row of this."""
        return (
            row[clip_request.clip.order(len(row))]
            if self.by_frame and clip_request.clip.view != "" and not clip_request.clip.is_blank
            else row
        )


@dataclass(frozen=True)
class Fetcher:
    """Reads the views of one clip in a worker of the pool.

    `by_frame`: a row has one entry per frame, so the rows of all views follow from one. `blind`: the model is asked
    without a clip where none is shown; others get grey frames.
    """

    info: ModelInfo
    read: ReadFrames
    vector_cache: StoredVectors | None = None
    shrink: Callable[[Frames], Frames] | None = None
    by_frame: bool = False
    blind: bool = False

    def __call__(self, group: Sequence[ClipTexts]) -> list[Fetched]:
        if group[0].clip.is_blank:
            return [self._blank(group)]
        cached_views = self._cached(group)
        cached_ids = {id(clip_request) for view in cached_views for clip_request in view.wants}
        pending = [clip_request for clip_request in group if id(clip_request) not in cached_ids]
        return [*cached_views, *(self._read(pending) if pending else [])]

    def _blank(self, group: Sequence[ClipTexts]) -> Fetched:
        if self.blind:
            return Fetched(group, meta=VideoMeta(group[0].clip.key, before=group[0].clip.before))
        frames = grey_frames(self.info.frames, self.info.size)
        times = tuple(float(at) for at in range(len(frames)))
        frames = frames if self.shrink is None else self.shrink(frames)
        return Fetched(group, frames=frames, meta=VideoMeta(group[0].clip.key, times), by_frame=self.by_frame)

    def _cached(self, group: Sequence[ClipTexts]) -> list[Fetched]:
        if self.vector_cache is None:
            return []
        if self.by_frame:
            rows_by_pixels = [
                (some, self.vector_cache.get(some[0].clip.in_order, self.info)) for some in by_pixels(group)
            ]
            return [Fetched(some, row, by_frame=True) for some, row in rows_by_pixels if row is not None]
        rows = [(clip_request, self.vector_cache.get(clip_request.clip, self.info)) for clip_request in group]
        return [Fetched((clip_request,), row) for clip_request, row in rows if row is not None]

    def _read(self, group: Sequence[ClipTexts]) -> list[Fetched]:
        began = perf_counter()
        clip = group[0].clip.whole
        views: list[Fetched] = []
        try:
            frames, meta = self.read(clip, self.info)
            for some in by_pixels(group):
                shown = pixels_of(frames, some[0].clip.pixels)
                views += self._views(some, shown if self.shrink is None else self.shrink(shown), meta)
        except MediaError as error:
            return [Fetched(group, why=str(error), seconds=perf_counter() - began)]
        return [replace(views[0], seconds=perf_counter() - began, decoded=True), *views[1:]]

    def _views(self, group: Sequence[ClipTexts], frames: Frames, meta: VideoMeta) -> list[Fetched]:
        """Return the distinct views of a clip that have the same pixels."""
        if self.by_frame:
            return [Fetched(group, frames=frames, meta=meta, by_frame=True)]
        views: dict[tuple[str, str, tuple[int, ...]], list[ClipTexts]] = {}
        for clip_request in group:
            clip = clip_request.clip
            views.setdefault((clip.before, clip.asks, tuple(clip.order(len(frames)))), []).append(clip_request)
        return [_shown(wants, frames, order, meta) for (_before, _asks, order), wants in views.items()]


def _shown(wants: Sequence[ClipTexts], frames: Frames, order: Sequence[int], meta: VideoMeta) -> Fetched:
    """Return one view. A model does not get the file behind frames in another order, or with other pixels."""
    clip = wants[0].clip
    if list(order) == list(range(len(frames))) and not clip.pixels:
        return Fetched(wants, frames=frames, meta=replace(meta, key=clip.key, before=clip.before, asks=clip.asks))
    changed = VideoMeta(clip.key, meta.times, before=clip.before, asks=clip.asks, seconds=meta.seconds)
    return Fetched(wants, frames=frames, order=order, meta=changed)


def by_pixels(group: Iterable[ClipTexts]) -> list[list[ClipTexts]]:
    """Group the views of a clip that have the same pixels."""
    groups: dict[str, list[ClipTexts]] = {}
    for clip_request in group:
        groups.setdefault(clip_request.clip.pixels, []).append(clip_request)
    return list(groups.values())


def in_batches(groups: Iterable[Sequence[Fetched]], size: int) -> Iterator[list[Fetched]]:
    """Yield batches of about `size`; the views of a clip are in one batch if they fit."""
    batch: list[Fetched] = []
    for group in groups:
        if batch and len(batch) + len(group) > size:
            yield batch
            batch = []
        batch += group
        while len(batch) > size:
            yield batch[:size]
            batch = batch[size:]
    if batch:
        yield batch
