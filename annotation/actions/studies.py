"""Open the human baseline, choices without the clip and object checks; classify the errors that people found."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.access import checked_frame_for
from annotation.actions.workflow import task_slots
from annotation.errors import AnnotationError
from annotation.models import (
    CheckedFrame,
    FrameObjects,
    ObjectCheck,
    ObjectError,
    ObjectErrorClass,
    Stage,
    Task,
    TaskState,
)
from annotation.queries.object_checks import unseen_places
from annotation.rules.baseline import MAX_TEXTS, drawn
from annotation.rules.objects import FRAMES, Extracted, LineError, drawn_frames, drawn_time, parse_line
from annotation.transactions import lock_rows, run_in_transaction, serialize_writes
from foilworks.core.corpus.models import (
    DROPPED_OUT,
    WATCHABLE,
    Foil,
    Item,
    MediaState,
    Release,
    ReleaseItem,
    Subtest,
    Video,
)
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import quoted

MAX_OVERLAP = 15
MAX_FRAMES = 10_000
BATCH = 1000
FROM_CAPTIONS = "captions"
MAX_ERRORS = 20
NO_ITEMS = gettext_lazy("There are no valid items with a video. Validate items first.")


@dataclass(frozen=True)
class Sample:
    """`size` items (None: all) of a release or the valid ones, drawn by `seed`; each goes to `overlap` people.

    Without a subtest, items of all main subtests.
    """

    release: Release | None = None
    subtest: Subtest | None = None
    size: int | None = None
    overlap: int = 1
    seed: int = 0


def open_baseline(
    person: User,
    project: Project,
    *,
    release: Release | None = None,
    subtest: Subtest | None = None,
    size: int | None = None,
    overlap: int = 1,
    seed: int = 0,
) -> int:
    """Open the human baseline on the items of a `Sample`; return how many are new.

    Each goes to `overlap` people (3 for a majority), with its present foils, from the release or by its verdicts: a
    choice among two to nine texts, the same for everybody. Items already in the baseline stay as they are.
    AnnotationError if there are no items.
    """
    return open_choices(person, project, Stage.BASELINE, Sample(release, subtest, size, overlap, seed))


def open_choices(person: User, project: Project, stage: str, sample: Sample) -> int:
    """Open a study of choices: the human baseline, or the same without the clip. As `open_baseline`."""
    require_role(person, project, Role.RESEARCHER)
    if (sample.size is not None and sample.size < 1) or not 1 <= sample.overlap <= MAX_OVERLAP:
        raise AnnotationError(_("Enter at least one item, and 1 to %(most)s people per item.") % {"most": MAX_OVERLAP})
    if any(row is not None and row.project_id != project.pk for row in (sample.release, sample.subtest)):
        raise AnnotationError(_("Choose a release and a subtest of this project."))
    return run_in_transaction(lambda: _open(person, project, stage, sample))


def why_no_baseline(project: Project) -> str | Promise:
    """Return why no baseline can be opened now (no release and no valid item); "" if one can."""
    can = Release.objects.filter(project=project).exists() or baseline_items(project, None, None).exists()
    return "" if can else NO_ITEMS


def baseline_items(project: Project, release: Release | None, subtest: Subtest | None) -> QuerySet[Item]:
    """Return the items that people can be asked about: accepted, with a video to watch."""
    items = Item.objects.filter(subtest__project=project, video__media_state__in=WATCHABLE)
    if release is not None:
        items = items.filter(released_as__release=release).exclude(state__in=[ItemState.RETRACTED, ItemState.REQUEUED])
    else:
        items = items.filter(state=ItemState.VALID)
    return items.filter(subtest=subtest) if subtest else items.filter(subtest__kind=Subtest.Kind.MAIN)


def _open(person: User, project: Project, stage: str, sample: Sample) -> int:
    serialize_writes(project)
    items = baseline_items(project, sample.release, sample.subtest)
    sampled = drawn(list(items.order_by("pk").values_list("pk", flat=True)), sample.size, sample.seed)
    if not sampled:
        raise AnnotationError(str(NO_ITEMS))
    tasks_of_study = Task.objects.filter(stage=stage, project=project).exclude(state=TaskState.CANCELLED)
    open_items = set(tasks_of_study.values_list("item_id", flat=True))
    fresh = [pk for pk in sampled if pk not in open_items]
    # A parallel removal of an item either waits and cancels these tasks, or came first: then the item is gone.
    lock_rows(Item.objects.filter(pk__in=fresh))
    rows = items.in_bulk(fresh)
    foils = _foils_asked([pk for pk in fresh if pk in rows], sample.release)
    tasks = [
        Task(
            project=project,
            stage=stage,
            video_id=rows[pk].video_id,
            item=rows[pk],
            overlap=sample.overlap,
            foils_asked=foils[pk],
        )
        for pk in fresh
        if 1 <= len(foils[pk]) < MAX_TEXTS
    ]
    task_slots.store(tasks)
    details = {"sample": len(sampled), "overlap": sample.overlap, "seed": sample.seed}
    details["release"] = sample.release.pk if sample.release else None
    audit.record(audit.event(project, person, f"open_{stage}", project, opened=len(tasks), **details))
    return len(tasks)


def _foils_asked(items: Sequence[int], release: Release | None) -> dict[int, list[int]]:
    """Return each item's foils: those of the release, or without one the present ones."""
    foils = Foil.objects.filter(item__in=items).order_by("item_id", "position")
    frozen: dict[int, list[int]] = {}
    if release is None:
        foils = foils.exclude(DROPPED_OUT)
    else:
        members = ReleaseItem.objects.filter(release=release, item__in=items)
        frozen = dict(members.values_list("item_id", "record__foil_positions"))
    foils_by_item: dict[int, list[int]] = defaultdict(list)
    for item, position, pk in foils.values_list("item_id", "position", "pk"):
        if release is None or position in frozen[item]:
            foils_by_item[item].append(pk)
    return foils_by_item


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
    """Draw `size` frames of distinct videos with objects from `source`; a job makes their images for people.

    Fewer if fewer videos have objects and a file. AnnotationError if none has.
    """
    require_role(person, project, Role.RESEARCHER)
    if not 1 <= size <= MAX_FRAMES or not 1 <= overlap <= MAX_OVERLAP:
        raise AnnotationError(
            _("Enter 1 to %(frames)s frames, and 1 to %(people)s people per frame.")
            % {"frames": MAX_FRAMES, "people": MAX_OVERLAP}
        )
    return run_in_transaction(lambda: _open_frames(person, project, source, size, overlap, seed, now or timezone.now()))


def _open_frames(
    person: User, project: Project, source: str, size: int, overlap: int, seed: int, now: datetime
) -> ObjectCheck:
    serialize_writes(project)
    rows = FrameObjects.objects.filter(project=project, source=source, video__media_state=MediaState.READY)
    by_video: dict[int, list[int]] = defaultdict(list)
    for pk, video in rows.order_by("pk").values_list("pk", "video"):
        by_video[video].append(pk)
    if not by_video:
        raise AnnotationError(_("No video with a file has objects from this source. Import objects or videos first."))
    check = ObjectCheck.objects.create(
        project=project, source=source, seed=seed, overlap=overlap, opened_by=person, opened_at=now
    )
    drawn_frames_by_id = FrameObjects.objects.select_related("video").in_bulk(drawn_frames(by_video, size, seed))
    CheckedFrame.objects.bulk_create(
        CheckedFrame(
            check_of=check,
            video=row.video,
            time=_time_in(row.video, seed) if row.time is None else row.time,
            objects_named=row.objects_named,
        )
        for _pk, row in sorted(drawn_frames_by_id.items())
    )
    audit.record(
        audit.event(project, person, "open_object_check", check, frames=len(drawn_frames_by_id), source=source)
    )
    enqueue("annotation.extract_frames", check.pk, title=_("Frames to check"), project_id=project.pk)
    return check


def _time_in(video: Video, seed: int) -> float:
    start = video.start_time or 0.0
    end = min(video.end_time or float("inf"), video.duration or start)
    return drawn_time(start, max(start, end), seed, video.pk)


def import_objects(
    person: User | None, project: Project, lines: Iterable[str], *, name: str, source: str = "import"
) -> int:
    """Store a file of extracted objects, one JSON object per line; return its number of frames.

    docs/reference/formats.md describes the file. `person` None: the operator of the server. Replaces the source's
    earlier objects of the videos in the file. AnnotationError lists the bad lines as PATH:LINE: FIELD: what, and
    nothing is stored.
    """
    require_researcher(person, project)
    rows, errors = _read(project, lines, name, source)
    if errors:
        raise AnnotationError("\n".join(errors))
    if not rows:
        raise AnnotationError(f"{name}:1: line: the file contains no frame; write one JSON object per line")
    return run_in_transaction(lambda: _store(person, project, rows))


def ask_for_nouns(person: User, project: Project) -> Job:
    """Queue the job that stores the nouns of every caption as the objects of its clip."""
    require_role(person, project, Role.RESEARCHER)
    return enqueue("annotation.extract_nouns", project.pk, title=_("Objects from captions"), project_id=project.pk)


def store_objects(project: Project, rows: list[tuple[int, Extracted]]) -> None:
    """Replace the objects of the rows' sources and videos (ids beside them), in the caller's transaction."""
    by_source: dict[str, set[int]] = {}
    for video, row in rows:
        by_source.setdefault(row.source, set()).add(video)
    for source, videos in by_source.items():
        ids = sorted(videos)
        for start in range(0, len(ids), BATCH):
            FrameObjects.objects.filter(project=project, source=source, video__in=ids[start : start + BATCH]).delete()
    FrameObjects.objects.bulk_create(
        (
            FrameObjects(
                project=project, video_id=video, time=row.time, objects_named=list(row.objects), source=row.source
            )
            for video, row in rows
        ),
        batch_size=BATCH,
    )


def _read(
    project: Project, lines: Iterable[str], name: str, source: str
) -> tuple[list[tuple[int, Extracted]], list[str]]:
    rows: list[tuple[int, Extracted]] = []
    errors: list[str] = []
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    while batch := list(islice(numbered, BATCH)):
        parsed: list[tuple[int, Extracted]] = []
        for number, line in batch:
            try:
                parsed.append((number, parse_line(line, source)))
            except LineError as error:
                errors.append(f"{name}:{number}: {error}")
        keys = {row.key for _number, row in parsed}
        ids = dict(Video.objects.filter(project=project, key__in=keys).values_list("key", "pk"))
        for number, row in parsed:
            if row.key in ids:
                rows.append((ids[row.key], row))
            else:
                errors.append(f"{name}:{number}: video: the project has no video {quoted(row.key)}; import it first")
        if len(errors) >= MAX_ERRORS:
            return rows, [*errors[:MAX_ERRORS], f"{name}: the remaining lines were not read"]
    return rows, errors


def _store(person: User | None, project: Project, rows: list[tuple[int, Extracted]]) -> int:
    serialize_writes(project)
    store_objects(project, rows)
    sources = sorted({row.source for _video, row in rows})
    audit.record(audit.event(project, person, "import_objects", project, frames=len(rows), sources=sources[:20]))
    return len(rows)


def classify_object(
    person: User, project: Project, frame_id: int, object_index: int, error_class: str, *, now: datetime | None = None
) -> ObjectError:
    """Set the error class of the object at `object_index` in the frame's list; replaces an earlier class.

    AnnotationError for an unknown class, and for an object that people saw or have not checked.
    """
    if error_class not in ObjectErrorClass.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(ObjectErrorClass.values)})
    return run_in_transaction(
        lambda: _class(person, project, frame_id, object_index, error_class, now or timezone.now())
    )


def _class(
    person: User, project: Project, frame_id: int, object_index: int, error_class: str, now: datetime
) -> ObjectError:
    frame = checked_frame_for(person, project, frame_id, Role.RESEARCHER)
    CheckedFrame.objects.select_for_update(no_key=True).get(pk=frame.pk)
    if object_index not in unseen_places(frame):
        raise AnnotationError(_("People saw this object or have not checked it yet, so it cannot be classified."))
    row, _made = ObjectError.objects.update_or_create(
        frame=frame,
        place=object_index,
        defaults={"error_class": error_class, "classed_by": person, "classed_at": now},
    )
    audit.record(audit.event(project, person, "class_object", row, to_state=error_class))
    return row
