"""The data of pages: the card of a claimed task, and how far a project is.

Cards are plain data, without what annotators must not know: names of others, which text is the caption.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.claims import Claim
from annotation.messages import TIME_IS_UP
from annotation.models import (
    Draft,
    Lease,
    Review,
    ReviewDecision,
    Slot,
    SlotState,
    Stage,
    Task,
)
from annotation.models.stages import public_stage, stages_shown_as
from annotation.queries.eligibility import lineage_of
from annotation.queries.other_foils import STANDS
from annotation.queries.queues import work_counts
from annotation.rules import editing
from annotation.rules.baseline import CAPTION
from annotation.rules.editing import Finding
from annotation.rules.marking import Marks, marks_of
from foilworks.core.corpus.models import Caption, Foil, Subtest, Video
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.access import or_404
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.prepared import Prepared
from foilworks.core.text.diff import diff_segments
from generation.filters.registry import SCREENING
from generation.models import Candidate, CandidateGroup, FilterScore


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


Segments = list[tuple[str, str]]
C = CandidateState


@dataclass(frozen=True)
class ReturnNote:
    """A reviewer's comment on a returned foil."""

    reasons: tuple[str, ...]
    comment: str
    at: datetime


@dataclass(frozen=True)
class Suggestion:
    """A foil on a card with its origin. `notes`: why it, or what it was reworded from, was returned; newest first."""

    candidate_id: int
    text: str
    rank: int
    by_person: bool
    method: str
    method_version: str
    model_id: str
    segments: Segments
    span: tuple[int, int]
    returned: bool = False
    notes: tuple[ReturnNote, ...] = ()


@dataclass(frozen=True)
class EditWork:
    """`wanted` texts to write; `others`: the caption's other foils in the subtest, unfinished or accepted."""

    caption: Caption
    wanted: int
    suggestions: list[Suggestion]
    others: list[str]
    # The characters of the caption that the suggestions change: the target span of the task, if any.
    target_span: tuple[int, int] | None
    # If foils change only the action: the words that stay and those that change.
    marks: Marks | None = None


@dataclass(frozen=True)
class FilterNote:
    filter: str
    score: float | None
    passed: bool
    detail: str


@dataclass(frozen=True)
class ReviewWork:
    caption: Caption
    foil: Suggestion
    others: list[str]
    findings: list[Finding]
    filters: list[FilterNote]
    marks: Marks | None = None


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
    desk = public_stage(slot.stage)
    today, in_all = work_counts(person, slot.project, desk, now or timezone.now()) if counted else (None, None)
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
        return Card(**fields, subtest=task.group.run.subtest, edit=_edit_work(task.group))
    if slot.stage == Stage.REVIEW:
        candidate = task.candidate
        return Card(**fields, subtest=candidate.group.run.subtest, review=_review_work(candidate, task.second))
    if slot.stage == Stage.BASELINE or (slot.stage == Stage.VALIDATION and lease.order_shown):
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
    Stage.OBJECTS: ("task__frame",),
    Stage.GOLD: ("task__gold__subtest",),
}


def _running(desk: str) -> "Prepared[Slot]":
    rows = (path for stage in stages_shown_as(desk) for path in CARD_ROWS[Stage(stage)])
    slots = Slot.objects.select_related("project", "video", *rows)
    return Prepared(lambda pk, person, token: slots.filter(pk=pk, person=person, token=token, state=SlotState.LEASED))


# Compiled, as is the lease: the page of a task takes 17 ms of CPU with them, 26 without.
_RUNNING = {desk: _running(desk) for desk in {public_stage(stage) for stage in CARD_ROWS}}
_SURVIVORS = Prepared(
    lambda caption, subtest: (
        Candidate.objects.filter(group__caption=caption, group__run__subtest=subtest)
        .exclude(state__in=[C.GENERATED, C.FILTERED_OUT])
        .order_by("pk")
    )
)


def _other_texts(caption: int, subtest: int, group: int, candidate: int) -> QuerySet[Candidate, str]:
    """Return the caption's other foils in the subtest that a reviewer compares. Without a reviewer's fix of this one,
    which would reveal the first decision.
    """
    same = Candidate.objects.filter(group__caption=caption, group__run__subtest=subtest)
    others = same.filter(Q(state__in=STANDS) & ~Q(group=group) | Q(state=C.IN_REVIEW) | Q(state=C.ACCEPTED, foil=None))
    others = others.exclude(pk=candidate).exclude(parent=candidate)
    return others.order_by("rank", "pk").values_list("text", flat=True)


def _returns(**of: int) -> QuerySet[Review]:
    returned = Review.objects.filter(decision=ReviewDecision.SEND_BACK, undone_at=None, slot__isnull=False, **of)
    return returned.order_by("-created_at", "-pk")


_OTHER_TEXTS = Prepared(_other_texts)
_RETURNS_OF_GROUP = Prepared(lambda group: _returns(candidate__group=group))
_RETURNS_OF_CANDIDATE = Prepared(lambda candidate: _returns(candidate=candidate))
# What the screening model said would bias the person whose decision measures its errors.
_SCORES = Prepared(
    lambda candidate: (
        FilterScore.objects.filter(candidate=candidate)
        .exclude(filter=SCREENING)
        .order_by("pk")
        .values_list("filter", "score", "passed", "detail")
    )
)


def _edit_work(group: CandidateGroup) -> EditWork:
    of_caption = _SURVIVORS.all(caption=group.caption_id, subtest=group.run.subtest_id)
    rows = [candidate for candidate in of_caption if candidate.group_id == group.pk]
    elsewhere = [c.text for c in of_caption if c.group_id != group.pk and c.state in STANDS]
    in_hand = [candidate for candidate in rows if candidate.state == C.EDITING]
    under_way = [c for c in rows if c.state == C.IN_REVIEW or (c.state == C.ACCEPTED and c.foil_id is None)]
    parents = {candidate.pk: candidate.parent_id for candidate in rows}
    notes = _by_candidate(_RETURNS_OF_GROUP.all(group=group.pk))
    suggestions = [
        _suggestion(group.caption.text, candidate, _notes_of(candidate.pk, parents, notes)) for candidate in in_hand
    ]
    spans = [suggestion.span for suggestion in suggestions if not suggestion.by_person]
    span = (min(start for start, _ in spans), max(end for _, end in spans)) if spans else None
    marks = _marks(group, span)
    return EditWork(
        caption=group.caption,
        wanted=max(0, group.run.subtest.foils_per_item - len(under_way)),
        suggestions=suggestions,
        others=[*(candidate.text for candidate in under_way), *elsewhere],
        target_span=span or (marks.span if marks else None),
        marks=marks,
    )


def _marks(group: CandidateGroup, span: tuple[int, int] | None) -> Marks | None:
    """Return the caption's marks if the subtest's foils change the action; ignores suggestions that change entities."""
    return None if group.run.subtest.changes != Subtest.Changes.ACTION else marks_of(group.caption.text, span)


def _review_work(candidate: Candidate, second: bool) -> ReviewWork:
    """Return what a reviewer decides on. A `second` reviewer learns nothing of the first decision."""
    group = candidate.group
    parents: dict[int, int | None] = dict(zip(*_lineage_pairs(candidate), strict=True))
    whose = {"caption": group.caption_id, "subtest": group.run.subtest_id, "group": group.pk}
    texts = _OTHER_TEXTS.all(**whose, candidate=candidate.pk)
    scores = _SCORES.all(candidate=candidate.pk)
    returns = _by_candidate(review for pk in parents for review in _RETURNS_OF_CANDIDATE.all(candidate=pk))
    notes = _notes_of(candidate.parent_id if second else candidate.pk, parents, returns)
    marks = _marks(group, None)
    return ReviewWork(
        caption=group.caption,
        foil=_suggestion(group.caption.text, candidate, notes),
        others=texts,
        findings=editing.check_text(group.caption.text, candidate.text, texts, marks=marks),
        filters=[FilterNote(*row) for row in scores],
        marks=marks,
    )


def _lineage_pairs(candidate: Candidate) -> tuple[tuple[int, ...], tuple[int | None, ...]]:
    line = lineage_of(candidate)
    return line, (*line[1:], None)


def two_texts(caption: str, foil: str, caption_first: bool) -> ValidationWork:
    """Return the two texts in their order."""
    first, second = (caption, foil) if caption_first else (foil, caption)
    return ValidationWork(ShownText(first, second), ShownText(second, first))


def _suggestion(caption: str, candidate: Candidate, notes: tuple[ReturnNote, ...]) -> Suggestion:
    return Suggestion(
        candidate_id=candidate.pk,
        text=candidate.text,
        rank=candidate.rank,
        by_person=candidate.author_id is not None,
        method=candidate.method,
        method_version=candidate.method_version,
        model_id=candidate.model_id,
        segments=diff_segments(caption, candidate.text),
        span=(candidate.span_start, candidate.span_end),
        returned=candidate.state == C.EDITING and candidate.claimed_from == C.RETURNED,
        notes=notes,
    )


def _by_candidate(returns: Iterable[Review]) -> dict[int, list[ReturnNote]]:
    notes: dict[int, list[ReturnNote]] = {}
    for review in returns:
        note = ReturnNote(tuple(review.reasons), review.comment, review.created_at)
        notes.setdefault(review.candidate_id, []).append(note)
    return notes


def _notes_of(
    candidate: int | None, parents: Mapping[int, int | None], notes: Mapping[int, Sequence[ReturnNote]]
) -> tuple[ReturnNote, ...]:
    found: list[ReturnNote] = []
    while candidate is not None:
        found += notes.get(candidate, ())
        candidate = parents.get(candidate)
    return tuple(found)
