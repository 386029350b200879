"""A researcher sends an invalid item's foils back to editing; the item itself stays as the record of its votes."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from annotation.access import item_for
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.assembly import unlink_main_items
from annotation.actions.workflow.groups import advance, locked_group, reopened_group
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.models import Stage, Task
from annotation.transactions import run_in_transaction
from corpus.models import Foil, Item
from corpus.rules.states import CandidateState, FoilVerdict
from generation.models import Candidate, CandidateGroup
from projects import audit
from projects.models import Role, User


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
