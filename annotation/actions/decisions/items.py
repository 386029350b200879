"""Decisions about an item: adjudicate it, queue it again, retract it."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.assembly import unlink_main_items
from annotation.actions.workflow.groups import advance, locked_group, reopened_group
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import Involvement, Stage, Task
from annotation.queries.eligibility import involvements_of
from annotation.rules.adjudication import why_not_settle
from annotation.rules.eligibility import PriorInvolvement
from annotation.transactions import Refused, run_in_transaction
from corpus.models import Foil, Item
from corpus.rules.states import CandidateState, FoilVerdict, ItemState
from generation.models import Candidate, CandidateGroup
from projects import audit
from projects.models import Role, User

OUTCOMES = (ItemState.VALID, ItemState.INVALID)
ROLES = (Role.RESEARCHER, Role.REVIEWER)


def adjudicate(person: User, item_id: int, outcome: str, reason: str, *, now: datetime | None = None) -> Item:
    """Decide a disputed item as valid or invalid; its disputed pairs take the outcome. Votes stay as they are.

    AnnotationError without a reason, WorkRefused for who made, reviewed or judged something on the video, IllegalMove
    for an item that is not disputed.
    """
    if outcome not in OUTCOMES:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(OUTCOMES)})
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason is kept with the item."))
    return run_in_transaction(lambda: _adjudicate(person, item_id, outcome, reason.strip(), now or timezone.now()))


def _adjudicate(person: User, item_id: int, outcome: str, reason: str, now: datetime) -> Item | Refused:
    item = locked_item(item_for(person, item_id, *ROLES).pk)
    project = item.subtest.project
    group = CandidateGroup.objects.filter(item=item).values_list("pk", flat=True).first()
    refusal = why_not_settle(
        involvements_of(person, item.video_id), PriorInvolvement(item.video_id, group), project.leakage_scope
    )
    if refusal is not None:
        return Refused(refusal)
    move_item(item, "adjudicate", project, person, outcome=outcome, reason=reason, also={"decided_at": now})
    verdict = FoilVerdict.VALID if outcome == ItemState.VALID else FoilVerdict.INVALID
    Foil.objects.filter(item=item, verdict=FoilVerdict.DISPUTED).update(verdict=verdict)
    hand = Involvement(
        project=project, person=person, video_id=item.video_id, group_id=group, kind=Involvement.Kind.SETTLED
    )
    Involvement.objects.bulk_create([hand], ignore_conflicts=True)
    return item


def requeue(person: User, item_id: int, reason: str = "", *, now: datetime | None = None) -> Item:
    """invalid -> requeued. Each foil comes back as a child candidate: valid ones accepted, the others to be edited.

    IllegalMove for an item that is not invalid.
    """
    return run_in_transaction(lambda: _requeue(person, item_id, reason.strip(), now or timezone.now()))


def _requeue(person: User, item_id: int, reason: str, now: datetime) -> Item:
    wanted = item_for(person, item_id, Role.RESEARCHER).pk
    # Its group before the item, as who takes an item apart locks them.
    found = CandidateGroup.objects.filter(item=wanted).values_list("pk", flat=True).first()
    group = locked_group(found) if found else None
    item = locked_item(wanted)
    move_item(item, "requeue", item.subtest.project, person, reason=reason)
    unlink_main_items(item)
    task_slots.cancel(Task.objects.filter(item=item, stage=Stage.BASELINE), now)
    if group is None:
        group = locked_group(reopened_group(item.subtest, item.caption, person).pk)
    CandidateGroup.objects.filter(pk=group.pk).update(item=None, tasked=True)
    group.item = None
    _reopen(item, group, person, reason)
    advance(group, person, now)
    return item


def _reopen(item: Item, group: CandidateGroup, person: User, reason: str) -> None:
    foils: Sequence[Foil] = item.foils.order_by("position")
    sources = {candidate.foil_id: candidate for candidate in Candidate.objects.filter(foil__in=foils)}
    for foil in foils:
        state = CandidateState.ACCEPTED if foil.verdict == FoilVerdict.VALID else CandidateState.QUEUED
        source = sources.get(foil.pk) or _imported(foil, group)
        authoring.copy_candidate(source, state, group.run.project, person, reason)


def _imported(foil: Foil, group: CandidateGroup) -> Candidate:
    """The candidate that an imported foil never had: accepted, and already part of its item."""
    candidate = Candidate.objects.create(
        group=group,
        rank=foil.position,
        text=foil.text,
        text_sha256=foil.text_sha256,
        state=CandidateState.ACCEPTED,
        method="import",
        method_version="1",
        foil=foil,
        **authoring.changes(group.caption.text, foil.text),
    )
    audit.record(audit.event(group.run.project, None, "import", candidate, to_state=candidate.state))
    return candidate


def retract(person: User, item_id: int, reason: str, *, now: datetime | None = None) -> Item:
    """valid -> retracted. AnnotationError without a reason, IllegalMove for an item that is not valid."""
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason is kept with the item."))
    return run_in_transaction(lambda: _retract(person, item_id, reason.strip(), now or timezone.now()))


def _retract(person: User, item_id: int, reason: str, now: datetime) -> Item:
    item = locked_item(item_for(person, item_id, Role.RESEARCHER).pk)
    move_item(item, "retract", item.subtest.project, person, reason=reason, also={"decided_at": now})
    unlink_main_items(item)
    task_slots.cancel(Task.objects.filter(item=item, stage=Stage.BASELINE), now)
    return item
