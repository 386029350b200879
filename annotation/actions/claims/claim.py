"""A person requests the next task of a stage and gets a lease on it."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import count
from time import monotonic
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.claims import gold_slots
from annotation.actions.leases import leasing
from annotation.actions.quality import standings
from annotation.actions.workflow.make_tasks import make_tasks, task_groups
from annotation.claims import Claim, claim_of
from annotation.errors import AnnotationError, Conflict
from annotation.models import Lease, Slot, SlotState, Stage, Standing, Task
from annotation.models.stages import stages_shown_as
from annotation.queries.eligibility import (
    AS_STARTED,
    FRESH_PLACE,
    JUDGING,
    Leakage,
    answered_or_known,
    bars,
    declined_by,
    leakage_of,
    may_take_any,
    person_facts,
    places_ahead,
    shown_a_sentence,
    skipped_by,
    slots_in_scope,
    task_facts,
)
from annotation.queries.lookahead import behind, with_what_follows
from annotation.rules.eligibility import why_not
from annotation.rules.ordering import FRESH
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_consent, require_role
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.prepared import Prepared, PreparedUpdate
from foilworks.core.text.quoting import shortened

ROLE_OF_STAGE = {
    Stage.EDIT: Role.ANNOTATOR,
    Stage.REVIEW: Role.REVIEWER,
    Stage.VALIDATION: Role.VALIDATOR,
    Stage.BASELINE: Role.ANNOTATOR,
    Stage.OBJECTS: Role.ANNOTATOR,
}
# Waiting candidates create tasks of these stages.
OF_CANDIDATES = frozenset({Stage.EDIT, Stage.REVIEW})
# What the card of a judged item shows, read with its slot.
_ITEM = ("project", "video", "task__item__caption", "task__item__subtest")
SHOWN = {Stage.VALIDATION: (*_ITEM, "task__foil"), Stage.BASELINE: _ITEM}
# How long others may be faster before the person must request again. Not a number of tries: if tasks arrive one at a
# time, some of many people lose every round although each round serves somebody.
CLAIM_TIMEOUT_S = 8.0
# Slots that are tried in one look at the queue.
MAX_CANDIDATE_SLOTS = 5
# Groups for which one claim makes tasks at most, so that it stays quick behind a large run.
MAX_GROUPS_PER_CLAIM = 1_000
# Number of slots among which the next task is chosen: with more, two people rarely prefer the same one. The current
# task may have some of them.
LOOKAHEAD_SLOTS = 18
# Skipped tasks that are counted before one of them is drawn.
MAX_SKIPPED = 100
# Slot, video, task, its slots, priority of the slot.
Ahead = tuple[int, int, int, int, float]


@cache
def _free_place(stage: str, *, caption_once: bool) -> Prepared[Slot]:
    """Return slot `pk` with what its card and rule read, locked, if nobody holds or locks it.

    The caller checks that it is free. By its key alone: if the condition named the state, PostgreSQL would read the
    index of all free slots.
    """
    rows = Slot.objects.select_related(*SHOWN[Stage(stage)], "task__item__candidate_group")
    rows = rows.select_for_update(skip_locked=True, of=("self",), no_key=True)

    def build(pk: int, project: int, person: int) -> QuerySet[Slot]:
        found = rows.filter(~Exists(declined_by(person)), pk=pk, project=project, stage=stage, person=None)
        found = found.exclude(answered_or_known(person, stage))
        return found.exclude(shown_a_sentence(person, stage)) if caption_once else found

    return Prepared(build)


def _leased(stage: str) -> Prepared[Slot]:
    """Return the person's leased slots of the stage and the project's expired ones, newest first."""
    leased = Slot.objects.filter(state=SlotState.LEASED).order_by("-leased_at")
    return Prepared(
        lambda project, person, now: leased.filter(
            Q(person=person, stage__in=stages_shown_as(stage)) | Q(expires_at__lte=now), project=project
        )
    )


# Looked up for each of the few slots: PostgreSQL may read all tasks first if it joins them.
_SLOTS = Subquery(Task.objects.filter(pk=OuterRef("task")).values("overlap"))
_AHEAD = ("pk", "video", "task", _SLOTS, "priority")
_LEASED = {stage: _leased(stage) for stage in ROLE_OF_STAGE}


@cache
def _ahead(stage: str, *, caption_once: bool) -> Prepared[Ahead]:
    """Return the next slots in the queue."""
    return Prepared(
        lambda project, person: behind(project, stage, person, caption_once=caption_once).values_list(*_AHEAD)[
            :LOOKAHEAD_SLOTS
        ]
    )


def places_behind(person: User, project: Project) -> Sequence[Ahead]:
    """Return the next slots of the validation queue, of which any may be claimed."""
    prepared = _ahead(Stage.VALIDATION, caption_once=project.judge_caption_once)
    return prepared.all(project=project.pk, person=person.pk)


@cache
def _ahead_of_others(stage: str, *, caption_once: bool) -> Prepared[Ahead]:
    """Return the next slots of other tasks, if the current task has all slots that are next."""

    def build(project: int, person: int, task: int, video: int) -> QuerySet:
        found = behind(project, stage, person, caption_once=caption_once).exclude(task=task)
        return (found.exclude(video=video) if caption_once else found).values_list(*_AHEAD)[:LOOKAHEAD_SLOTS]

    return Prepared(build)


def _begun(pk: int, task: int) -> tuple[QuerySet, dict]:
    """Return those of the other slots that nobody has locked: a holder may wait for this one."""
    places = Slot.objects.filter(Q(pk=pk) | FRESH_PLACE, task=task).select_for_update(skip_locked=True, no_key=True)
    return Slot.objects.filter(pk__in=places.values("pk")), {"priority": AS_STARTED}


_START = PreparedUpdate(_begun)


@cache
def first_place(leakage: Leakage, stage: str, *, skipped: bool, patient: bool) -> Prepared[Slot]:
    """Return the first slot that the person may have, locked; of the tasks that they skipped, or of the others.

    Its key alone: beside so many conditions, PostgreSQL takes the cost of any join for nothing. It read whole tables
    of videos, captions and foils for each slot.
    """

    def build(person: int, project: int, now: datetime) -> QuerySet[Slot]:
        slots = _open_places(leakage, stage, patient=patient, person=person, project=project, now=now)
        return (slots.filter if skipped else slots.exclude)(skipped_by(person))[:1]

    return Prepared(build)


@cache
def _shown_place(stage: str) -> Prepared[Slot]:
    """Return the slot with what its card shows."""
    rows = Slot.objects.select_related(*SHOWN.get(Stage(stage), ("task", "project")))
    return Prepared(lambda pk: rows.filter(pk=pk))


@cache
def _next_place(leakage: Leakage, stage: str) -> Prepared[tuple[int, int]]:
    """Return (slot, video) of the first slot that the person may have except `pk`."""
    return Prepared(
        lambda pk, **whose: slots_in_scope(leakage, stage, **whose).exclude(pk=pk).values_list("pk", "video")[:1]
    )


@cache
def named_place(leakage: Leakage) -> Prepared[Slot]:
    """Return slot `pk` of the validation with what its card shows and what follows it, locked, if it may be theirs.

    As in `_free_place`, the caller checks that it is free.
    """

    def build(pk: int, person: int, project: int, now: datetime, rest: int) -> QuerySet[Slot]:
        slots = Slot.objects.filter(pk=pk, project=project, stage=Stage.VALIDATION, person=None)
        slots = slots.exclude(bars(person, leakage, Stage.VALIDATION, now).any() | Q(skipped_by(person)))
        # Without the project, which the caller has.
        slots = slots.select_related(*(path for path in SHOWN[Stage.VALIDATION] if path != "project")).order_by()
        whose = {"person": person, "project": project, "rest": rest}
        options = {"caption_once": leakage.caption_once, "gold": leakage.gold}
        found = with_what_follows(slots, Stage.VALIDATION, **whose, **options)
        return found.select_for_update(skip_locked=True, of=("self",), no_key=True)

    return Prepared(build)


def _open_places(leakage: Leakage, stage: str, *, patient: bool, **whose: Any) -> QuerySet[Slot]:
    """Return free slots; skips those that others have locked, or waits for them if `patient`."""
    slots = slots_in_scope(leakage, stage, **whose).only("pk")
    return slots.select_for_update(skip_locked=not patient, of=("self",), no_key=True)


@dataclass(frozen=True)
class _Asked:
    """One request for a task: the person, the kind of task and the time.

    `patient`: wait for slots that others have locked instead of skipping them.
    """

    person: User
    project: Project
    stage: str
    now: datetime
    patient: bool
    # The next slots, looked up before the write begins, because the write blocks others.
    ahead: Sequence[Ahead] = ()

    @property
    def whose(self) -> dict[str, Any]:
        """Return the parameters of the queue's query."""
        return {"person": self.person.pk, "project": self.project.pk, "now": self.now}

    def anything(self) -> bool:
        """Return whether the rules let the person have any slot, locked or not."""
        return may_take_any(self.person, self.project, self.stage, self.now)


def claim(
    person: User, project: Project, stage: str, *, preferred: int | None = None, now: datetime | None = None
) -> Claim | None:
    """Return the person's running lease of this stage, a lease on their next allowed slot, or None.

    Started tasks come before new ones, and tasks that the person skipped come last. Validation contains gold if the
    project's policy says so. An archived project gives out nothing new. `preferred`: the slot that the last claim named
    as upcoming, taken if it is still free: its clip is already loaded. AccessDenied without the stage's role,
    AnnotationError for a stage without claims, NotAdmitted for a person who is paused or not yet qualified.
    """
    if stage not in ROLE_OF_STAGE:
        raise AnnotationError(_("The stage '%(stage)s' has no tasks to claim.") % {"stage": shortened(stage)})
    require_role(person, project, ROLE_OF_STAGE[Stage(stage)])
    require_consent(person, project)
    moment = now or timezone.now()
    if project.archived_at is not None:
        return run_in_transaction(lambda: _running(_Asked(person, project, stage, moment, patient=True)))
    ends = monotonic() + CLAIM_TIMEOUT_S
    for attempt in count():
        ahead: Sequence[Ahead] = ()
        if stage in JUDGING:
            once = project.judge_caption_once
            ahead = _ahead(stage, caption_once=once).all(project=project.pk, person=person.pk)
        asked = _Asked(person, project, stage, moment, patient=attempt > 0, ahead=ahead)
        try:
            found = run_in_transaction(lambda asked=asked: _claim(asked, preferred))
        except IntegrityError:
            if attempt:
                raise
            continue
        if found is not None:
            return found
        made = make_tasks(project, limit=MAX_GROUPS_PER_CLAIM, only_if_first=True)
        if not asked.anything():
            # The rules may keep this person from all the new tasks, and not from those after them.
            if made and monotonic() < ends:
                continue
            return None
        if monotonic() > ends:
            break
    raise AnnotationError(_("Too many people are requesting tasks right now. Try again."))


def _claim(asked: _Asked, preferred: int | None) -> Claim | None:
    """Look at the queue once."""
    person, project, stage, now = asked.person, asked.project, asked.stage, asked.now
    serialize_writes(person)
    standing = standings.admitted(person, project, now) if stage == Stage.VALIDATION else None
    running = _running(asked)
    if stage in OF_CANDIDATES:
        task_groups(project, limit=MAX_GROUPS_PER_CLAIM)
    if running is not None:
        return running
    gold_slots.fill_up(standing, person)
    if found := _take_gold(asked, standing):
        return found
    if not asked.patient and (found := _take_named(asked, preferred, standing)):
        return found
    return _take(asked, standing, skipped=False) or _take_skipped(asked, standing)


def _take_skipped(asked: _Asked, standing: Standing | None) -> Claim | None:
    """Take a skipped task, which come last.

    Includes gold: if gold never came back, people would recognize it.
    """
    if standing is not None and standing.policy.gold_rate:
        others = len(places_ahead(asked.person, asked.project, asked.stage, asked.now, MAX_SKIPPED))
        slot = gold_slots.take_skipped(standing, asked.person, others)
        if slot is not None:
            before = Lease.objects.filter(slot=slot, person=asked.person).latest("pk")
            return gold_slots.open_gold_lease(
                slot, standing, asked.person, asked.now, *_upcoming(asked, slot, standing), before=before
            )
    return _take(asked, standing, skipped=True)


def _take_gold(asked: _Asked, standing: Standing | None) -> Claim | None:
    """Take gold if it is due, in as many statements as a named slot: timing must not reveal gold.

    No gold without real work: it would be all that remains.
    """
    if standing is None or not gold_slots.is_due(standing) or not asked.anything():
        return None
    slot = gold_slots.take(standing, asked.person)
    if slot is None:
        return None
    found = gold_slots.open_gold_lease(slot, standing, asked.person, asked.now, *_upcoming(asked, slot, standing))
    if asked.ahead:
        # Of the tasks that could be here, this share would have been started.
        *_next, overlap, priority = secrets.choice(asked.ahead)
        _start(slot, overlap, priority)
    return found


def _take_named(asked: _Asked, preferred: int | None, standing: Standing | None) -> Claim | None:
    """Take the promised slot; if somebody has it, one that is not promised to anybody.

    Taking the first of the queue instead would take another person's promised slot, and so on for everybody.
    IntegrityError if the person has another slot in the item.
    """
    if preferred is None or asked.stage not in SHOWN:
        return None
    if found := _take_place(asked, preferred, standing):
        return found
    return _take_place(asked, secrets.choice(asked.ahead)[0], standing) if asked.ahead else None


def _take_place(asked: _Asked, wanted: int, standing: Standing | None) -> Claim | None:
    """Take the slot if it is free and the rule allows it."""
    person, project = asked.person, asked.project
    free = _free_place(asked.stage, caption_once=project.judge_caption_once)
    slot = free.first(pk=wanted, project=project.pk, person=person.pk)
    if slot is None or slot.state != SlotState.FREE:
        return None
    task = task_facts(slot, asked.now)
    # The query has already checked whether they answered the item.
    if why_not(person_facts(person, task, answered=()), task, project.leakage_scope):
        return None
    return _leased_to(asked, slot, standing)


def _running(asked: _Asked) -> Claim | None:
    """Return the person's running lease of the stage; frees the project's expired leases first."""
    project, now = asked.project, asked.now
    looked_at = _LEASED[asked.stage].all(**asked.whose)
    if any(slot.expires_at <= now for slot in looked_at):
        leasing.sweep(project.pk, now)
        leased = Slot.objects.filter(project=project, state=SlotState.LEASED, stage__in=stages_shown_as(asked.stage))
        looked_at = list(leased.filter(person=asked.person).order_by("-leased_at"))
    if not looked_at:
        return None
    return claim_of(Lease.objects.get(token=looked_at[0].token), looked_at[0], resumed=True)


def _take(asked: _Asked, standing: Standing | None, *, skipped: bool) -> Claim | None:
    """Lease the first free slot, of the tasks that the person skipped or of the others."""
    leakage, stage, patient = leakage_of(asked.project), asked.stage, asked.patient
    place = first_place(leakage, stage, skipped=skipped, patient=patient).first(**asked.whose)
    tried: list[int] = []
    while place is not None and (slot := _shown_place(stage).first(pk=place.pk)) is not None:
        found = _lease(asked, slot, standing, skipped=skipped)
        if found is not None or len(tried) == MAX_CANDIDATE_SLOTS:
            return found
        tried.append(slot.pk)
        others = _open_places(leakage, stage, patient=patient, **asked.whose).exclude(pk__in=tried)
        place = (others.filter if skipped else others.exclude)(skipped_by(asked.person.pk)).first()
    return None


def _lease(asked: _Asked, slot: Slot, standing: Standing | None, *, skipped: bool) -> Claim | None:
    """Lease the slot; None if somebody was faster, or the person has another slot in the item."""
    try:
        with transaction.atomic():
            return _leased_to(asked, slot, standing, skipped=skipped)
    except (IntegrityError, Conflict):
        return None


def _leased_to(asked: _Asked, slot: Slot, standing: Standing | None, *, skipped: bool = False) -> Claim:
    upcoming, video = _upcoming(asked, slot, standing)
    lease = leasing.open_lease(slot, asked.person, asked.now, upcoming=upcoming, standing=standing)
    _start(slot, slot.task.overlap, slot.priority)
    gold_slots.count_served(standing, gold=False)
    rows = slot.stage in JUDGING
    return claim_of(lease, slot, skipped_before=skipped, upcoming_video=video, with_rows=rows)


def _upcoming(asked: _Asked, slot: Slot, standing: Standing | None) -> tuple[int | None, int | None]:
    """Return (slot, video) offered next, so that its clip can load; nothing is reserved.

    A random one of the next in the queue: everybody would choose the very next one. Gold, if it is due.
    """
    if asked.stage == Stage.REVIEW:
        # With few reviewers, who each take the first allowed slot: this one, unless another is faster.
        found = _next_place(leakage_of(asked.project), asked.stage).first(pk=slot.pk, **asked.whose)
        return found or (None, None)
    if standing is not None and (gold := gold_slots.upcoming(standing)) is not None:
        return gold
    once = asked.project.judge_caption_once
    others = [each for each in asked.ahead if each[2] != slot.task_id and not (once and each[1] == slot.video_id)]
    if not others and len(asked.ahead) == LOOKAHEAD_SLOTS:
        whose = {"project": asked.project.pk, "person": asked.person.pk, "video": slot.video_id}
        others = _ahead_of_others(asked.stage, caption_once=once).all(task=slot.task_id, **whose)
    return secrets.choice(others)[:2] if others else (None, None)


def _start(slot: Slot, overlap: int, priority: float) -> None:
    """Move all slots of a started task before those of new tasks, including this one if it is freed again."""
    if overlap > 1 and priority >= FRESH:
        _START(pk=slot.pk, task=slot.task_id)
