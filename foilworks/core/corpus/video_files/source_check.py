"""Find clips of a project whose files are lost or changed, and files whose names nearly match a clip.

Reads clips one by one, in the order of their files, so that equal files are read once and memory stays small.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from django.core.files.storage import default_storage
from django.db.models import QuerySet

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.limits import decode
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.address_check import AddressCheck
from foilworks.core.corpus.video_files.media_folder import MediaFolder
from foilworks.core.corpus.video_files.replaced_files import StoredBytes
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.media.errors import MediaError
from foilworks.core.media.probe import probe
from foilworks.core.projects.models import Project

# Seconds by which durations of two readings of one file may differ.
SAME_DURATION_S = 0.01
Progress = Callable[[Iterable[Video], int, str], Iterator[Video]]


class SourceProblem(NamedTuple):
    """A clip, its problem in words, and the kind of problem as `--json` names it."""

    clip: str
    kind: str
    problem: str


def source_problems(
    project: Project, clips: QuerySet[Video], folder: Path | None, addresses: AddressCheck | None, progress: Progress
) -> Iterator[SourceProblem]:
    """Yield the problems of these clips of the project.

    `folder`: where files for clips without one are looked for, and compared with the stored ones; `addresses`: checks
    clips that play from elsewhere. CorpusError: no such folder.
    """
    if folder is not None and not folder.is_dir():
        raise CorpusError(f"{folder}: not a folder; give the path of the folder with the media files")
    files = MediaFolder(folder) if folder is not None else None
    rows = clips.exclude(media_state=MediaState.TAKEN_DOWN).defer("frame_times").order_by("file", "pk")
    stored = _StoredFiles(project)
    for clip in progress(rows.iterator(), rows.count(), "checking"):
        if clip.media_state == MediaState.READY:
            yield from stored.problems(clip)
            if files is not None and not clip.conversion:
                yield from stored.differing_copy(clip, files)
            continue
        if clip.media_state == MediaState.BROKEN:
            yield SourceProblem(clip.key, "broken", f"its file cannot be used: {clip.media_error}")
        elif (
            clip.media_state == MediaState.ELSEWHERE and addresses is not None and (why := addresses.problem(clip.url))
        ):
            yield SourceProblem(clip.key, "dead_address", f"{clip.url}: {why}")
        if files is not None:
            yield from _name(clip, files)


class _StoredFiles:
    """Files in storage and in the folder, each read once while its clips follow each other."""

    def __init__(self, project: Project) -> None:
        self._bytes = StoredBytes(project)
        self._last: tuple[str, str] = ("", "")
        self._stored_problem: tuple[str, str] | None = None

    def problems(self, clip: Video) -> Iterator[SourceProblem]:
        if self._last != (clip.file.name, clip.sha256):
            self._last, self._stored_problem = (clip.file.name, clip.sha256), _stored(clip)
        if self._stored_problem is not None:
            yield SourceProblem(clip.key, *self._stored_problem)

    def differing_copy(self, clip: Video, files: MediaFolder) -> Iterator[SourceProblem]:
        """Compare the source file in the folder with the stored one, which is a copy of it."""
        media_file = files.find([clip.source_id, clip.key])
        if media_file is not None and self._bytes.differing([(clip, media_file.path)]):
            sha256 = self._bytes.sha256(media_file.path)
            problem = (
                f"the file {media_file.name} in the folder is not the one that was imported (SHA-256 {sha256[:12]})"
            )
            yield SourceProblem(clip.key, "source_changed", problem)


def _stored(clip: Video) -> tuple[str, str] | None:
    """Return (kind, problem) of the clip's stored file, None if it is what was stored."""
    try:
        with default_storage.open(clip.file.name) as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return "file_missing", "its stored file is missing; attach it again, or restore a backup"
    except OSError as error:
        return "file_unreadable", f"its stored file cannot be read ({error.strerror or error})"
    if sha256 == clip.sha256:
        return None
    return (
        "file_changed",
        f"its stored file has changed: SHA-256 {sha256[:12]}, not {clip.sha256[:12]}{_duration(clip)}",
    )


def _duration(clip: Video) -> str:
    try:
        duration = decode(probe, Path(clip_file(clip))).duration
    except (MediaError, OSError) as error:
        return f"; it is no longer a readable video ({error})"
    if clip.duration is None or abs(duration - clip.duration) <= SAME_DURATION_S:
        return ", with the same duration"
    return f"; it has {duration:.2f} s, not {clip.duration:.2f} s"


def _name(clip: Video, files: MediaFolder) -> Iterator[SourceProblem]:
    names = [clip.source_id, clip.key]
    file = files.find(names)
    if file is not None:
        differs = f", whose name differs in {file.differs_in}" if file.differs_in else ""
        yield SourceProblem(clip.key, "not_attached", f"the folder has its file {file.name}{differs}; attach it")
    elif similar_name := files.similar(names):
        problem = (
            f"no file has its name {names[0] or names[1]}, but {similar_name} is close; rename the file if it is meant"
        )
        yield SourceProblem(clip.key, "near_name", problem)
    elif clip.media_state == MediaState.MISSING:
        yield SourceProblem(clip.key, "no_file", "neither the project nor the folder has a file for it")
