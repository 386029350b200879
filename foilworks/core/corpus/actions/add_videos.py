"""Add video files to a project: each to clips without a file, else as a clip of its own."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from foilworks.core.corpus.actions.attach_media import attach_stored_media
from foilworks.core.corpus.actions.prepare_videos import prepare_later
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.records import MAX_ID
from foilworks.core.corpus.video_files.ingest import StoredMedia, reasons_taken_down, set_media, store_media
from foilworks.core.corpus.video_files.media_folder import spelling
from foilworks.core.corpus.video_files.replaced_files import StoredBytes
from foilworks.core.media import subtitles
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

Progress = Callable[[Iterable[Any], int, str], Iterator[Any]]


def add_videos(
    person: User, project: Project, folder: Path, *, dry_run: bool, progress: Progress
) -> list[dict[str, Any]]:
    """Add every file of the folder (with `dry_run`: only report); return the results by file name.

    {"file", "what", "clips": keys, "error", "conversion"}; what: attached, added, there, differs (from the stored file)
    or broken. A file belongs to the clips without a file whose source id or key is its name, with or without the
    suffix, in whatever spelling. CorpusError: the storage cannot be written.
    """
    require_role(person, project, Role.RESEARCHER)
    files = (path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    # Subtitles are read with the video beside them.
    paths = sorted(path for path in files if path.suffix.lower() not in subtitles.SUFFIXES)
    spelled = _waiting_clips_by_spelling(project)
    answers = [_add(person, project, path, spelled, dry_run) for path in progress(paths, len(paths), "videos")]
    if not dry_run:
        prepare_later(project.pk)
    return answers


def _add(person: User, project: Project, path: Path, spelled: Mapping[str, set[int]], dry_run: bool) -> dict[str, Any]:
    names = (path.name[:MAX_ID], path.stem[:MAX_ID])
    matching_videos = Video.objects.filter(Q(source_id__in=names) | Q(key__in=names), project=project).order_by("pk")
    videos = list(matching_videos.select_related("project")) or _clips_spelled_alike(spelled, path)
    waiting = [video for video in videos if video.media_state not in (MediaState.READY, MediaState.TAKEN_DOWN)]
    clips = [video.key for video in waiting or videos]
    answer = {"file": path.name, "clips": clips, "error": "", "conversion": ""}
    if videos and not waiting:
        ready = [(video, path) for video in videos if video.media_state == MediaState.READY]
        return {**answer, "what": "differs" if StoredBytes(project).differing(ready) else "there"}
    is_film = any((video.start_time, video.end_time) != (None, None) for video in waiting)
    media = store_media(path, copy=not dry_run, is_film=is_film)
    if media.error:
        return {**answer, "what": "broken", "error": media.error}
    if not dry_run:
        _store(person, project, waiting, names[0], media)
    outcome = "attached" if waiting else "added"
    return {**answer, "what": outcome, "clips": answer["clips"] or [names[0]], "conversion": media.conversion}


def _waiting_clips_by_spelling(project: Project) -> Mapping[str, set[int]]:
    """Return spelling -> ids of the clips without a file that have this name."""
    waiting = Video.objects.filter(project=project, media_state__in=(MediaState.MISSING, MediaState.BROKEN))
    by_spelling: defaultdict[str, set[int]] = defaultdict(set)
    for pk, *names in waiting.order_by("pk").values_list("pk", "source_id", "key").iterator():
        for name in filter(None, names):
            by_spelling[spelling(name)].add(pk)
    return by_spelling


def _clips_spelled_alike(spelled: Mapping[str, set[int]], path: Path) -> list[Video]:
    """Return the clips whose name differs only in Unicode form, letter case or blanks."""
    matching_ids = spelled.get(spelling(path.name), set()) | spelled.get(spelling(path.stem), set())
    return list(Video.objects.filter(pk__in=matching_ids).select_related("project").order_by("pk"))


def _store(person: User, project: Project, waiting: list[Video], name: str, media: StoredMedia) -> None:
    for video in waiting:
        attach_stored_media(person, video, media)
    if waiting:
        return
    video = Video(project=project, key=name, source_id=name)
    set_media(video, media, reasons_taken_down(project, [media]))
    try:
        with transaction.atomic():
            video.save()
            audit.record(
                audit.event(
                    project,
                    person,
                    "corpus.add_video",
                    video,
                    to_state=video.media_state,
                    sha256=video.sha256,
                    made_from=media.made_from,
                )
            )
    except IntegrityError as error:
        raise CorpusError(_("Someone else has just added %(name)s. Upload it again.") % {"name": name}) from error
