"""The installation's caches of frames and vectors, as a run under a protocol uses them."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.scoring.protocol_models import sampling
from evaluation.scoring.protocols import Protocol
from evaluation.scoring.vector_cache import VectorCache
from hub.interfaces import ModelInfo
from media.file_cache import FileCache
from media.frame_cache import FORM_VERSIONS, FORMS, JPEG, LOSSLESS, FrameCache
from media.sampling import INTERVALS, VERSIONS


@dataclass(frozen=True)
class Caches:
    """`suffix` goes behind a model's key where frames are not those of the video, or are chosen otherwise than by the
    first version: such scores are others."""

    frames: FrameCache
    vectors: VectorCache | None
    suffix: str


def caches(protocol: Protocol, info: ModelInfo, dtype: str = "float32") -> Caches:
    """EvaluationError: the setting names no form. MediaError: the model's interval is no number of seconds."""
    form = settings.FRAME_CACHE_FORM
    if form not in FORMS:
        raise EvaluationError(f"FOILWORKS_FRAME_CACHE_FORM is '{form}'; write one of: {', '.join(FORMS)}")
    # A model that asks for a size gets frames of that size, never compressed.
    form = LOSSLESS if protocol.lossless or info.size is not None or not info.needs_video else form
    frames = FrameCache(_files("frames", settings.FRAME_CACHE_BYTES), form)
    files = _files("vectors", settings.VECTOR_CACHE_BYTES)
    # Another number format gives other values: they are kept, and named, apart.
    extra = "" if dtype == "float32" else dtype
    vectors = VectorCache(files, frames, protocol, extra) if files is not None else None
    told = [FORM_VERSIONS[JPEG]] if form == JPEG else []
    # How many frames an interval policy takes changed with its version: one key must not hold scores of both.
    if sampling(protocol, info).policy == INTERVALS:
        told.append(VERSIONS[INTERVALS])
    return Caches(frames, vectors, "".join(f" {part}" for part in [*told, *filter(None, [extra])]))


def _files(name: str, limit: int) -> FileCache | None:
    return FileCache(Path(settings.CACHE_ROOT) / name, limit) if limit > 0 else None
