"""A researcher opens an object check: a sample of frames, one a video, with the objects that were extracted."""

from collections import defaultdict
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.studies.open_baseline import MAX_OVERLAP
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, FrameObjects, ObjectCheck
from annotation.rules.objects import FRAMES, drawn_frames, drawn_time
from annotation.transactions import run_in_transaction, serialize_writes
from corpus.models import MediaState, Video
from jobs.queue import enqueue
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

MAX_FRAMES = 10_000


def open_object_check(
    person: User,
    project: Project,
    source: str,
    *,
    size: int = FRAMES,
    overlap: int = 1,
    seed: int = 0,
    now: datetime | None = None,
) -> ObjectCheck:
    """Draw `size` frames of distinct videos from what `source` extracted; a job makes their pictures, then people look.

    Fewer where fewer videos have objects and a file. AnnotationError where none has.
    """
    require_role(person, project, Role.RESEARCHER)
    if not 1 <= size <= MAX_FRAMES or not 1 <= overlap <= MAX_OVERLAP:
        raise AnnotationError(
            _("Ask for 1 to %(frames)s frames, and for 1 to %(people)s people a frame.")
            % {"frames": MAX_FRAMES, "people": MAX_OVERLAP}
        )
    return run_in_transaction(lambda: _open(person, project, source, size, overlap, seed, now or timezone.now()))


def _open(
    person: User, project: Project, source: str, size: int, overlap: int, seed: int, now: datetime
) -> ObjectCheck:
    serialize_writes(project)
    rows = FrameObjects.objects.filter(project=project, source=source, video__media_state=MediaState.READY)
    by_video: dict[int, list[int]] = defaultdict(list)
    for pk, video in rows.order_by("pk").values_list("pk", "video"):
        by_video[video].append(pk)
    if not by_video:
        raise AnnotationError(_("No video with a file has objects of this source; import objects or videos first."))
    check = ObjectCheck.objects.create(
        project=project, source=source, seed=seed, overlap=overlap, opened_by=person, opened_at=now
    )
    chosen = FrameObjects.objects.select_related("video").in_bulk(drawn_frames(by_video, size, seed))
    CheckedFrame.objects.bulk_create(
        CheckedFrame(
            check_of=check,
            video=row.video,
            time=_time_in(row.video, seed) if row.time is None else row.time,
            objects_named=row.objects_named,
        )
        for _pk, row in sorted(chosen.items())
    )
    audit.record(audit.event(project, person, "open_object_check", check, frames=len(chosen), source=source))
    enqueue("annotation.jobs.pictures_of_frames", check.pk, title=_("Frames to check"), project_id=project.pk)
    return check


def _time_in(video: Video, seed: int) -> float:
    start = video.start_time or 0.0
    end = min(video.end_time or float("inf"), video.duration or start)
    return drawn_time(start, max(start, end), seed, video.pk)
