"""Provide frames of clips by index, decoded once if memory permits, as the models of a training need them."""

from collections.abc import Sequence

from evaluation.errors import EvaluationError
from evaluation.scoring.caches import caches
from evaluation.scoring.fetching import Clip
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from foilworks.core.corpus.models import ReleaseItem, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.interfaces import Frames, ModelInfo, VideoMeta

PROTOCOL = PROTOCOLS["foilworks"]
# Maximum bytes of decoded frames in memory; further ones are read from the installation's cache again.
KEPT_BYTES = 2 * 1024**3


class Footage:
    """Call it with an index to get that clip's frames; `show_to` first sets the model that will use them."""

    def __init__(self, clips: Sequence[Clip]) -> None:
        self.clips = clips
        self._cache: dict[int, tuple[Frames, VideoMeta]] = {}
        self._free_bytes = KEPT_BYTES

    def show_to(self, info: ModelInfo) -> None:
        self._info = info
        self._read = reader(PROTOCOL, caches(PROTOCOL, info).frames)

    def __call__(self, index: int) -> tuple[Frames, VideoMeta]:
        """Return the frames of the clip. MediaError: the file cannot be decoded."""
        clip_frames = self._cache.get(index)
        if clip_frames is None:
            clip_frames = self._read(self.clips[index], self._info)
            if clip_frames[0].nbytes <= self._free_bytes:
                self._free_bytes -= clip_frames[0].nbytes
                self._cache[index] = clip_frames
        return clip_frames


def clip_of(video: Video) -> Clip:
    """Return the clip as it is. EvaluationError: it has no file."""
    if not video.file:
        raise EvaluationError(f"{video.key}: has no video file; attach it, then train again")
    return Clip(video.key, clip_file(video), video.start_time, video.end_time, video.sha256)


def frozen_clip(member: ReleaseItem) -> Clip:
    """Return the clip as frozen, with its frozen trim."""
    video, frozen = member.video, member.record["video"]
    assert video is not None  # held_out_of leaves the others out
    trim = frozen if frozen["time_unit"] == "sec" else {"start_time": video.start_time, "end_time": video.end_time}
    return Clip(video.key, clip_file(video), trim["start_time"], trim["end_time"], video.sha256)
