"""A researcher takes a video down: its file and address are gone, its items are out, releases withhold what they froze.

What goes with it: every clip of the project that shows the same file or comes from the same source. What stays: votes,
scores, the audit trail, the hashes of releases, and one row that says why.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.decisions import captions
from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, GoldPair, PracticeCaption, Task
from annotation.transactions import run_in_transaction
from corpus.access import get_video
from corpus.models import Item, MediaState, ReleaseItem, Takedown, Video
from corpus.video_files.stored_files import CLIPS
from generation.models import CandidateGroup
from media.file_cache import FileCache
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

MOVE = "drop_with_video"
# Files of clips, decoded pictures and vectors; what is made again from files that are still there.
CACHES = ("frames", "vectors", CLIPS)


@dataclass(frozen=True)
class Scope:
    """What a takedown of a video takes with it."""

    clips: list[Video]
    n_items: int
    n_released: int
    n_releases: int


def scope_of(video: Video) -> Scope:
    """The clips of the same file or source, the live items on them, the released ones. Four queries."""
    clips = list(_clips(video).order_by("pk"))
    live = Item.objects.filter(video__in=clips, state__in=captions.LIVE_ITEMS).count()
    released = ReleaseItem.objects.filter(video__in=clips)
    return Scope(clips, live, released.count(), released.values("release").distinct().count())


def take_down_video(person: User, slug: str, video_id: int, reason: str, *, now: datetime | None = None) -> Scope:
    """AnnotationError without a reason, and for a clip that was taken down before. AccessDenied for who is no owner."""
    video = get_video(person, slug, video_id, Role.RESEARCHER)
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason stands in every release and export that held the video."))
    return run_in_transaction(lambda: _take_down(person, video, reason.strip()[:500], now or timezone.now()))


def _take_down(person: User, video: Video, reason: str, now: datetime) -> Scope:
    project = video.project
    require_role(person, project, Role.RESEARCHER)
    fresh = Video.objects.select_for_update(of=("self",), no_key=True).get(pk=video.pk)
    if fresh.media_state == MediaState.TAKEN_DOWN:
        raise AnnotationError(_("This video was taken down before."))
    scope = scope_of(fresh)
    _end_work(scope.clips, project, person, reason, now)
    files = _forget_media(scope.clips, project, person, reason, now)
    transaction.on_commit(lambda: _delete(files))
    return scope


def _clips(video: Video) -> QuerySet[Video]:
    same = Q(pk=video.pk)
    if video.sha256:
        same |= Q(sha256=video.sha256)
    if video.source_id:
        same |= Q(source_dataset=video.source_dataset, source_id=video.source_id)
    return Video.objects.filter(same, project=video.project_id).exclude(media_state=MediaState.TAKEN_DOWN)


def _end_work(clips: list[Video], project: Project, person: User, reason: str, now: datetime) -> None:
    """Items and foils on the way are out; nobody is given anything of it, gold and practice included."""
    captions.withdraw_items(Item.objects.filter(video__in=clips), MOVE, project, person, reason, now)
    groups = CandidateGroup.objects.filter(caption__video__in=clips).select_for_update(of=("self",), no_key=True)
    captions.withdraw_candidates(groups, MOVE, project, person, reason, now)
    task_slots.cancel(Task.objects.filter(video__in=clips), now)
    GoldPair.objects.filter(video__in=clips, withdrawn_at=None).update(withdrawn_at=now)
    PracticeCaption.objects.filter(caption__video__in=clips, withdrawn_at=None).update(withdrawn_at=now)


def _forget_media(clips: list[Video], project: Project, person: User, reason: str, now: datetime) -> set[str]:
    """The names of the files that nobody has any more; rows of takedowns, an audit row each."""
    pictures = CheckedFrame.objects.filter(video__in=clips).exclude(image="")
    files = set(pictures.values_list("image", flat=True)) | {clip.file.name for clip in clips if clip.file}
    strips = {clip.film_strip.name for clip in clips if clip.film_strip}
    pictures.update(image="")
    Takedown.objects.bulk_create(
        Takedown(video=clip, sha256=clip.sha256, reason=reason, taken_down_by=person, taken_down_at=now)
        for clip in clips
    )
    audit.record_many(
        audit.event(
            project,
            person,
            "take_down",
            clip,
            from_state=clip.media_state,
            to_state=MediaState.TAKEN_DOWN,
            reason=reason,
            sha256=clip.sha256,
        )
        for clip in clips
    )
    rows = Video.objects.filter(pk__in=[clip.pk for clip in clips])
    rows.update(file="", film_strip="", url="", media_state=MediaState.TAKEN_DOWN, media_error="")
    # Files are kept once by their content: another project may show the same one.
    files -= set(Video.objects.filter(file__in=files).values_list("file", flat=True))
    return files | strips - set(Video.objects.filter(film_strip__in=strips).values_list("film_strip", flat=True))


def _delete(files: Iterable[str]) -> None:
    """A file that stays behind is a picture of the video all the same, so what was decoded from it goes too."""
    for name in files:
        default_storage.delete(name)
    for cache in CACHES:
        FileCache(Path(settings.CACHE_ROOT) / cache, 1).clear()
