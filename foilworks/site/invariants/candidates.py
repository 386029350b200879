"""Candidates: the places where each may be, and the text that its provenance gives (docs/workflow.md#provenance)."""

from collections.abc import Iterator

from django.db.models import Exists, F, OuterRef, Q

from annotation.models import Slot, SlotState, Stage, Task, TaskState
from foilworks.core.corpus.models import GIVEN_UP
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.text.diff import Edit, apply_edits
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows
from generation.models import Candidate, CandidateGroup, FilterScore


def editing_is_in_somebodys_hands() -> Iterator[InvariantViolation]:
    leased = Slot.objects.filter(stage=Stage.EDIT, state=SlotState.LEASED, task__group=OuterRef("group"))
    yield from rows(
        Candidate.objects.filter(~Exists(leased), state=CandidateState.EDITING),
        "is in editing, but no task asks for the edit",
    )


def what_is_in_review_waits_for_one_reviewer() -> Iterator[InvariantViolation]:
    waiting = Candidate.objects.filter(state=CandidateState.IN_REVIEW, group__item=None)
    first = Task.objects.filter(stage=Stage.REVIEW, state=TaskState.OPEN, second=False)
    open_reviews = first.filter(candidate=OuterRef("pk"))
    yield from rows(waiting.filter(~Exists(open_reviews)), "is in review, but no task asks for the review")
    decided = first.exclude(candidate__state=CandidateState.IN_REVIEW)
    yield from rows(decided, "asks for a review of a candidate that is not in review")


def groups_that_lack_foils_can_be_claimed() -> Iterator[InvariantViolation]:
    """Find groups that lack foils and have waiting suggestions, but no open edit task."""
    waiting = Candidate.objects.filter(group=OuterRef("pk"), state__in=["queued", "returned", "editing"])
    under_way = Candidate.objects.filter(
        Q(state=CandidateState.IN_REVIEW) | Q(state=CandidateState.ACCEPTED, foil=None), group=OuterRef("pk")
    )
    open_edits = Task.objects.filter(group=OuterRef("pk"), stage=Stage.EDIT, state=TaskState.OPEN)
    groups = CandidateGroup.objects.filter(
        Exists(waiting), ~Exists(under_way), ~Exists(open_edits), item=None, tasked=True
    )
    # A candidate that a changed threshold restores under a corrected caption stays there.
    groups = groups.exclude(caption__doubt_settled__in=GIVEN_UP)
    yield from rows(groups, "has waiting suggestions, but nobody can claim it")


def a_rejection_has_its_reason() -> Iterator[InvariantViolation]:
    rejected = Candidate.objects.filter(state=CandidateState.FILTERED_OUT)
    refusal = FilterScore.objects.filter(candidate=OuterRef("pk"), passed=False)
    # A selection leaves out candidates that passed the filters, and a changed threshold those that passed in the run.
    by_filters = rejected.filter(held_back_by="", group__run__thresholds={})
    yield from rows(by_filters.filter(~Exists(refusal)), "is filtered out, but no filter rejected it")
    yield from rows(rejected.filter(rejected_by=[]), "is filtered out without a reason")
    elsewhere = Candidate.objects.exclude(held_back_by="").exclude(state=CandidateState.FILTERED_OUT)
    yield from rows(elsewhere, "is left out by a selection, but not filtered out")


def an_accepted_foil_is_of_its_groups_item() -> Iterator[InvariantViolation]:
    became_foils = Candidate.objects.filter(foil__isnull=False, group__item__isnull=False)
    fallen = became_foils.filter(foil__item=F("group__item")).exclude(state=CandidateState.ACCEPTED)
    yield from rows(fallen, "is a foil of an item, but not accepted")


def edits_give_the_text() -> Iterator[InvariantViolation]:
    """Check that the caption with the candidate's edits is its text, and that the edits are in its span."""
    columns = ("pk", "group__caption__text", "edits", "text", "span_start", "span_end")
    for pk, caption, edits, text, start, end in Candidate.objects.order_by("pk").values_list(*columns).iterator():
        if problem := _edit_problem(caption, edits, text, start, end):
            yield InvariantViolation(name_of(Candidate, pk), problem)


def somebody_or_something_made_it() -> Iterator[InvariantViolation]:
    yield from rows(Candidate.objects.filter(Q(method="") | Q(method_version="")), "does not say how it was made")


def _edit_problem(caption: str, edits: list, text: str, start: int, end: int) -> str:
    try:
        pieces = tuple(Edit(*edit) for edit in edits)
        edited_text = apply_edits(caption, pieces)
    except (TypeError, ValueError):
        return "has edits that cannot be applied to its caption"
    if edited_text != text:
        return "has edits that give a different text"
    if not 0 <= start <= end <= len(caption):
        return "has a span outside its caption"
    return "" if all(start <= piece.start <= piece.end <= end for piece in pieces) else "has edits outside its span"
