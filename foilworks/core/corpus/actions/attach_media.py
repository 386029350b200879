"""Attach a file to a clip that has none, or a broken one; found by id in a folder, or named."""

from collections.abc import Collection
from pathlib import Path

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from foilworks.core.corpus.actions.prepare_videos import prepare_later
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.ingest import StoredMedia, reasons_taken_down, set_media, store_media
from foilworks.core.corpus.video_files.media_folder import MediaFolder
from foilworks.core.corpus.video_files.replaced_files import StoredBytes
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User
from foilworks.core.text.quoting import shortened


def attach_folder(person: User | None, project: Project, folder: Path, source_id: str = "") -> dict[str, int]:
    """Attach files of the folder to all clips of the project without one, or to those of one source.

    A file is found by the clip's source id or key, with or without a video suffix, in whatever spelling; clips that are
    different trims of one source share it. Returns counts of clips: ready, broken, missing; and differing, which have
    another file than the folder and keep it. `person` None is the operator of the command line. CorpusError: no such
    folder, or a link in it leads outside.
    """
    require_researcher(person, project)
    if not folder.is_dir():
        raise CorpusError(
            _("%(folder)s: not a folder. Enter the path of the folder with the media files.") % {"folder": folder}
        )
    has_or_had = (MediaState.READY, MediaState.TAKEN_DOWN)
    waiting = Video.objects.filter(~Q(media_state__in=has_or_had), project=project).order_by("pk")
    counts = {state.value: 0 for state in (MediaState.MISSING, MediaState.READY, MediaState.BROKEN)}
    media_by_path: dict[tuple[Path, bool], StoredMedia] = {}
    files = MediaFolder(folder)
    for video in waiting.filter(source_id=source_id) if source_id else waiting:
        file = files.find([video.source_id, video.key])
        if file is None:
            counts[MediaState.MISSING] += 1
            continue
        is_film = (video.start_time, video.end_time) != (None, None)
        if (file.path, is_film) not in media_by_path:
            media_by_path[file.path, is_film] = store_media(file.path, is_film=is_film)
        counts[attach_stored_media(person, video, media_by_path[file.path, is_film]).media_state] += 1
    prepare_later(project.pk)
    return {**counts, "differing": _n_differing(project, files, source_id, media_by_path)}


def _n_differing(project: Project, files: MediaFolder, source_id: str, attached: Collection[tuple[Path, bool]]) -> int:
    """Count the clips with a file for which the folder has another one; files attached just now are the same."""
    ready = Video.objects.filter(project=project, media_state=MediaState.READY).order_by("pk")
    pairs = []
    for video in ready.filter(source_id=source_id) if source_id else ready:
        file = files.find([video.source_id, video.key])
        if file is not None and not {(file.path, False), (file.path, True)} & set(attached):
            pairs.append((video, file.path))
    return len(StoredBytes(project).differing(pairs))


@transaction.atomic
def attach_stored_media(person: User | None, video: Video, media: StoredMedia) -> Video:
    """Attach a stored file to the clip, with its audit row. CorpusError: it has one meanwhile."""
    before = {"start_time": video.start_time, "end_time": video.end_time, "time_unit": video.time_unit}
    fresh = Video.objects.select_for_update(no_key=True).get(pk=video.pk)
    if fresh.media_state == MediaState.READY or fresh.media_state != video.media_state:
        raise CorpusError(_("The video %(key)s already has a file. Reload the page.") % {"key": shortened(video.key)})
    if fresh.media_state == MediaState.TAKEN_DOWN:
        raise CorpusError(
            _("The video %(key)s was taken down. You cannot attach a file to it.") % {"key": shortened(video.key)}
        )
    old = fresh.media_state
    set_media(fresh, media, reasons_taken_down(fresh.project, [media]))
    fresh.save()
    audit.record(
        audit.event(
            fresh.project,
            person,
            "corpus.attach_media",
            fresh,
            from_state=old,
            to_state=fresh.media_state,
            reason=fresh.media_error,
            sha256=fresh.sha256,
            made_from=media.made_from,
            trim_before=before,
        )
    )
    return fresh
