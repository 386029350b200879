"""The data of object checks: which objects people saw, which are classified, which remain."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Count, F, Prefetch, Q, QuerySet

from annotation.models import CheckedFrame, FrameState, ObjectAnswer, ObjectCheck, ObjectError, Task, TaskState
from annotation.rules.objects import CheckedObject, seen_by_most
from foilworks.core.projects.models import Project

COUNTED = Q(undone_at=None, slot__isnull=False)


def answered_frames(checks: QuerySet[ObjectCheck]) -> QuerySet[CheckedFrame]:
    """Return frames that have all requested answers, with answers and classes. Three queries."""
    answers = Prefetch("answers", ObjectAnswer.objects.filter(COUNTED).order_by("pk"), to_attr="counted")
    classes = Prefetch("errors_classed", ObjectError.objects.order_by("place"), to_attr="classes")
    full = CheckedFrame.objects.filter(check_of__in=checks, tasks__state=TaskState.DONE)
    return full.order_by("pk").prefetch_related(answers, classes)


def checked_objects(project: Project) -> list[CheckedObject]:
    """Return every checked object of the project, in the order of frames and lists. Three queries."""
    frames = answered_frames(ObjectCheck.objects.filter(project=project))
    return [each for frame in frames for each in _objects(frame)]


def _objects(frame: CheckedFrame) -> Iterator[CheckedObject]:
    """Yield the frame's objects; the frame comes from `answered_frames`."""
    seen = seen_by_most([answer.visible for answer in frame.counted], len(frame.objects_named))
    classes = {row.place: row.error_class for row in frame.classes}
    for place, name in enumerate(frame.objects_named):
        error_class = "" if seen[place] else classes.get(place, "")
        yield CheckedObject(frame.check_of_id, frame.pk, frame.video_id, place, name, seen[place], error_class)


def unseen_places(frame: CheckedFrame) -> set[int]:
    """Return the places of the frame's objects that people did not see; empty until all answers are in. Two queries."""
    if not Task.objects.filter(frame=frame, state=TaskState.DONE).exists():
        return set()
    answers = ObjectAnswer.objects.filter(COUNTED, frame=frame).values_list("visible", flat=True)
    seen = seen_by_most(list(answers), len(frame.objects_named))
    return {place for place, found in enumerate(seen) if not found}


@dataclass(frozen=True)
class Unseen:
    """An object to classify, with its frame and the researcher's progress."""

    frame: CheckedFrame
    place: int
    name: str
    done: int
    total: int


def next_unseen(check: ObjectCheck) -> Unseen | None:
    """Return the check's first object that people did not see and nobody classified, or None."""
    frames = {frame.pk: frame for frame in answered_frames(ObjectCheck.objects.filter(pk=check.pk))}
    unseen = [each for frame in frames.values() for each in _objects(frame) if not each.seen]
    done = sum(bool(each.error_class) for each in unseen)
    first = next((each for each in unseen if not each.error_class), None)
    return Unseen(frames[first.frame], first.place, first.name, done, len(unseen)) if first else None


@dataclass(frozen=True)
class Progress:
    """Progress of a check: frames drawn, broken, and finished."""

    check: ObjectCheck
    frames: int
    broken: int
    answered: int


def checks_of(project: Project) -> list[Progress]:
    """Return the project's checks, newest first. One query."""
    rows = ObjectCheck.objects.filter(project=project).annotate(
        n_frames=Count("frames", distinct=True),
        n_broken=Count("frames", filter=Q(frames__state=FrameState.BROKEN), distinct=True),
        n_answered=Count("frames", filter=Q(frames__tasks__state=TaskState.DONE), distinct=True),
    )
    return [
        Progress(check, check.n_frames, check.n_broken, check.n_answered)
        for check in rows.order_by(F("opened_at").desc(), "-pk")
    ]
