"""Progress of people in a crowd study, and whom its limits exclude.

What the entry page of a crowd study shows before a person takes a place: pay, guidelines and free tasks.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from annotation.models import Edit, Guideline, ObjectAnswer, Review, Slot, SlotState, Stage, Standing, Vote, VoteState
from annotation.models.stages import stages_shown_as
from annotation.queries.eligibility import may_take_any
from annotation.queries.gold import skipped
from annotation.queries.paid_work import in_words, rate_for
from annotation.queries.queues import free_places, open_work
from foilworks.core.projects.crowd_entry import Entry
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, CrowdWorker, PlaceState, Project, User

# With fewer gold answers, the share means nothing.
MIN_GOLD = 4
NO_WORK = (VoteState.UNDONE, VoteState.SET_ASIDE)


@dataclass(frozen=True)
class Progress:
    """`done` of `asked` tasks; `nothing_left`: no further task is available, and the person holds none."""

    done: int
    asked: int
    nothing_left: bool = False

    @property
    def is_complete(self) -> bool:
        return self.done >= self.asked or (self.nothing_left and self.done > 0)

    @property
    def missing(self) -> int:
        return max(0, self.asked - self.done)


def progress_of(place: CrowdPlace) -> Progress:
    """Return the person's progress since they entered. Two to five queries."""
    study = place.study
    done = _done([place])[place.pk]
    if done >= study.pieces:
        return Progress(done, study.pieces)
    in_hand = _holds_one(place.person_id, study.project_id, study.stage)
    return Progress(done, study.pieces, not in_hand and not open_work(place.person, study.project, study.stage))


def _holds_one(person: int, project: int, stage: str) -> bool:
    held = Slot.objects.filter(person=person, project=project, state=SlotState.LEASED)
    return held.filter(stage__in=stages_shown_as(stage)).exists()


def finished_place(person: User, project: Project, stage: str) -> CrowdPlace | None:
    """Return the person's place in a study of the stage whose tasks are done, if any."""
    place = active_place(person, project, stage)
    return place if place is not None and progress_of(place).is_complete else None


def active_place(person: User, project: Project, stage: str) -> CrowdPlace | None:
    """Return the person's active place in a study of the stage, if any."""
    mine = CrowdPlace.objects.filter(person=person, study__project=project, state=PlaceState.ACTIVE)
    return mine.filter(study__stage=stage).select_related("study__project", "person").first()


def capped_by_place(n: int, person: User, project: Project, stage: str) -> int:
    """Return `n` tasks, or fewer: those that the person's place of the stage, if any, asks for beside the held one."""
    counts = place_counts(person, project, stage)
    if counts is None:
        return n
    done, asked = counts
    return min(n, max(0, asked - done - _holds_one(person.pk, project.pk, stage)))


def place_counts(person: User, project: Project, stage: str) -> tuple[int, int] | None:
    """Return how many tasks the person has done in their place of the stage, of how many; None without a place."""
    place = active_place(person, project, stage)
    return None if place is None else (done_by([place]).get(place.pk, 0), place.study.pieces)


def done_by(places: Sequence[CrowdPlace]) -> dict[int, int]:
    """Return place -> completed tasks, for places of one study. One query."""
    return _done(places)


def places_left(study: CrowdStudy) -> int:
    """Return the number of free places: neither completed nor held by somebody."""
    taken = CrowdPlace.objects.filter(study=study, state__in=(PlaceState.ACTIVE, PlaceState.COMPLETED))
    return max(0, study.places - taken.count())


def gold_share(person: User, project: Project) -> float | None:
    """Return the person's accuracy on gold in the project; None if they saw too little."""
    standing = Standing.objects.filter(policy__project=project, person=person).first()
    if standing is None or standing.gold_seen < max(MIN_GOLD, 1):
        return None
    return standing.gold_right / standing.gold_seen


def under_the_bar(study: CrowdStudy, sent: float | None, person: User | None) -> bool:
    """Return whether the platform's rate, or the accuracy here, is below the study's minimum; unknown ones are not."""
    if study.least_approval is None:
        return False
    known = [sent, gold_share(person, study.project) if person else None]
    return any(rate is not None and rate < study.least_approval for rate in known)


def _done(places: Sequence[CrowdPlace]) -> Counter[int]:
    counts: Counter[int] = Counter()
    if not places:
        return counts
    by_person: dict[int, list[CrowdPlace]] = {}
    for place in places:
        by_person.setdefault(place.person_id, []).append(place)
    since = min(place.entered_at for place in places)
    rows = _work(places[0].study).filter(person__in=by_person, created_at__gte=since)
    for person, at in rows.values_list("person", "created_at"):
        for place in by_person[person]:
            if place.entered_at <= at and (place.ended_at is None or at <= place.ended_at):
                counts[place.pk] += 1
    return counts


def _work(study: CrowdStudy) -> QuerySet:
    """Return submitted tasks of the study's stage that were not undone; surplus ones, too, because they were done."""
    project, stage = study.project_id, study.stage
    if stage == Stage.EDIT:
        return Edit.objects.filter(group__run__project=project, undone_at=None)
    if stage == Stage.REVIEW:
        return Review.objects.filter(candidate__group__run__project=project, undone_at=None)
    if stage == Stage.OBJECTS:
        return ObjectAnswer.objects.filter(frame__check_of__project=project, undone_at=None)
    here = Q(item__subtest__project=project) | Q(gold__project=project)
    return Vote.objects.filter(here, stage__in=stages_shown_as(stage)).exclude(state__in=NO_WORK)


LIVE = (PlaceState.ACTIVE, PlaceState.COMPLETED)
# A person who has done nothing yet: no rule excludes them.
NOBODY = User(pk=0)


def pay_for(study: CrowdStudy, entry: Entry, now: datetime) -> str:
    """Return in words what the person gets for the study's tasks; "" if the project states no rate.

    A person who comes back keeps the rate of the time when they entered.
    """
    own_places = CrowdPlace.objects.filter(_this_visit(entry) | Q(state__in=LIVE), study=study)
    own_places = own_places.filter(person__crowd_workers__in=_workers(study, entry)).order_by("-pk")
    entered_at = own_places.values_list("entered_at", flat=True).first()
    rate = rate_for(study.project, NOBODY.pk, study.stage, entered_at or now)
    return in_words(rate, study.project.pay_policy.currency, study.pieces) if rate else ""


def guideline_for(study: CrowdStudy) -> Guideline | None:
    """Return the newest guidelines of the study's stage. One query."""
    own = Guideline.objects.filter(project=study.project_id, stage=study.stage, subtest=None)
    return own.order_by("-version").first()


def why_no_entry(study: CrowdStudy, entry: Entry, now: datetime) -> str:
    """Return why the person would get no place or no task now: "closed", "full" or "no work"; "" if they may enter.

    A person with a place in the study returns to it, even if no task is left.
    """
    worker = _workers(study, entry).select_related("person").first()
    person = worker.person if worker else NOBODY
    own_places = CrowdPlace.objects.filter(study=study, person=person)
    if worker and own_places.filter(~Q(state=PlaceState.TIMED_OUT) | _this_visit(entry)).exists():
        return ""
    if not study.is_open or study.project.archived_at is not None:
        return "closed"
    late = Q(state=PlaceState.ACTIVE, deadline__lte=now)
    if not places_left(study) and not CrowdPlace.objects.filter(late, study=study).exists():
        return "full"
    return "" if has_work(study, person, now) else "no work"


def _workers(study: CrowdStudy, entry: Entry) -> QuerySet[CrowdWorker]:
    return CrowdWorker.objects.filter(project=study.project_id, platform=study.platform, worker=entry.worker)


def _this_visit(entry: Entry) -> Q:
    return Q(session=entry.session, session__gt="")


def has_work(study: CrowdStudy, person: User, now: datetime) -> bool:
    """Return whether a task of the study's stage is free for the person."""
    if may_take_any(person, study.project, study.stage, now):
        return True
    return study.stage == Stage.VALIDATION and skipped(person.pk, study.project_id).exists()


def waiting_for(study: CrowdStudy) -> int:
    """Return how many slots of the study's stage are free for anybody. One query."""
    return free_places([study.project]).get((study.project_id, study.stage), 0)
