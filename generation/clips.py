"""Give the clips of captions to the filters of a run that watch them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from foilworks.core.corpus.models import Caption, MediaState, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from generation.pair_measures import needs_clips
from generation.pipeline import Step
from generation.records import CaptionInput, ClipFile


def with_clips(
    filters: Sequence[Step], captions: Sequence[CaptionInput], rows: Mapping[str, Caption]
) -> list[CaptionInput]:
    """Return the captions with their clips, if a filter needs them. `rows`: by the captions' ids. Opens no file."""
    if not any(needs_clips(step.module) for step in filters):
        return list(captions)
    return [replace(caption, clip=clip_of(rows[caption.id].video)) for caption in captions]


def clip_of(video: Video) -> ClipFile | None:
    """Return the clip of a video; None without a usable file."""
    if not video.file or video.media_state != MediaState.READY:
        return None
    return ClipFile(video.key, clip_file(video), video.start_time, video.end_time, video.sha256)
