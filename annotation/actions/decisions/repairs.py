"""Accept a proposal that makes two items fair: their true texts become foils of one another, for reviewers to judge."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.decisions.undo_decisions import UNDO_SECONDS, require_unopened
from annotation.actions.workflow import authoring
from annotation.actions.workflow.groups import advance, locked_group, reopened_group
from annotation.errors import AnnotationError
from annotation.models import Involvement, Task
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import AuditEvent, Role, User
from generation.models import Candidate, CandidateGroup

ACTION, UNDO = "accept_repair", "undo_accept_repair"


def exchange_foils(
    person: User, item_id: int, partner_id: int, *, now: datetime | None = None
) -> tuple[Candidate, Candidate]:
    """Write the caption of each item as a candidate for the clip of the other; reviewers and validators decide.

    The items stay as they are: retract them once the new ones are valid. The person counts as the author, so that they
    cannot judge the texts. AnnotationError: one item, two subtests, one clip, equal captions, or a repeated proposal.
    """
    return run_in_transaction(lambda: _exchange(person, item_id, partner_id, now or timezone.now()))


def _exchange(person: User, item_id: int, partner_id: int, now: datetime) -> tuple[Candidate, Candidate]:
    first, second = (item_for(person, pk, Role.RESEARCHER) for pk in (item_id, partner_id))
    project = first.subtest.project
    serialize_writes(project)
    is_exchangeable = first.subtest_id == second.subtest_id and first.video_id != second.video_id
    if not is_exchangeable or first.caption.text == second.caption.text:
        raise AnnotationError(_("Choose two items of one subtest with different clips and captions."))
    if Candidate.objects.filter(group__caption=first.caption, text=second.caption.text).exists():
        raise AnnotationError(_("This text was already proposed for the clip. Look at its candidates."))
    candidates = (_propose(person, first, second, now), _propose(person, second, first, now))
    details = {"items": [first.pk, second.pk], "candidates": [candidate.pk for candidate in candidates]}
    audit.record(audit.event(project, person, ACTION, project, **details))
    return candidates


def _propose(person: User, item: Item, source: Item, now: datetime) -> Candidate:
    group = locked_group(reopened_group(item.subtest, item.caption, person).pk)
    candidate = authoring.write_candidate(group, person, source.caption.text, None, CandidateState.IN_REVIEW, 0)
    author = Involvement(
        project=item.subtest.project, person=person, video_id=item.video_id, group=group, kind=Involvement.Kind.MADE
    )
    Involvement.objects.bulk_create([author], ignore_conflicts=True)
    advance(group, person, now)
    return candidate


def undo_exchange(person: User, event_id: int, *, now: datetime | None = None) -> Item:
    """Delete the candidates of the proposal with their tasks; return the item.

    AnnotationError after UNDO_SECONDS, for somebody else's proposal, or once somebody has opened a task.
    """
    return run_in_transaction(lambda: _undo(person, event_id, now or timezone.now()))


def _undo(person: User, event_id: int, now: datetime) -> Item:
    event = AuditEvent.objects.filter(pk=event_id, actor=person.pk, action=ACTION).first()
    candidates = Candidate.objects.filter(pk__in=event.details["candidates"]) if event else Candidate.objects.none()
    groups = list(candidates.values_list("group", flat=True))
    if event is None or not groups:
        raise AnnotationError(_("There is nothing to undo. You can undo only your own decisions."))
    if now > event.at + timedelta(seconds=UNDO_SECONDS):
        minutes = UNDO_SECONDS // 60
        raise AnnotationError(_("You can undo a decision only for %(minutes)s minutes.") % {"minutes": minutes})
    item = item_for(person, event.details["items"][0], Role.RESEARCHER)
    for group in groups:
        locked_group(group)
    tasks = Task.objects.filter(candidate__in=candidates)
    require_unopened(tasks)
    tasks.delete()
    candidates.delete()
    CandidateGroup.objects.filter(pk__in=groups).delete()
    audit.record(audit.event(item.subtest.project, person, UNDO, item.subtest.project, accepted=event.pk))
    return item
