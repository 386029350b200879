"""A film strip for each clip: a few frames side by side, made once and stored, so that lists of clips cost nothing."""

import hashlib
from pathlib import Path

import numpy as np
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from numpy.typing import NDArray

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import SAMPLING_POLICY, jpeg, sample_frames
from foilworks.core.media.probe import probe

FRAMES = 4
# Pixels of one frame, and of the line between two.
HEIGHT, MAX_WIDTH, GAP = 96, 256, 6
# A page of a list shows 25 of them.
MAX_BYTES = 8192
# Of JPEG, from the best to the smallest file (foilworks.core.media.frames.jpeg); below that, the frames get smaller.
QUALITIES = (4, 7, 11, 17, 25, 31)
SMALLER = 0.75


def prepare_video(video: Video) -> None:
    """Store the clip's film strip, and the clock of a file that was stored before clocks were.

    MediaError: the file cannot be used. OSError, CorpusError: the storage cannot be used.
    """
    path = Path(clip_file(video))
    if not video.frame_times:
        video.frame_times = probe(path).clock.packed()
    name = strip_name(video)
    if not default_storage.exists(name):
        default_storage.save(name, ContentFile(_strip(video, path)))
    video.film_strip.name = name
    # A clip that was taken down meanwhile keeps none.
    rows = Video.objects.filter(pk=video.pk, media_state=MediaState.READY, sha256=video.sha256)
    is_kept = rows.update(frame_times=video.frame_times, film_strip=name)
    if not is_kept and not Video.objects.filter(film_strip=name).exists():
        default_storage.delete(name)


def strip_name(video: Video) -> str:
    """Where the strip of this file and trim is stored: clips that show the same share it."""
    contents = (
        f"{video.sha256} {video.start_time} {video.end_time} {FRAMES} {HEIGHT} {MAX_BYTES} {SAMPLING_POLICY} {GAP}"
    )
    key = hashlib.sha256(contents.encode()).hexdigest()
    return f"strips/{key[:2]}/{key}.jpg"


def side_by_side(frames: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Return the frames as one picture with lines between them: white, black and white, visible on any colour."""
    line = np.full((len(frames[0]), GAP, 3), 255, dtype=np.uint8)
    line[:, GAP // 3 : -(GAP // 3)] = 0
    pieces = [piece for frame in frames for piece in (line, frame)]
    return np.concatenate(pieces[1:], axis=1)


def _strip(video: Video, path: Path) -> bytes:
    if not video.width or not video.height:
        raise MediaError(f"{video.key}: has no size; attach its file again")
    height, width = HEIGHT, min(MAX_WIDTH, max(2, round(video.width * HEIGHT / video.height / 2) * 2))
    while True:
        sample = sample_frames(path, FRAMES, video.start_time, video.end_time, (height, width))
        picture = side_by_side(list(sample.frames))
        for quality in QUALITIES:
            strip = jpeg(picture, quality)
            if len(strip) <= MAX_BYTES:
                return strip
        height, width = (max(2, round(side * SMALLER / 2) * 2) for side in (height, width))
