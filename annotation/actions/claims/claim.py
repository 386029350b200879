"""A person requests the next task of a stage and gets a lease on it.

Free the work of a person who has lost a role.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import count
from time import monotonic
from typing import Any

from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.claims import gold_slots
from annotation.actions.leases import leasing
from annotation.actions.leases.leasing import end_lease
from annotation.actions.quality import standings
from annotation.actions.workflow.make_tasks import make_tasks, task_groups
from annotation.errors import AnnotationError, Conflict
from annotation.models import Ending, Lease, Slot, SlotState, Stage, Standing
from annotation.models.stages import stages_shown_as
from annotation.queries.assignments import tasks_left
from annotation.queries.cards import CARD_ROWS, Claim, claim_of
from annotation.queries.eligibility import (
    JUDGING,
    Leakage,
    bars,
    leakage_of,
    may_take_any,
    places_ahead,
    skipped_by,
    slots_in_scope,
)
from annotation.queries.lookahead import SPREAD, behind, with_what_follows
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_consent, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.projects.sql.prepared_queries import Prepared
from foilworks.core.text.quoting import shortened

ROLE_OF_STAGE = {
    Stage.EDIT: Role.ANNOTATOR,
    Stage.REVIEW: Role.REVIEWER,
    Stage.VALIDATION: Role.VALIDATOR,
    Stage.BASELINE: Role.ANNOTATOR,
    Stage.UNSEEN: Role.ANNOTATOR,
    Stage.OBJECTS: Role.ANNOTATOR,
}
# Waiting candidates create tasks of these stages.
OF_CANDIDATES = frozenset({Stage.EDIT, Stage.REVIEW})
# How long others may be faster before the person must request again. Not a number of tries: if tasks arrive one at a
# time, some of many people lose every round although each round serves somebody.
CLAIM_TIMEOUT_S = 8.0
# Groups for which one claim makes tasks at most, so that it stays quick behind a large run.
MAX_GROUPS_PER_CLAIM = 1_000
# Number of slots among which the next task is chosen: with more, two people rarely prefer the same one.
LOOKAHEAD_SLOTS = 18
# Skipped tasks that are counted before one of them is drawn.
MAX_SKIPPED = 100


def _leased(stage: str) -> Prepared[Slot]:
    """Return the person's leased slots of the stage and the project's expired ones, newest first."""
    leased = Slot.objects.filter(state=SlotState.LEASED).order_by("-leased_at")
    return Prepared(
        lambda project, person, now: leased.filter(
            Q(person=person, stage__in=stages_shown_as(stage)) | Q(expires_at__lte=now), project=project
        )
    )


_LEASED = {stage: _leased(stage) for stage in ROLE_OF_STAGE}


@cache
def _ahead(stage: str, *, caption_once: bool) -> Prepared[int]:
    """Return the next slots in the queue."""
    return Prepared(
        lambda project, person: behind(project, stage, person, caption_once=caption_once).values_list("pk", flat=True)[
            :LOOKAHEAD_SLOTS
        ]
    )


@cache
def first_place(leakage: Leakage, stage: str, *, skipped: bool, patient: bool) -> Prepared[Slot]:
    """Return the first slot that the person may have, locked; of the tasks that they skipped, or of the others.

    Its key alone: beside so many conditions, PostgreSQL takes the cost of any join for nothing. It read whole tables
    of videos, captions and foils for each slot.
    """

    def build(person: int, project: int, now: datetime) -> QuerySet[Slot]:
        slots = slots_in_scope(leakage, stage, person=person, project=project, now=now).only("pk")
        # Skips those that others have locked, or waits for them if `patient`.
        slots = slots.select_for_update(skip_locked=not patient, of=("self",), no_key=True)
        return (slots.filter if skipped else slots.exclude)(skipped_by(person))[:1]

    return Prepared(build)


@cache
def _shown_place(stage: str) -> Prepared[Slot]:
    """Return the slot with what its card shows."""
    rows = Slot.objects.select_related("project", "video", *CARD_ROWS[Stage(stage)])
    return Prepared(lambda pk: rows.filter(pk=pk))


@cache
def _next_place(leakage: Leakage) -> Prepared[tuple[int, int]]:
    """Return (slot, video) of the first review that the person may have except `pk`."""
    return Prepared(
        lambda pk, **whose: slots_in_scope(leakage, Stage.REVIEW, **whose).exclude(pk=pk).values_list("pk", "video")[:1]
    )


def _with_card(slots: QuerySet[Slot], leakage: Leakage, stage: str, **whose: int) -> QuerySet[Slot]:
    """Add what the card of judged slots shows, without the project, which the caller has, and what follows them."""
    rows = slots.select_related("video", *CARD_ROWS[Stage(stage)]).order_by()
    return with_what_follows(rows, stage, **whose, caption_once=leakage.caption_once, gold=leakage.gold)


@cache
def _judged_place(leakage: Leakage, stage: str) -> Prepared[Slot]:
    """Return slot `pk`, which the caller has locked, with its card and what follows it."""
    return Prepared(lambda pk, **whose: _with_card(Slot.objects.filter(pk=pk), leakage, stage, **whose))


@cache
def named_place(leakage: Leakage, stage: str) -> Prepared[Slot]:
    """Return slot `pk` with its card and what follows it, locked, if it may be theirs and nobody locks it.

    The caller checks that it is free. By its key alone: if the condition named the state, PostgreSQL would read the
    index of all free slots.
    """

    def build(pk: int, person: int, project: int, now: datetime, rest: int) -> QuerySet[Slot]:
        slots = Slot.objects.filter(pk=pk, project=project, stage=stage, person=None)
        slots = slots.exclude(bars(person, leakage, stage, now).any() | Q(skipped_by(person)))
        rows = _with_card(slots, leakage, stage, person=person, project=project, rest=rest)
        return rows.select_for_update(skip_locked=True, of=("self",), no_key=True)

    return Prepared(build)


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
    project's policy says so. An archived project gives out nothing new, nor does a quota that is done. `preferred`: the
    slot that the last claim named as upcoming, taken if it is still free: its clip is already loaded. AccessDenied
    without the stage's role, AnnotationError for a stage without claims, NotAdmitted for a person who is paused or not
    yet qualified.
    """
    if stage not in ROLE_OF_STAGE:
        raise AnnotationError(_("The stage '%(stage)s' has no tasks to claim.") % {"stage": shortened(stage)})
    require_role(person, project, ROLE_OF_STAGE[Stage(stage)])
    require_consent(person, project)
    moment = now or timezone.now()
    if project.archived_at is not None or tasks_left(person, project, stage) == 0:
        return run_in_transaction(lambda: _running(_Asked(person, project, stage, moment, patient=True)))
    ends = monotonic() + CLAIM_TIMEOUT_S
    for attempt in count():
        request = _Asked(person, project, stage, moment, patient=attempt > 0)
        try:
            claimed = run_in_transaction(lambda asked=request: _claim(asked, preferred))
        except (IntegrityError, Conflict):
            if attempt:
                raise
            continue
        if claimed is not None:
            return claimed
        new_tasks = make_tasks(project, limit=MAX_GROUPS_PER_CLAIM, only_if_first=True)
        if not request.anything():
            # The rules may keep this person from all the new tasks, and not from those after them.
            if new_tasks and monotonic() < ends:
                continue
            return None
        if monotonic() > ends:
            break
    raise AnnotationError(_("Too many people are requesting tasks right now. Try again."))


def _claim(request: _Asked, preferred: int | None) -> Claim | None:
    """Look at the queue once."""
    person, project, stage, now = request.person, request.project, request.stage, request.now
    serialize_writes(person)
    standing = standings.admitted(person, project, now) if stage == Stage.VALIDATION else None
    running = _running(request)
    if stage in OF_CANDIDATES:
        task_groups(project, limit=MAX_GROUPS_PER_CLAIM)
    if running is not None:
        return running
    if standing is not None:
        gold_slots.fill_up(standing, person)
    if stage in JUDGING:
        following = next_slot(person, project, stage, standing, now, preferred=None if request.patient else preferred)
        if following is not None:
            return _opened(request, following, standing)
    return _take(request, standing, skipped=False) or _take_skipped(request, standing)


@dataclass
class NextSlot:
    """A locked, free slot that a person may judge next, and the (slot, video) that is offered after it."""

    slot: Slot
    upcoming: tuple[int, int] | tuple[None, None]
    # Whether the caption is first, if the slot does not decide it.
    caption_first: bool | None = None


def next_slot(
    person: User, project: Project, stage: str, standing: Standing | None, now: datetime, *, preferred: int | None
) -> NextSlot | None:
    """Return gold if it is due, else the slot that was offered, else one that is offered to nobody.

    Taking the first of the queue instead would take another person's offered slot, and so on for everybody. Gold takes
    as many statements as other work: timing must not reveal it. No gold without real work: it would be all that
    remains. `standing`: the status of a person who is admitted.
    """
    whose = {"person": person.pk, "project": project.pk, "rest": secrets.randbelow(SPREAD)}
    if standing is not None and gold_slots.is_due(standing):
        pk, _video = standing.gold_ahead[0]
        slot = gold_slots.waiting_place(caption_once=project.judge_caption_once).first(pk=pk, **whose)
        if slot is None or slot.following is not None:
            standing.gold_ahead.pop(0)
        if slot is not None and slot.following is not None:
            return _next_slot(slot, standing, gold_slots.caption_first(standing, person))
    if preferred is None:
        return None
    # Without a quality policy, nobody knows answers from gold or practice.
    gold = standing is not None or stage != Stage.VALIDATION
    place_by_pk = named_place(leakage_of(project, gold=gold), stage)
    slot = place_by_pk.first(pk=preferred, now=now, **whose)
    if slot is None or slot.state != SlotState.FREE:
        ahead = _ahead(stage, caption_once=project.judge_caption_once).all(project=project.pk, person=person.pk)
        slot = place_by_pk.first(pk=secrets.choice(ahead), now=now, **whose) if ahead else None
    return _next_slot(slot, standing) if slot is not None and slot.state == SlotState.FREE else None


def _next_slot(slot: Slot, standing: Standing | None, caption_first: bool | None = None) -> NextSlot:
    gold = None if standing is None else gold_slots.upcoming(standing)
    following = slot.following or {"slot": None, "video": None}
    return NextSlot(slot, gold or (following["slot"], following["video"]), caption_first)


def open_next(
    following: NextSlot, person: User, project: Project, standing: Standing | None, now: datetime, ended: Lease | None
) -> Claim:
    """Lease the slot, in the statements that end the lease of the person's last judgement, if any.

    IntegrityError if the person has another slot in the item.
    """
    slot, (upcoming, video) = following.slot, following.upcoming
    slot.project = project
    lease = leasing.new_lease(slot, person, now, following.caption_first)
    lease.standing, lease.upcoming_slot = standing, upcoming
    leasing.open_judgement(lease, ended)
    return claim_of(lease, slot, upcoming_video=video, with_rows=True)


def _opened(request: _Asked, following: NextSlot, standing: Standing | None, *, skipped: bool = False) -> Claim:
    opened = open_next(following, request.person, request.project, standing, request.now, None)
    if standing is not None:
        standings.count_piece(standing, gold=following.slot.stage == Stage.GOLD)
    return replace(opened, skipped_before=skipped)


def _take_skipped(request: _Asked, standing: Standing | None) -> Claim | None:
    """Take a skipped task, which come last.

    Includes gold: if gold never came back, people would recognize it.
    """
    if standing is not None and standing.policy.gold_rate:
        n_others = len(places_ahead(request.person, request.project, request.stage, request.now, MAX_SKIPPED))
        slot = gold_slots.take_skipped(
            standing, request.person, n_others, caption_once=request.project.judge_caption_once
        )
        if slot is not None:
            before = Lease.objects.filter(slot=slot, person=request.person).latest("pk")
            following = _next_slot(slot, standing, bool(before.caption_first))
            return _opened(request, following, standing, skipped=True)
    return _take(request, standing, skipped=True)


def _running(request: _Asked) -> Claim | None:
    """Return the person's running lease of the stage; frees the project's expired leases first."""
    project, now = request.project, request.now
    looked_at = _LEASED[request.stage].all(**request.whose)
    if any(slot.expires_at <= now for slot in looked_at):
        leasing.sweep(project.pk, now)
        leased = Slot.objects.filter(project=project, state=SlotState.LEASED, stage__in=stages_shown_as(request.stage))
        looked_at = list(leased.filter(person=request.person).order_by("-leased_at"))
    if not looked_at:
        return None
    return claim_of(Lease.objects.get(token=looked_at[0].token), looked_at[0], resumed=True)


def _take(request: _Asked, standing: Standing | None, *, skipped: bool) -> Claim | None:
    """Lease the first free slot, of the tasks that the person skipped or of the others.

    It is locked. Conflict or IntegrityError if something else has just changed; the claim then starts again.
    """
    leakage, stage, patient = leakage_of(request.project), request.stage, request.patient
    slot = first_place(leakage, stage, skipped=skipped, patient=patient).first(**request.whose)
    return None if slot is None else _leased_to(request, slot.pk, standing, skipped=skipped)


def _leased_to(request: _Asked, pk: int, standing: Standing | None, *, skipped: bool) -> Claim:
    if request.stage in JUDGING:
        whose = {"person": request.person.pk, "project": request.project.pk, "rest": secrets.randbelow(SPREAD)}
        judged = _judged_place(leakage_of(request.project), request.stage).first(pk=pk, **whose)
        assert judged is not None, "the slot is locked"
        return _opened(request, _next_slot(judged, standing), standing, skipped=skipped)
    slot = _shown_place(request.stage).first(pk=pk)
    assert slot is not None, "the slot is locked"
    upcoming, video = None, None
    if request.stage == Stage.REVIEW:
        # With few reviewers, who each take the first allowed slot: this one, unless another is faster.
        upcoming, video = _next_place(leakage_of(request.project)).first(pk=pk, **request.whose) or (None, None)
    with audit.in_one_statement():
        lease = leasing.open_lease(slot, request.person, request.now, upcoming=upcoming)
    return claim_of(lease, slot, skipped_before=skipped, upcoming_video=video, with_rows=True)


def end_leases_of_roles(project: Project, person: User, lost_roles: Collection[str], actor: User, now: datetime) -> int:
    """End the person's leases and reservations in the stages of `lost_roles`; return how many leases ended.

    Without the role, nothing more is accepted under these leases; with it again, submissions are stored as late work.
    """
    stages = [stage for desk, role in ROLE_OF_STAGE.items() if role in lost_roles for stage in stages_shown_as(desk)]
    of_stages = Slot.objects.filter(project=project, stage__in=stages)
    leased = of_stages.filter(person=person, state=SlotState.LEASED)
    slots = list(leased.select_for_update(of=("self",), no_key=True).select_related("task", "project"))
    for slot in slots:
        end_lease(slot, Ending.CANCELLED, now, actor)
    of_stages.filter(reserved_for=person).update(reserved_for=None, reserved_until=None)
    return len(slots)
