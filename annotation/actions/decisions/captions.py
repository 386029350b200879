"""What the three repairs of a caption in doubt share: the caption locked, what hangs on it, how that is taken away."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from annotation.access import caption_for
from annotation.actions.workflow import task_slots
from annotation.actions.workflow.assembly import unlink_main_items
from annotation.actions.workflow.transitions import move_candidates, move_item
from annotation.errors import AnnotationError
from annotation.models import Involvement, Task
from annotation.transactions import lock_rows
from corpus.models import Caption, Item
from corpus.rules.states import CandidateState, ItemState
from generation.models import Candidate, CandidateGroup
from projects import audit
from projects.models import Project, Role, User

C, I = CandidateState, ItemState  # noqa: E741
LIVE_ITEMS = (I.IN_VALIDATION, I.VALID, I.INVALID, I.DISPUTED)
LIVE_CANDIDATES = (C.QUEUED, C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED)


def caption_in_doubt(person: User, caption_id: int) -> Caption:
    """The caption with video and project, locked. AnnotationError where nothing is to be settled about it any more."""
    found = caption_for(person, caption_id, Role.RESEARCHER)
    # Who makes tasks or an item of a group holds it, and is waited for. Then items before captions, as who decides an
    # item on its votes locks them.
    of_video = CandidateGroup.objects.filter(caption__video=found.video_id)
    lock_rows(CandidateGroup.objects.filter(pk__in=of_video.values("pk")))
    lock_rows(Item.objects.filter(video=found.video_id))
    rows = Caption.objects.select_related("video__project").select_for_update(of=("self",), no_key=True)
    caption = rows.get(pk=found.pk)
    if not caption.flagged_false or caption.doubt_settled:
        raise AnnotationError(_("This caption is not in doubt, or somebody has just settled it; take the next."))
    return caption


def settle(caption: Caption, how: str, person: User, reason: str, kind: str, **details: object) -> None:
    """Note what came of the doubt: one audit row, and the person's hand in the video."""
    Caption.objects.filter(pk=caption.pk).update(doubt_settled=how)
    caption.doubt_settled = how
    project = caption.video.project
    audit.record(
        audit.event(
            project, person, "settle_doubt", caption, from_state="in_doubt", to_state=how, reason=reason, **details
        )
    )
    groups = [None, *CandidateGroup.objects.filter(caption=caption).values_list("pk", flat=True)]
    hand = {"project": project, "person": person, "video_id": caption.video_id, "kind": kind}
    Involvement.objects.bulk_create((Involvement(group_id=pk, **hand) for pk in groups), ignore_conflicts=True)


def withdraw_items(
    items: QuerySet[Item], move: str, project: Project, person: User, reason: str, now: datetime
) -> list[Item]:
    """Make the move with every live item of these; their votes stay with them, and nobody judges them any more."""
    live = items.filter(state__in=LIVE_ITEMS).select_for_update(of=("self",), no_key=True)
    found = list(live.select_related("subtest", "candidate_group").order_by("pk"))
    for item in found:
        move_item(item, move, project, person, reason=reason, also={"decided_at": now})
        unlink_main_items(item)
    task_slots.cancel(Task.objects.filter(item__in=found), now)
    return found


def withdraw_candidates(
    groups: Iterable[CandidateGroup], move: str, project: Project, person: User, reason: str, now: datetime
) -> dict[int, list[Candidate]]:
    """Make the move with every candidate of these groups that is no item's foil; by the id of their group."""
    ids = [group.pk for group in groups]
    task_slots.cancel(Task.objects.filter(Q(group__in=ids) | Q(candidate__group__in=ids)), now)
    rows = Candidate.objects.filter(group__in=ids, foil=None, state__in=LIVE_CANDIDATES)
    live = list(rows.select_for_update(of=("self",), no_key=True).order_by("group_id", "rank", "pk"))
    move_candidates(live, move, project, person, reason)
    found: dict[int, list[Candidate]] = {}
    for candidate in live:
        found.setdefault(candidate.group_id, []).append(candidate)
    return found


def checked_reason(reason: str) -> str:
    """AnnotationError for none."""
    if not reason.strip():
        raise AnnotationError(_("Say why: the reason is kept with the caption."))
    return reason.strip()
