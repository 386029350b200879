"""An annotator submits the foils of a group; each becomes a candidate in review."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.actions import ledger
from annotation.actions.leases import leasing
from annotation.actions.submissions import submission
from annotation.actions.submissions.submission import Submission
from annotation.actions.workflow import authoring, task_slots
from annotation.actions.workflow.groups import advance, group_facts
from annotation.actions.workflow.transitions import move_candidates
from annotation.errors import AnnotationError
from annotation.messages import of_finding
from annotation.models import Edit, Involvement, Lease, Review, ReviewDecision, SlotState, Stage
from annotation.queries.eligibility import lineage_of
from annotation.queries.foil_cards import foils_of_other_runs
from annotation.queries.work_rules import policy_in, review_rate
from annotation.rules import editing
from annotation.rules.editing import Problem
from annotation.rules.flow import texts_wanted
from annotation.rules.reviewing import drawn_for_review
from annotation.transactions import Refused, run_in_transaction
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.core.projects.sql.fast_inserts import insert
from foilworks.core.projects.sql.prepared_queries import Prepared
from generation.models import Candidate, CandidateGroup

C = CandidateState
# Not allowed even in late work, which is only stored.
UNSTORABLE = frozenset({Problem.TOO_LONG, Problem.CONTROL_CHARACTER})
_UNDER_KEY = Prepared(lambda person, key: Edit.objects.filter(person=person, idempotency_key=key))
_OF_GROUP = Prepared(lambda group: Candidate.objects.filter(group=group))


@dataclass(frozen=True)
class Texts:
    """The submitted texts without outer blanks, each with the suggestion that it came from, if any."""

    texts: tuple[str, ...]
    parents: tuple[int | None, ...]


def submit_edit(
    person: User,
    token: str,
    key: str,
    texts: Sequence[str],
    parents: Sequence[int | None] = (),
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Edit:
    """Store the edit, once for each `key`. AnnotationError where a text has an error or their number is wrong.

    A text equal to a suggestion submits that suggestion; any other text becomes a child of the suggestion it came from,
    which is superseded. The other suggestions stay. Late work whose slot is taken is stored as texts.
    """
    return answer_edit(Submission(person, token, key, now or timezone.now(), watch, seconds), texts, parents).record


def answer_edit(
    sent: Submission, texts: Sequence[str], parents: Sequence[int | None] = ()
) -> submission.StoredWork[Edit]:
    """Store the edit as `submit_edit` does."""
    padded = [*parents, *([None] * (len(texts) - len(parents)))]
    stripped = Texts(tuple(text.strip() for text in texts), tuple(padded[: len(texts)]))
    return run_in_transaction(lambda: _submit(sent, stripped))


def _submit(sent: Submission, foil_texts: Texts) -> submission.StoredWork[Edit] | Refused:
    lease = submission.held_lease(sent, Stage.EDIT, Role.ANNOTATOR)
    group = lease.task.group
    group.run.project = lease.slot.project
    with audit.in_one_statement():
        edit = _edit(sent, lease, group, foil_texts)
    return edit if isinstance(edit, Refused) else submission.StoredWork(edit, lease)


def _edit(sent: Submission, lease: Lease, group: CandidateGroup, foil_texts: Texts) -> Edit | Refused:
    before = _UNDER_KEY.first(person=sent.person.pk, key=sent.key)
    if before is not None:
        return before
    slot_to_fill = leasing.find_slot(lease, sent.now)
    if slot_to_fill.slot is None:
        return _store_late(sent, lease, slot_to_fill, group, foil_texts)
    refused = submission.check_eligibility(slot_to_fill.slot, sent)
    if refused is not None:
        return refused
    if slot_to_fill.slot.state == SlotState.FREE:
        leasing.take_candidates(slot_to_fill.slot, sent.person)
    return _store(sent, lease, slot_to_fill, group, foil_texts)


def _store(
    sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, group: CandidateGroup, foil_texts: Texts
) -> Edit:
    slot, of_group = slot_to_fill.slot, _OF_GROUP.all(group=group.pk)
    _check(group, foil_texts, of_group)
    leasing.fill(slot, lease, sent.now)
    task_slots.finish(slot.task)
    edit = _record(sent, lease, slot_to_fill, group, foil_texts)
    candidates = _become_candidates(sent.person, group, foil_texts, of_group)
    insert(*(Edit.candidates.through(edit_id=edit.pk, candidate_id=candidate.pk) for candidate in candidates))
    _pass_unreviewed(sent.person, group, candidates)
    leasing.return_candidates(slot, sent.person, "not used")
    submission.involve(sent, slot, Involvement.Kind.MADE)
    advance(group, sent.person, sent.now)
    return edit


def _record(
    sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, group: CandidateGroup, foil_texts: Texts
) -> Edit:
    fields = submission.common_fields(sent, lease, slot_to_fill)
    edit = Edit(group=group, texts=list(foil_texts.texts), **fields)
    insert(edit)
    ledger.book(edit, lease.slot.project, Stage.EDIT)
    counted = "counted" if slot_to_fill.slot else "kept apart"
    audit.record(
        audit.event(group.run.project, sent.person, "submit_edit", edit, to_state=counted, late=slot_to_fill.late)
    )
    return edit


def _store_late(
    sent: Submission, lease: Lease, slot_to_fill: leasing.SlotToFill, group: CandidateGroup, foil_texts: Texts
) -> Edit:
    findings = editing.check_texts(group.caption.text, foil_texts.texts)
    _raise_first([finding for finding in findings if finding.problem in UNSTORABLE], len(foil_texts.texts))
    leasing.close(lease, sent.now)
    submission.involve(sent, submission.slot_with_task(lease), Involvement.Kind.MADE)
    return _record(sent, lease, slot_to_fill, group, foil_texts)


def _check(group: CandidateGroup, foil_texts: Texts, of_group: Sequence[Candidate]) -> None:
    n_texts = texts_wanted(group_facts(group))
    if len(foil_texts.texts) != n_texts:
        raise AnnotationError(
            ngettext(
                "This task requires %(wanted)s foil, but %(given)s were submitted. Write the foil or skip the task.",
                "This task requires %(wanted)s foils, but only %(given)s were submitted. Write all of them "
                "or skip the task.",
                n_texts,
            )
            % {"wanted": n_texts, "given": len(foil_texts.texts)}
        )
    by_state: dict[str, list[str]] = {}
    # Foils already in an item do not count: a requeued foil may be submitted unchanged.
    for candidate in of_group:
        if candidate.foil_id is None:
            by_state.setdefault(candidate.state, []).append(candidate.text)
    other_foils = [*by_state.get(C.IN_REVIEW, ()), *by_state.get(C.ACCEPTED, ()), *foils_of_other_runs(group)]
    findings = editing.check_texts(group.caption.text, foil_texts.texts, other_foils, by_state.get(C.DROPPED, ()))
    _raise_first(editing.errors(findings), len(foil_texts.texts))


def _raise_first(errors: Sequence[editing.Finding], n_texts: int) -> None:
    """Raise the first error; a number only tells one of several foils apart."""
    for finding in errors:
        words = _("The foil: %(problem)s.") if n_texts == 1 else _("Foil %(number)s: %(problem)s.")
        raise AnnotationError(words % {"number": finding.index + 1, "problem": of_finding(finding)})


def _become_candidates(
    person: User, group: CandidateGroup, foil_texts: Texts, of_group: Sequence[Candidate]
) -> list[Candidate]:
    """Return the candidates of the texts, all in review; what they replace is superseded."""
    in_hand = {candidate.pk: candidate for candidate in of_group if candidate.state == C.EDITING}
    unknown = [parent for parent in foil_texts.parents if parent is not None and parent not in in_hand]
    if unknown:
        raise AnnotationError(
            _("A suggestion that you used no longer exists. Reload the page to see the current ones.")
        )
    by_text = {c.text: c for c in reversed(in_hand.values())}
    unchanged_ids = {c.pk for text in foil_texts.texts if (c := by_text.get(text))}
    replaced = {
        p for text, p in zip(foil_texts.texts, foil_texts.parents, strict=True) if p and text not in by_text
    } - unchanged_ids
    project = group.run.project
    move_candidates([in_hand[pk] for pk in unchanged_ids], "submit", project, person)
    move_candidates([in_hand[pk] for pk in replaced], "supersede", project, person, "reworded")
    if all(text in by_text for text in foil_texts.texts):
        return [by_text[text] for text in foil_texts.texts]
    next_rank = max((candidate.rank for candidate in of_group), default=-1) + 1
    return [
        by_text[text]
        if text in by_text
        else authoring.write_candidate(group, person, text, in_hand.get(parent), C.IN_REVIEW, next_rank + index)
        for index, (text, parent) in enumerate(zip(foil_texts.texts, foil_texts.parents, strict=True))
    ]


def _pass_unreviewed(person: User, group: CandidateGroup, candidates: Sequence[Candidate]) -> None:
    """Accept by rule what is not drawn for review.

    Work that a reviewer has returned always goes to reviewers again.
    """
    project = group.run.project
    rate = review_rate(project, person, policy_in(project))
    if rate >= 1.0 or _came_back(group, candidates):
        return
    seed = secret_seed("review-sampling", project.pk)
    passed = [candidate for candidate in candidates if not drawn_for_review(seed, candidate.pk, rate)]
    reason = f"not drawn: {rate:g} of the author's work is reviewed"
    move_candidates(passed, "pass_unreviewed", project, None, reason, unreviewed=True)


def _came_back(group: CandidateGroup, candidates: Sequence[Candidate]) -> bool:
    """Return whether a reviewer returned anything of the group, or the source of a carried-over text.

    Checks the whole group: the submitter says what a text came from.
    """
    returned = Review.objects.filter(
        decision=ReviewDecision.SEND_BACK, second=False, undone_at=None, slot__isnull=False
    )
    # By their ids: an OR over two tables would read all reviews.
    concerned = {pk for candidate in candidates for pk in lineage_of(candidate)}
    concerned |= set(group.candidates.values_list("pk", flat=True))
    return returned.filter(candidate__in=concerned).exists()
