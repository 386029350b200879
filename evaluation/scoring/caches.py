"""Provide the installation's caches of frames and vectors, as a run under a protocol uses them."""

import io
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.scoring.cluster_decoding import elsewhere
from evaluation.scoring.fetching import Clip
from evaluation.scoring.protocol_models import clip_request, sampling
from evaluation.scoring.protocols import Protocol
from evaluation.scoring.rungs import SHUFFLED_VIEW
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import FileCache, content_key
from foilworks.core.media.frame_cache import FORM_VERSIONS, FORMS, JPEG, LOSSLESS, FrameCache
from foilworks.core.media.sampling import INTERVALS, VERSIONS

FORMAT = "vectors/1"


# Reading a larger row takes longer than computing it: BLIP-2's patches of eight frames have 11 MB.
MAX_ROW_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class VectorCache:
    """`frames` says how clips are decoded. The model's revision names the number format."""

    files: FileCache
    frames: FrameCache
    protocol: Protocol

    def get(self, clip: Clip, info: ModelInfo) -> np.ndarray | None:
        """Return the row as it was computed; None if it is not cached, or its entry is broken."""
        key = self._key(clip, info)
        data = self.files.get(key) if key else None
        if data is None:
            return None
        try:
            return np.load(io.BytesIO(data), allow_pickle=False)
        except (ValueError, OSError, EOFError):
            self.files.drop(key)
            return None

    def put(self, clip: Clip, info: ModelInfo, row: np.ndarray) -> None:
        key = self._key(clip, info)
        # A value that is not a number is computed again: the machine may have been at fault.
        if not key or row.nbytes > MAX_ROW_BYTES or not np.isfinite(row).all():
            return
        data = io.BytesIO()
        np.save(data, np.asarray(row, np.float32), allow_pickle=False)
        self.files.put(key, data.getvalue())

    def _key(self, clip: Clip, info: ModelInfo) -> str:
        """Return the key of a clip; empty without a known content hash."""
        if clip.path is None:
            return ""
        try:
            frames = self.frames.key(clip_request(clip, clip.path, self.protocol, info))
        except MediaError:
            return ""
        # `extra` once held the number format; without it, every stored vector would be computed again.
        view = f"{clip.view} {clip.seed}" if clip.view == SHUFFLED_VIEW else clip.view
        return content_key(format=FORMAT, frames=frames, model=info.model_id, revision=info.revision, extra=view)


@dataclass(frozen=True)
class Caches:
    """`suffix` extends a model's key if frames are compressed, or chosen by a later version: such scores differ."""

    frames: FrameCache
    vectors: VectorCache | None
    suffix: str


def caches(protocol: Protocol, info: ModelInfo) -> Caches:
    """Open the caches of a run.

    EvaluationError: the setting names no format. MediaError: the model's interval is not a number of seconds.
    """
    form = settings.FRAME_CACHE_FORM
    if form not in FORMS:
        raise EvaluationError(f"FOILWORKS_FRAME_CACHE_FORM is '{form}'; write one of: {', '.join(FORMS)}")
    # A model that requests a size gets frames of that size, never compressed.
    form = LOSSLESS if protocol.lossless or info.size is not None or not info.needs_video else form
    frames = FrameCache(_files("frames", settings.FRAME_CACHE_BYTES), form, elsewhere())
    files = _files("vectors", settings.VECTOR_CACHE_BYTES)
    vectors = VectorCache(files, frames, protocol) if files is not None else None
    suffixes = [FORM_VERSIONS[JPEG]] if form == JPEG else []
    # The number of frames of an interval policy changed with its version: one key must not mix scores of both.
    if sampling(protocol, info).policy == INTERVALS:
        suffixes.append(VERSIONS[INTERVALS])
    return Caches(frames, vectors, "".join(f" {suffix}" for suffix in suffixes))


def _files(name: str, limit: int) -> FileCache | None:
    return _opened(Path(settings.CACHE_ROOT) / name, limit) if limit > 0 else None


@lru_cache(maxsize=8)
def _opened(folder: Path, limit: int) -> FileCache:
    """Open a cache once per process: each new one counts the files of the whole folder at its first write."""
    return FileCache(folder, limit)
