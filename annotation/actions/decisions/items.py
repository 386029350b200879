"""Decide about an item: adjudicate it, requeue it, retract it, take its video down."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import item_for
from annotation.actions.decisions import captions
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.groups import advance, link_main_items, locked_group, reopened_group, unlink_main_items
from annotation.actions.workflow.transitions import move_item
from annotation.actions.workflow.verdicts import locked_item
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, GoldPair, Involvement, PracticeCaption, Stage, Task
from annotation.models.stages import CHOICES
from annotation.queries.eligibility import involvements_of
from annotation.rules.adjudication import why_not_settle
from annotation.rules.eligibility import PriorInvolvement
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.corpus.access import get_video
from foilworks.core.corpus.models import GIVEN_UP, Foil, Item, MediaState, ReleaseItem, Takedown, Video
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState, next_item_state
from foilworks.core.corpus.video_files.stored_files import CLIPS
from foilworks.core.media.file_cache import FileCache
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from generation.choices.compose import COMPOSED
from generation.models import Candidate, CandidateGroup

OUTCOMES = (ItemState.VALID, ItemState.INVALID)
ROLES = (Role.RESEARCHER, Role.REVIEWER)
# The last events of a retracted item that may be restored.
RESTORABLE = ("retract", "undo_restore")
# Files of clips, decoded frames and vectors; they can be computed again from files that still exist.
CACHES = ("frames", "vectors", CLIPS)


def adjudicate(person: User, item_id: int, outcome: str, reason: str, *, now: datetime | None = None) -> Item:
    """Decide a disputed item as valid or invalid; its disputed pairs take the outcome. Votes stay as they are.

    AnnotationError without a reason, WorkRefused for a person who made, reviewed or judged anything on the video,
    IllegalMove for an item that is not disputed.
    """
    if outcome not in OUTCOMES:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(OUTCOMES)})
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. It is saved with the item."))
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
    disputed = Foil.objects.filter(item=item, verdict=FoilVerdict.DISPUTED)
    was = {"decided_at": _moment(item), "disputed": list(disputed.order_by("pk").values_list("pk", flat=True))}
    also = {"decided_at": now}
    move_item(item, "adjudicate", project, person, outcome=outcome, reason=reason, also=also, was=was)
    disputed.update(verdict=FoilVerdict.VALID if outcome == ItemState.VALID else FoilVerdict.INVALID)
    hand = Involvement(
        project=project, person=person, video_id=item.video_id, group_id=group, kind=Involvement.Kind.SETTLED
    )
    Involvement.objects.bulk_create([hand], ignore_conflicts=True)
    return item


def _moment(item: Item) -> str | None:
    return item.decided_at.isoformat() if item.decided_at else None


def requeue(person: User, item_id: int, reason: str = "", *, now: datetime | None = None) -> Item:
    """Requeue an invalid item: each foil becomes a child candidate.

    Valid foils come back accepted, the others to be edited. IllegalMove for an item that is not invalid.
    """
    return run_in_transaction(lambda: _requeue(person, item_id, reason.strip(), now or timezone.now()))


def _requeue(person: User, item_id: int, reason: str, now: datetime) -> Item:
    requested_id = item_for(person, item_id, Role.RESEARCHER).pk
    # Its group before the item, in the order in which `take_apart` locks them.
    group_id = CandidateGroup.objects.filter(item=requested_id).values_list("pk", flat=True).first()
    group = locked_group(group_id) if group_id else None
    item = locked_item(requested_id)
    next_item_state(item.state, "requeue")
    was: dict[str, Any] = _withdraw(item, now)
    was["imported"] = group is None
    if group is None:
        group = locked_group(reopened_group(item.subtest, item.caption, person).pk)
    was["group"] = group.pk
    CandidateGroup.objects.filter(pk=group.pk).update(item=None, tasked=True)
    group.item = None
    was["reopened"] = [candidate.pk for candidate in _reopen(item, group, person, reason)]
    move_item(item, "requeue", item.subtest.project, person, reason=reason, was=was)
    advance(group, person, now)
    return item


def _withdraw(item: Item, now: datetime) -> dict[str, Any]:
    """End what an item is used for, and its validation; return what an undo needs."""
    tasks = Task.objects.filter(item=item, stage__in=(*CHOICES, Stage.VALIDATION))
    slots = task_slots.open_slots_of(tasks)
    task_slots.cancel(tasks, now)
    main_items = unlink_main_items(item)
    return {"state": item.state, "decided_at": _moment(item), "main_items": main_items, "slots": slots}


def _reopen(item: Item, group: CandidateGroup, person: User, reason: str) -> list[Candidate]:
    reopened_candidates = []
    foils: Sequence[Foil] = item.foils.order_by("position")
    sources = {candidate.foil_id: candidate for candidate in Candidate.objects.filter(foil__in=foils)}
    for foil in foils:
        state = CandidateState.ACCEPTED if foil.verdict == FoilVerdict.VALID else CandidateState.QUEUED
        source = sources.get(foil.pk) or _imported(foil, group)
        reopened_candidates.append(authoring.copy_candidate(source, state, group.run.project, person, reason))
    return reopened_candidates


def _imported(foil: Foil, group: CandidateGroup) -> Candidate:
    """Return a new candidate for an imported or composed foil, accepted and already part of its item."""
    candidate = Candidate.objects.create(
        group=group,
        rank=foil.position,
        text=foil.text,
        text_sha256=foil.text_sha256,
        state=CandidateState.ACCEPTED,
        method=COMPOSED if COMPOSED in (foil.item.facts or {}) else "import",
        method_version="1",
        foil=foil,
        **authoring.changes(group.caption.text, foil.text),
    )
    audit.record(audit.event(group.run.project, None, "import", candidate, to_state=candidate.state))
    return candidate


def retract(person: User, item_id: int, reason: str, *, now: datetime | None = None) -> Item:
    """Retract an item that is valid or in validation, whose open tasks end; its votes stay.

    AnnotationError without a reason, IllegalMove for an item in another state.
    """
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. It is saved with the item."))
    return run_in_transaction(lambda: _retract(person, item_id, reason.strip(), now or timezone.now()))


def restore(person: User, item_id: int, reason: str = "", *, now: datetime | None = None) -> Item:
    """retracted -> valid, or in validation with its open tasks. Baseline tasks that ended stay cancelled.

    IllegalMove for an item that is not retracted, AnnotationError for one that left with its video or its caption.
    """
    return run_in_transaction(lambda: _restore(person, item_id, reason.strip(), now or timezone.now()))


def _restore(person: User, item_id: int, reason: str, now: datetime) -> Item:
    item = locked_item(item_for(person, item_id, Role.RESEARCHER).pk)
    last = audit.events_of(item).last()
    if item.state == ItemState.RETRACTED and (last is None or last.action not in RESTORABLE):
        raise AnnotationError(_("This item was removed with its video or its caption. It cannot be restored."))
    refuse_if_given_up(item)
    retraction = audit.events_of(item).filter(action="retract").last()
    before = retraction.details.get("was", {}) if retraction else {}
    if before.get("state") == ItemState.IN_VALIDATION:
        # Votes go on where they were; retracting it again undoes this.
        also = {"decided_at": None}
        move_item(item, "restore", item.subtest.project, person, outcome=before["state"], reason=reason, also=also)
        task_slots.reopen_cancelled(before["slots"])
        return item
    words = {"reason": reason, "also": {"decided_at": now}, "was": {"decided_at": _moment(item)}}
    move_item(item, "restore", item.subtest.project, person, outcome=ItemState.VALID, **words)
    link_main_items(item)
    return item


def refuse_if_given_up(item: Item) -> None:
    """Refuse to make an item valid again if its caption or its video has been removed since."""
    if item.caption.doubt_settled in GIVEN_UP or item.video.media_state == MediaState.TAKEN_DOWN:
        raise AnnotationError(_("The caption or the video of this item has been removed. The item cannot be restored."))


def _retract(person: User, item_id: int, reason: str, now: datetime) -> Item:
    item = locked_item(item_for(person, item_id, Role.RESEARCHER).pk)
    next_item_state(item.state, "retract")
    was = _withdraw(item, now)
    move_item(item, "retract", item.subtest.project, person, reason=reason, also={"decided_at": now}, was=was)
    return item


@dataclass(frozen=True)
class Scope:
    """Everything that a takedown of a video affects."""

    clips: list[Video]
    n_items: int
    n_released: int
    n_releases: int


def scope_of(video: Video) -> Scope:
    """Return the clips of the same file or source, the live items on them, the released ones. Four queries."""
    clips = list(_clips(video).order_by("pk"))
    n_live_items = Item.objects.filter(video__in=clips, state__in=captions.LIVE_ITEMS).count()
    released = ReleaseItem.objects.filter(video__in=clips)
    return Scope(clips, n_live_items, released.count(), released.values("release").distinct().count())


def take_down_video(person: User, slug: str, video_id: int, reason: str, *, now: datetime | None = None) -> Scope:
    """Take a video down: delete its file and address, retract its items, withhold its released items.

    Includes every clip of the project with the same file or source. Votes, scores, the audit trail and the hashes of
    releases stay, and one row stores the reason. AnnotationError without a reason, and for a clip that is already taken
    down. AccessDenied for anyone who is not an owner.
    """
    video = get_video(person, slug, video_id, Role.RESEARCHER)
    if not reason.strip():
        raise AnnotationError(_("Enter a reason. It appears in every release and export that contained the video."))
    return run_in_transaction(lambda: _take_down(person, video, reason.strip()[:500], now or timezone.now()))


def _take_down(person: User, video: Video, reason: str, now: datetime) -> Scope:
    project = video.project
    require_role(person, project, Role.RESEARCHER)
    fresh = Video.objects.select_for_update(of=("self",), no_key=True).get(pk=video.pk)
    if fresh.media_state == MediaState.TAKEN_DOWN:
        raise AnnotationError(_("This video was already taken down."))
    scope = scope_of(fresh)
    _end_work(scope.clips, project, person, reason, now)
    files = _forget_media(scope.clips, project, person, reason, now)
    transaction.on_commit(lambda: _delete(files))
    return scope


def _clips(video: Video) -> QuerySet[Video]:
    same = Q(pk=video.pk)
    if video.sha256:
        same |= Q(sha256=video.sha256)
    if video.source_id:
        same |= Q(source_dataset=video.source_dataset, source_id=video.source_id)
    return Video.objects.filter(same, project=video.project_id).exclude(media_state=MediaState.TAKEN_DOWN)


def _end_work(clips: list[Video], project: Project, person: User, reason: str, now: datetime) -> None:
    """End all work on the clips: items and unfinished foils leave, and nobody gets tasks, gold or practice of them."""
    captions.withdraw_items(Item.objects.filter(video__in=clips), captions.DROP, project, person, reason, now)
    groups = CandidateGroup.objects.filter(caption__video__in=clips).select_for_update(of=("self",), no_key=True)
    captions.withdraw_candidates(groups, captions.DROP, project, person, reason, now)
    task_slots.cancel(Task.objects.filter(video__in=clips), now)
    GoldPair.objects.filter(video__in=clips, withdrawn_at=None).update(withdrawn_at=now)
    PracticeCaption.objects.filter(caption__video__in=clips, withdrawn_at=None).update(withdrawn_at=now)


def _forget_media(clips: list[Video], project: Project, person: User, reason: str, now: datetime) -> set[str]:
    """Return the names of files that no clip has any more; store takedowns, with an audit row each."""
    pictures = CheckedFrame.objects.filter(video__in=clips).exclude(image="")
    files = set(pictures.values_list("image", flat=True)) | {clip.file.name for clip in clips if clip.file}
    strips = {clip.film_strip.name for clip in clips if clip.film_strip}
    pictures.update(image="")
    Takedown.objects.bulk_create(
        Takedown(video=clip, sha256=clip.sha256, reason=reason, taken_down_by=person, taken_down_at=now)
        for clip in clips
    )
    audit.record_many(
        audit.event(
            project,
            person,
            "take_down",
            clip,
            from_state=clip.media_state,
            to_state=MediaState.TAKEN_DOWN,
            reason=reason,
            sha256=clip.sha256,
        )
        for clip in clips
    )
    rows = Video.objects.filter(pk__in=[clip.pk for clip in clips])
    rows.update(file="", film_strip="", url="", media_state=MediaState.TAKEN_DOWN, media_error="")
    # Files are stored once by content: another project may show the same one.
    files -= set(Video.objects.filter(file__in=files).values_list("file", flat=True))
    return files | strips - set(Video.objects.filter(film_strip__in=strips).values_list("film_strip", flat=True))


def _delete(files: Iterable[str]) -> None:
    """Delete the files, and what was decoded from them, because a remaining file still shows the video."""
    for name in files:
        default_storage.delete(name)
    for cache in CACHES:
        FileCache(Path(settings.CACHE_ROOT) / cache, 1).clear()
