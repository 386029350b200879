"""What annotators and reviewers see of foils: suggestions to edit, and the foil of a review.

The foils that other runs of a subtest already have for a caption, so that nobody writes one of them again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from annotation.models import Review, ReviewDecision
from annotation.queries.eligibility import lineage_of
from annotation.rules import editing
from annotation.rules.editing import Finding
from annotation.rules.marking import Marks, marks_of
from foilworks.core.corpus.models import Caption, Subtest
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.sql.prepared_queries import Prepared
from foilworks.core.text.diff import diff_segments
from generation.filters.registry import SCREENING
from generation.models import Candidate, CandidateGroup, FilterScore

STANDS = (CandidateState.IN_REVIEW, CandidateState.ACCEPTED)
_OF_OTHER_RUNS = Prepared(
    lambda group, caption, subtest: (
        Candidate.objects.filter(group__caption=caption, group__run__subtest=subtest, state__in=STANDS)
        .exclude(group=group)
        .order_by("pk")
        .values_list("text", flat=True)
    )
)


def foils_of_other_runs(group: CandidateGroup) -> list[str]:
    """Return the texts in review or accepted for the caption in other runs of the subtest. One query."""
    return _OF_OTHER_RUNS.all(group=group.pk, caption=group.caption_id, subtest=group.run.subtest_id)


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


def edit_work(group: CandidateGroup) -> EditWork:
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


def review_work(candidate: Candidate, second: bool) -> ReviewWork:
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
    inherited_notes: list[ReturnNote] = []
    while candidate is not None:
        inherited_notes += notes.get(candidate, ())
        candidate = parents.get(candidate)
    return tuple(inherited_notes)
