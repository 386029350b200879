"""The claim that is returned to a page or program, and the card that its page shows.

Cards are plain data, without what annotators must not know: names of others, which text is the caption.
"""

from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from annotation.messages import TIME_IS_UP
from annotation.models import Draft, Lease, Slot, SlotState, Stage, Task
from annotation.models.stages import CHOICES, public_stage, stages_shown_as
from annotation.queries.foil_cards import EditWork, ReviewWork, Segments, edit_work, review_work
from annotation.queries.queues import work_counts
from annotation.rules.baseline import CAPTION
from foilworks.core.corpus.models import Foil, Subtest, Video
from foilworks.core.projects.access import or_404
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.prepared_queries import Prepared
from foilworks.core.text.diff import diff_segments


@dataclass(frozen=True)
class Claim:
    """A running lease; `stage` is the stage of its page.

    `resumed`: the person already held it. `skipped_before`: they skipped this task earlier. `upcoming_slot`: the slot
    offered next if it is still free; `upcoming_video`: its video, if known.
    """

    token: str
    stage: str
    project_id: int
    task_id: int
    slot_id: int
    lease_id: int
    expires_at: datetime
    caption_first: bool | None = None
    upcoming_slot: int | None = None
    upcoming_video: int | None = None
    resumed: bool = False
    skipped_before: bool = False
    # The rows that this request has read, so that the card does not read them again.
    rows: tuple[Slot, Lease] | None = field(default=None, compare=False, repr=False)


def claim_of(
    lease: Lease,
    slot: Slot,
    *,
    resumed: bool = False,
    skipped_before: bool = False,
    upcoming_video: int | None = None,
    with_rows: bool = False,
) -> Claim:
    """Return the claim of a running lease."""
    return Claim(
        token=lease.token,
        stage=public_stage(slot.stage),
        project_id=slot.project_id,
        task_id=slot.task_id,
        slot_id=slot.pk,
        lease_id=lease.pk,
        expires_at=slot.expires_at,
        caption_first=lease.caption_first,
        upcoming_slot=lease.upcoming_slot,
        upcoming_video=upcoming_video,
        resumed=resumed,
        skipped_before=skipped_before,
        rows=(slot, lease) if with_rows else None,
    )


@dataclass(frozen=True)
class BaselineWork:
    """The texts to choose among, in the order stored with the lease."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class ObjectsWork:
    """A frame and the objects that may be in it."""

    frame_id: int
    objects: tuple[str, ...]


def baseline_work(task: Task, lease: Lease) -> BaselineWork:
    """Return the card's part; the task comes with its item's caption. One query."""
    texts = dict(Foil.objects.filter(item=task.item_id).values_list("pk", "text"))
    texts[CAPTION] = task.item.caption.text
    return BaselineWork(tuple(texts[name] for name in lease.order_shown or []))


def objects_work(task: Task) -> ObjectsWork:
    """Return the card's part; the task comes with its frame."""
    return ObjectsWork(task.frame_id, tuple(task.frame.objects_named))


@dataclass(frozen=True)
class ShownText:
    """One of the two texts of a judgement, and the other one."""

    text: str
    other: str

    @property
    def segments(self) -> Segments:
        """Return the text in parts; words that differ from the other text have the kind "added"."""
        return [(kind, text) for kind, text in diff_segments(self.other, self.text) if kind != "removed"]


@dataclass(frozen=True)
class ValidationWork:
    first: ShownText
    second: ShownText


@dataclass(frozen=True)
class Card:
    """The content of a claimed task's page, with the one kind of work of its stage.

    Validation of a multiple-choice item has `baseline`: the texts to choose among.
    `subtest` is None for frames of an object check.
    """

    claim: Claim
    project: Project
    subtest: Subtest | None
    video: Video
    guideline_version: int | None
    guideline_text: str
    done_today: int | None
    done_in_all: int | None
    edit: EditWork | None = None
    review: ReviewWork | None = None
    validation: ValidationWork | None = None
    baseline: BaselineWork | None = None
    objects: ObjectsWork | None = None


def claim_card(person: User, claim: Claim, *, counted: bool = True, now: datetime | None = None) -> Card:
    """Return the card of the person's running claim; Http404 if the lease has ended or is somebody else's.

    Not `counted`: `done_today` and `done_in_all` are None, for a page that counts by itself.
    """
    slot, lease = claim.rows or _rows_of(person, claim)
    slot.video.project = slot.project
    today, in_all = work_counts(person, slot.project, claim.stage, now or timezone.now()) if counted else (None, None)
    fields = {
        "claim": claim,
        "project": slot.project,
        "video": slot.video,
        "guideline_version": lease.guideline.version if lease.guideline else None,
        "guideline_text": lease.guideline.text if lease.guideline else "",
        "done_today": today,
        "done_in_all": in_all,
    }
    task = slot.task
    if slot.stage == Stage.EDIT:
        return Card(**fields, subtest=task.group.run.subtest, edit=edit_work(task.group))
    if slot.stage == Stage.REVIEW:
        candidate = task.candidate
        return Card(**fields, subtest=candidate.group.run.subtest, review=review_work(candidate, task.second))
    if slot.stage in CHOICES or (slot.stage == Stage.VALIDATION and lease.order_shown):
        return Card(**fields, subtest=task.item.subtest, baseline=baseline_work(task, lease))
    if slot.stage == Stage.OBJECTS:
        return Card(**fields, subtest=None, objects=objects_work(task))
    if slot.stage == Stage.GOLD:
        pair = task.gold
        texts = two_texts(pair.caption_text, pair.foil_text, bool(lease.caption_first))
        return Card(**fields, subtest=pair.subtest, validation=texts)
    texts = two_texts(task.item.caption.text, task.foil.text, bool(lease.caption_first))
    return Card(**fields, subtest=task.item.subtest, validation=texts)


_DRAFT = Prepared(lambda person, task: Draft.objects.filter(person=person, task=task))
_LEASE = Prepared(lambda pk: Lease.objects.select_related("guideline").filter(pk=pk))


def draft_of(person: User, task_id: int) -> Draft | None:
    """Return what the person has typed for the task and not submitted. One query."""
    return _DRAFT.first(person=person.pk, task=task_id)


def _rows_of(person: User, claim: Claim) -> tuple[Slot, Lease]:
    slot = _running_slot(person, claim)
    return slot, or_404(_LEASE.first(pk=claim.lease_id), str(TIME_IS_UP))


def _running_slot(person: User, claim: Claim) -> Slot:
    return or_404(
        _RUNNING[claim.stage].first(pk=claim.slot_id, person=person.pk, token=claim.token),
        str(TIME_IS_UP),
    )


CARD_ROWS = {
    Stage.EDIT: ("task__group__caption", "task__group__run__subtest", "task__group__run__project"),
    Stage.REVIEW: ("task__candidate__group__caption", "task__candidate__group__run__subtest"),
    Stage.VALIDATION: ("task__item__caption", "task__item__subtest", "task__foil"),
    Stage.BASELINE: ("task__item__caption", "task__item__subtest"),
    Stage.UNSEEN: ("task__item__caption", "task__item__subtest"),
    Stage.OBJECTS: ("task__frame",),
    Stage.GOLD: ("task__gold__subtest",),
}


def _running(desk: str) -> "Prepared[Slot]":
    rows = (path for stage in stages_shown_as(desk) for path in CARD_ROWS[Stage(stage)])
    slots = Slot.objects.select_related("project", "video", *rows)
    return Prepared(lambda pk, person, token: slots.filter(pk=pk, person=person, token=token, state=SlotState.LEASED))


# Compiled, as is the lease: the page of a task takes 17 ms of CPU with them, 26 without.
_RUNNING = {desk: _running(desk) for desk in {public_stage(stage) for stage in CARD_ROWS}}


def two_texts(caption: str, foil: str, caption_first: bool) -> ValidationWork:
    """Return the two texts in their order."""
    first, second = (caption, foil) if caption_first else (foil, caption)
    return ValidationWork(ShownText(first, second), ShownText(second, first))
