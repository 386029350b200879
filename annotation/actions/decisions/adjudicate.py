"""Adjudication: a person without prior involvement in the video decides a disputed item."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import Involvement
from annotation.queries.eligibility import involvements_of
from annotation.rules.adjudication import why_not_settle
from annotation.rules.eligibility import PriorInvolvement
from annotation.transactions import Refused, run_in_transaction
from corpus.models import Foil, Item
from corpus.rules.states import FoilVerdict, ItemState
from generation.models import CandidateGroup
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
