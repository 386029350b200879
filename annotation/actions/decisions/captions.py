"""Decide about a doubted caption: confirm it, correct it, or drop it with its video's items."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import caption_for
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.groups import advance, reopened_group, unlink_main_items
from annotation.actions.workflow.transitions import move_candidates, move_item
from annotation.errors import AnnotationError
from annotation.messages import of_finding
from annotation.models import Involvement, Task
from annotation.rules import editing
from annotation.rules.editing import Problem
from annotation.transactions import lock_rows, run_in_transaction
from foilworks.core.corpus.models import Caption, DoubtSettled, Foil, Item, Subtest
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import shortened
from generation.models import Candidate, CandidateGroup

C, I = CandidateState, ItemState  # noqa: E741
LIVE_ITEMS = (I.IN_VALIDATION, I.VALID, I.INVALID, I.DISPUTED)
LIVE_CANDIDATES = (C.QUEUED, C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED)
CORRECTION = "recaption"
UNUSABLE = frozenset({Problem.EMPTY, Problem.TOO_LONG, Problem.CONTROL_CHARACTER})
DROP = "drop_with_video"


def caption_in_doubt(person: User, caption_id: int) -> Caption:
    """Return the caption with video and project, locked. AnnotationError if it needs no decision."""
    unlocked_caption = caption_for(person, caption_id, Role.RESEARCHER)
    # Waits for parallel writers that make the group's tasks or item. Then items before captions, in the order in which
    # votes lock them.
    of_video = CandidateGroup.objects.filter(caption__video=unlocked_caption.video_id)
    lock_rows(CandidateGroup.objects.filter(pk__in=of_video.values("pk")))
    lock_rows(Item.objects.filter(video=unlocked_caption.video_id))
    rows = Caption.objects.select_related("video__project").select_for_update(of=("self",), no_key=True)
    caption = rows.get(pk=unlocked_caption.pk)
    if not caption.flagged_false or caption.doubt_settled:
        raise AnnotationError(_("This caption is not in doubt, or someone has just decided it. Start the next one."))
    return caption


def record_decision(caption: Caption, how: str, person: User, reason: str, kind: str, **details: object) -> None:
    """Record the decision about the doubt: one audit row, and the person's involvement in the video."""
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
    """Move every live one of these items; their votes stay, and nobody judges them any more."""
    live_items = items.filter(state__in=LIVE_ITEMS).select_for_update(of=("self",), no_key=True)
    withdrawn_items = list(live_items.select_related("subtest", "candidate_group").order_by("pk"))
    for item in withdrawn_items:
        move_item(item, move, project, person, reason=reason, also={"decided_at": now})
        unlink_main_items(item)
    task_slots.cancel(Task.objects.filter(item__in=withdrawn_items), now)
    return withdrawn_items


def withdraw_candidates(
    groups: Iterable[CandidateGroup], move: str, project: Project, person: User, reason: str, now: datetime
) -> dict[int, list[Candidate]]:
    """Move every candidate of these groups that is not a foil of an item; return them by group id."""
    ids = [group.pk for group in groups]
    task_slots.cancel(Task.objects.filter(Q(group__in=ids) | Q(candidate__group__in=ids)), now)
    rows = Candidate.objects.filter(group__in=ids, foil=None, state__in=LIVE_CANDIDATES)
    live_candidates = list(rows.select_for_update(of=("self",), no_key=True).order_by("group_id", "rank", "pk"))
    move_candidates(live_candidates, move, project, person, reason)
    candidates_by_group: dict[int, list[Candidate]] = {}
    for candidate in live_candidates:
        candidates_by_group.setdefault(candidate.group_id, []).append(candidate)
    return candidates_by_group


def checked_reason(reason: str) -> str:
    """Return the reason; AnnotationError if it is empty."""
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. It is saved with the caption."))
    return reason.strip()


def confirm_caption(person: User, caption_id: int, reason: str, *, now: datetime | None = None) -> Caption:
    """Confirm the caption: it leaves the repair queue; items and votes stay.

    A later item may raise the doubt again. AnnotationError without a reason, and for a caption that is not in doubt.
    """
    why = checked_reason(reason)
    return run_in_transaction(lambda: _confirm(person, caption_id, why, now or timezone.now()))


def _confirm(person: User, caption_id: int, reason: str, now: datetime) -> Caption:
    caption = caption_in_doubt(person, caption_id)
    record_decision(caption, DoubtSettled.CONFIRMED, person, reason, Involvement.Kind.SETTLED)
    return caption


@dataclass(frozen=True)
class Correction:
    """`keep`: ids of foils that are false of the video under the corrected caption, too."""

    text: str
    reason: str
    keep: frozenset[int]
    now: datetime


def correct_caption(
    person: User,
    caption_id: int,
    text: str,
    *,
    keep: Collection[int] = (),
    reason: str = "",
    now: datetime | None = None,
) -> Caption:
    """Return the corrected caption. Live items of the old one are requeued and keep their votes.

    Foils in `keep` move to it as accepted, the others, and unfinished ones, as suggestions to edit; foils equal to the
    new caption are dropped. AnnotationError for an invalid or existing caption, a kept foil that is not a foil of the
    new caption, and a caption that is not in doubt.
    """
    correction = Correction(text.strip(), reason.strip(), frozenset(keep), now or timezone.now())
    return run_in_transaction(lambda: _correct(person, caption_id, correction))


def correct_captions(
    person: User,
    texts: Mapping[int, str],
    *,
    keep_foils: bool = False,
    reason: str = "",
    now: datetime | None = None,
) -> list[Caption]:
    """Correct captions, {id: text}, as `correct_caption` does: all of them, or none.

    `keep_foils`: keep every foil that passes the checks with its corrected caption. AnnotationError names the caption.
    """
    at = now or timezone.now()

    def write() -> list[Caption]:
        return [_correct_of_several(person, pk, texts[pk], keep_foils, reason.strip(), at) for pk in sorted(texts)]

    return run_in_transaction(write)


def _correct_of_several(
    person: User, caption_id: int, text: str, keep_foils: bool, reason: str, now: datetime
) -> Caption:
    text, keep = text.strip(), frozenset[int]()
    if keep_foils:
        foils = list(Foil.objects.filter(item__caption=caption_id, item__state__in=LIVE_ITEMS))
        failed = {finding.index for finding in editing.errors(editing.check_texts(text, [foil.text for foil in foils]))}
        keep = frozenset(foil.pk for number, foil in enumerate(foils) if number not in failed)
    try:
        return _correct(person, caption_id, Correction(text, reason, keep, now))
    except AnnotationError as error:
        old_text = shortened(caption_for(person, caption_id, Role.RESEARCHER).text)
        raise AnnotationError(f"{old_text}: {error}") from error


def _correct(person: User, caption_id: int, correction: Correction) -> Caption:
    old = caption_in_doubt(person, caption_id)
    new = _revision(old, correction.text)
    project = old.video.project
    items = withdraw_items(
        Item.objects.filter(caption=old), CORRECTION, project, person, correction.reason, correction.now
    )
    unfinished = CandidateGroup.objects.filter(caption=old, item=None).select_related("run__subtest")
    # Closed before anything is made of the new one: an undone review cannot reopen the old one.
    under_way = withdraw_candidates(unfinished, CORRECTION, project, person, correction.reason, correction.now)
    record_decision(
        old, DoubtSettled.CORRECTED, person, correction.reason, Involvement.Kind.MADE, revision=new.pk, items=len(items)
    )
    old_foils = set()
    for item in items:
        old_foils |= _carry_item(item, new, person, correction)
    if unknown := correction.keep - old_foils:
        raise AnnotationError(_("%(n)s of the foils to keep no longer exist. Reload the page.") % {"n": len(unknown)})
    for group in unfinished:
        if group.pk in under_way:
            _carry_group(group.run.subtest, under_way[group.pk], new, person, correction)
    return new


def _revision(old: Caption, text: str) -> Caption:
    for finding in editing.check_text(old.text, text):
        if finding.problem in UNUSABLE:
            raise AnnotationError(_("The corrected caption: %(problem)s.") % {"problem": of_finding(finding)})
    if text == old.text:
        raise AnnotationError(_("The caption is unchanged. Correct it, or confirm that it is true."))
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    if Caption.objects.filter(video=old.video_id, text_sha256=sha256).exists():
        raise AnnotationError(
            _("The video already has a caption with this text. Reword it, or drop the video's items.")
        )
    # Facts describe the old text: methods must not apply them to the new one.
    return Caption.objects.create(video=old.video, key=old.key, text=text, text_sha256=sha256, revises=old)


def _carry_item(item: Item, new: Caption, person: User, correction: Correction) -> set[int]:
    """Copy the item's foils to the new caption, and create the new item if enough are kept; return their ids."""
    foils = list(Foil.objects.filter(item=item).order_by("position"))
    _check_kept([foil for foil in foils if foil.pk in correction.keep], new)
    sources = {candidate.foil_id: candidate for candidate in Candidate.objects.filter(foil__in=foils)}
    group = reopened_group(item.subtest, new, person)
    for foil in foils:
        state = C.ACCEPTED if foil.pk in correction.keep else _state_under(new, foil.text)
        source: Candidate | Foil = sources.get(foil.pk, foil)
        authoring.carry_over(group, source, foil.position, state, person, correction.reason)
    _involve_and_advance(group, person, correction)
    return {foil.pk for foil in foils}


def _carry_group(
    subtest: Subtest, candidates: list[Candidate], new: Caption, person: User, correction: Correction
) -> None:
    group = reopened_group(subtest, new, person)
    for candidate in candidates:
        state = _state_under(new, candidate.text)
        authoring.carry_over(group, candidate, candidate.rank, state, person, correction.reason)
    _involve_and_advance(group, person, correction)


def _check_kept(foils: list[Foil], new: Caption) -> None:
    findings = editing.errors(editing.check_texts(new.text, [foil.text for foil in foils]))
    for finding in findings:
        raise AnnotationError(
            _("The foil '%(text)s' cannot be kept: %(problem)s.")
            % {"text": shortened(foils[finding.index].text), "problem": of_finding(finding)}
        )


def _state_under(new: Caption, text: str) -> CandidateState:
    """Return QUEUED, or DROPPED if the text equals the new caption."""
    return C.DROPPED if editing.normalised(text) == editing.normalised(new.text) else C.QUEUED


def _involve_and_advance(group: CandidateGroup, person: User, correction: Correction) -> None:
    hand = {"project": group.run.project, "person": person, "video_id": group.caption.video_id, "group": group}
    Involvement.objects.bulk_create([Involvement(kind=Involvement.Kind.MADE, **hand)], ignore_conflicts=True)
    advance(group, person, correction.now)


def drop_caption(person: User, caption_id: int, reason: str, *, now: datetime | None = None) -> Caption:
    """Retract the video's items and drop its unfinished foils; votes, releases and texts stay as a record.

    AnnotationError without a reason, and for a caption that is not in doubt.
    """
    why = checked_reason(reason)
    return run_in_transaction(lambda: _drop(person, caption_id, why, now or timezone.now()))


def _drop(person: User, caption_id: int, reason: str, now: datetime) -> Caption:
    caption = caption_in_doubt(person, caption_id)
    project, video = caption.video.project, caption.video_id
    items = withdraw_items(Item.objects.filter(video=video), DROP, project, person, reason, now)
    groups = CandidateGroup.objects.filter(caption__video=video)
    dropped = withdraw_candidates(groups, DROP, project, person, reason, now)
    captions_of_video = Caption.objects.filter(video=video).exclude(doubt_settled=DoubtSettled.CORRECTED)
    captions_of_video.update(doubt_settled=DoubtSettled.DROPPED)
    record_decision(
        caption,
        DoubtSettled.DROPPED,
        person,
        reason,
        Involvement.Kind.SETTLED,
        items=len(items),
        foils=sum(map(len, dropped.values())),
    )
    return caption
