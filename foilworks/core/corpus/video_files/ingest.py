"""Store media files: find them below a folder, probe them by decoding, store them by hash."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from django.core.files.storage import default_storage

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.limits import decode_within, trim_problem, video_limits
from foilworks.core.corpus.models import MediaState, Takedown, Video
from foilworks.core.corpus.video_files.stored_files import opaque_name, store
from foilworks.core.media import subtitles
from foilworks.core.media.errors import MediaError
from foilworks.core.projects.models import Project

if TYPE_CHECKING:
    from foilworks.core.media.probe import VideoFacts

# Below the number of variables that every database takes in one statement.
FILES_PER_QUERY = 500
SUFFIXES = ("", ".mp4", ".webm", ".mov", ".mkv", ".avi")


@dataclass(frozen=True)
class StoredMedia:
    """A file as it is in storage (`name`), or why it cannot be used (`error`, in one line).

    `original`: the file that it is a playable copy of, None if it is that file itself. `conversion`: how and why the
    copy was made, in one sentence. `subtitles`: the text of the subtitle file beside it.
    """

    name: str = ""
    facts: "VideoFacts | None" = None
    error: str = ""
    original: "VideoFacts | None" = None
    conversion: str = ""
    subtitles: str = ""

    @property
    def made_from(self) -> str:
        """SHA-256 of the original, "" where there is none."""
        return self.original.sha256 if self.original else ""


def find_media(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the first file below `folder` with one of the names, with or without a video suffix, or None.

    CorpusError if a link leads out of the folder: nothing outside is read, whatever a data set says.
    """
    root = folder.resolve()
    for name in names:
        if not name or not stays_below(name):
            continue
        for suffix in SUFFIXES:
            path = folder / f"{name}{suffix}"
            try:
                if not path.is_file():
                    continue
            except OSError:  # a name that no file system holds
                continue
            real = path.resolve()
            if not real.is_relative_to(root):
                raise CorpusError(f"{name}: is a link out of the media folder; copy the file itself into the folder")
            return real
    return None


def stays_below(name: str) -> bool:
    """Return whether a relative path stays below the folder that it is joined to."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\x00" not in name


def store_media(path: Path, *, copy: bool = True, is_film: bool = False) -> StoredMedia:
    """Probe the file and copy it into storage under the opaque name of its content: equal files are stored once.

    What browsers do not show alike is stored as a copy that they do. With `copy` False nothing is stored. `is_film`:
    clips are cut out of it, so their lengths are limited, not the file's. A file that cannot be used is not
    an exception: the error is the answer. CorpusError: the storage cannot be written.
    """
    # Imported here, because a web process only queues such jobs.
    from foilworks.core.media.playable import make_playable
    from foilworks.core.media.probe import probe

    limits = video_limits(is_film=is_film)
    try:
        facts = decode_within(limits, probe, path)
        if facts.browser_playable:
            return replace(_stored(path, facts, copy), subtitles=subtitles.beside(path))
        with TemporaryDirectory() as folder:
            playable = decode_within(limits, make_playable, path, facts, Path(folder))
            stored = _stored(playable.path, playable.facts, copy)
            words = playable.words
            return replace(stored, original=facts, conversion=words, subtitles=subtitles.beside(path))
    except MediaError as error:
        return StoredMedia(error=str(error).replace(str(path), path.name))
    except OSError as error:
        raise CorpusError(f"{path}: cannot be stored ({error.strerror}); free space in the media storage") from error


def _stored(path: Path, facts: "VideoFacts", copy: bool) -> StoredMedia:
    stem = opaque_name(facts.sha256)
    name = f"videos/{stem[:2]}/{stem}.{facts.container}"
    if copy and _stored_bytes(name) != facts.size_bytes:
        store(path, name)
    return StoredMedia(name=name, facts=facts)


def _stored_bytes(name: str) -> int | None:
    try:
        return default_storage.size(name)
    except FileNotFoundError:
        return None


def set_media(video: Video, media: StoredMedia, taken_down: Mapping[str, str]) -> None:
    """Put the file, or what is wrong with it, on the row; the caller saves. `taken_down`: see `reasons_taken_down`.

    A clip that was taken down stays so. A file that was taken down from the project comes in under no other key either.

    A trim in pts or frames becomes seconds with the file that is taken: from then on everybody counts in seconds. A
    file that is refused leaves it as it is, for its ticks and frames are those of another.
    """
    if video.media_state == MediaState.TAKEN_DOWN:
        return
    facts = media.facts
    start, end = _trim_in_seconds(video, media)
    error = media.error or _why_refused(media, taken_down)
    if facts is not None:
        error = error or _trim_error(start, end, facts)
    video.media_error = error[:500]
    if facts is None or error:
        video.media_state = MediaState.BROKEN
        return
    video.media_state = MediaState.READY
    video.start_time, video.end_time, video.time_unit = start, end, "sec"
    video.file.name = media.name
    video.sha256 = facts.sha256
    video.duration, video.fps, video.n_frames = facts.duration, facts.fps, facts.n_frames
    video.width, video.height = facts.width, facts.height
    video.frame_times, video.conversion = facts.clock.packed(), media.conversion[:500]
    video.film_strip.name = ""
    video.subtitles = media.subtitles or video.subtitles


def reasons_taken_down(project: Project, files: Iterable[StoredMedia]) -> dict[str, str]:
    """Return SHA-256 -> reason of files that were taken down from the project.

    One query per 500 files.
    """
    hashes = sorted({sha256 for media in files for sha256 in _hashes(media)})
    reasons: dict[str, str] = {}
    for start in range(0, len(hashes) if project.pk else 0, FILES_PER_QUERY):
        takedowns = Takedown.objects.filter(video__project=project, sha256__in=hashes[start : start + FILES_PER_QUERY])
        reasons.update(takedowns.values_list("sha256", "reason"))
    return reasons


def _hashes(media: StoredMedia) -> set[str]:
    return {media.facts.sha256, media.made_from} - {""} if media.facts else set()


def _why_refused(media: StoredMedia, taken_down: Mapping[str, str]) -> str:
    reason = next((taken_down[sha256] for sha256 in _hashes(media) if sha256 in taken_down), None)
    return "" if reason is None else f"this file was taken down from the project: {reason}"


# What `set_media` may change, for bulk updates.
MEDIA_FIELDS = (
    "file",
    "sha256",
    "media_state",
    "media_error",
    "start_time",
    "end_time",
    "time_unit",
    "duration",
    "fps",
    "n_frames",
    "width",
    "height",
    "frame_times",
    "conversion",
    "film_strip",
    "subtitles",
)


def _trim_in_seconds(video: Video, media: StoredMedia) -> tuple[float | None, float | None]:
    """Start and end by the clock and the frames of the file as it came: those of a playable copy are others."""
    start, end, facts = video.start_time, video.end_time, media.original or media.facts
    if facts is None or video.time_unit == "sec":
        return start, end
    second = facts.seconds if video.time_unit == "pts" else facts.frame_start
    # Frames before the first one a player shows are dropped; the clip starts at the first shown frame.
    begin = None if start is None else max(0.0, second(start))
    return begin, None if end is None else second(end)


def _trim_error(start: float | None, end: float | None, facts: "VideoFacts") -> str:
    """Return why the trim (seconds) is not inside the file, or "". An end beyond the file is the file's end."""
    begin = start or 0.0
    if begin >= facts.duration:
        return f"the clip starts at {begin:g} s, but the file has only {facts.duration:g} s; attach the uncut video"
    if end is not None and end <= begin:
        return f"the clip ends at {end:g} s, not after its start at {begin:g} s; attach the uncut video"
    first, last = facts.clock.frames_within(start, end)
    return trim_problem(min(end or facts.duration, facts.duration) - begin, last - first + 1)
