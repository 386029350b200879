"""Vectors of clips, kept by the video's bytes, its trim, the frames that were taken and the model: encoded once.

In float32 they are the very rows that were computed, so that scores from kept ones are equal to the bit.
"""

import io
from dataclasses import dataclass

import numpy as np

from evaluation.scoring.loop import Clip
from evaluation.scoring.protocol_models import sampling
from evaluation.scoring.protocols import Protocol
from hub.interfaces import ModelInfo
from media.errors import MediaError
from media.file_cache import FileCache, content_key
from media.frame_cache import FrameCache

FORMAT = "vectors/1"
# A row that is larger costs more to read than it saves: BLIP-2's patches of eight frames have 11 MB.
MAX_ROW_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class VectorCache:
    """`frames` says how clips are decoded, `extra` what else the rows depend on (number format, ...)."""

    files: FileCache
    frames: FrameCache
    protocol: Protocol
    extra: str = ""

    def get(self, clip: Clip, info: ModelInfo) -> np.ndarray | None:
        """The row as it was computed; None where it is not kept, or its entry is broken."""
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
        # What is no number is asked again: it may have been the machine.
        if not key or row.nbytes > MAX_ROW_BYTES or not np.isfinite(row).all():
            return
        data = io.BytesIO()
        np.save(data, np.asarray(row, np.float32), allow_pickle=False)
        self.files.put(key, data.getvalue())

    def _key(self, clip: Clip, info: ModelInfo) -> str:
        """Empty for a clip that cannot be known by its content."""
        if clip.path is None:
            return ""
        try:
            frames = self.frames.key(
                clip.path, sampling(self.protocol, info), clip.start, clip.end, info.size, clip.content
            )
        except MediaError:
            return ""
        return content_key(format=FORMAT, frames=frames, model=info.model_id, revision=info.revision, extra=self.extra)
