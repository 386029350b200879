"""A film strip for each clip: a few frames side by side, made once and stored, so that lists of clips cost nothing."""

import hashlib
from pathlib import Path

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frames import SAMPLING_POLICY
from foilworks.core.media.probe import probe
from foilworks.core.media.strips import FRAMES, GAP, HEIGHT, MAX_BYTES, strip_of


def prepare_video(video: Video) -> None:
    """Store the clip's film strip, and the clock of a file that was stored before clocks were.

    MediaError: the file cannot be used. OSError, CorpusError: the storage cannot be used.
    """
    path = Path(clip_file(video))
    if not video.frame_times:
        video.frame_times = probe(path).clock.packed()
    name = strip_name(video)
    if not default_storage.exists(name):
        if not video.width or not video.height:
            raise MediaError(f"{video.key}: has no size; attach its file again")
        strip = strip_of(path, (video.width, video.height), video.start_time, video.end_time)
        default_storage.save(name, ContentFile(strip))
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
