"""A person answers a question of practice or of the qualification."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import attempt_for
from annotation.actions.quality.standings import standing_of
from annotation.errors import AnnotationError
from annotation.models import Attempt, Question, Stage
from annotation.queries.quality import PRACTICE_ROLE
from annotation.rules.editing import MAX_CHARACTERS
from annotation.rules.quizzes import LINE, grade_edits, has_passed
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.rules.watch_evidence import seconds_spent, watch_evidence
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User


def answer_question(
    person: User,
    attempt_id: int,
    question_index: int,
    answer: str | int | Sequence[str],
    *,
    watch: Any = None,
    seconds: Any = None,
    now: datetime | None = None,
) -> Question:
    """Store the first answer to the question; a second one changes nothing. The last one ends the attempt.

    `answer`: 1-5 or its name for a pair, the foil or foils for a caption. AnnotationError for an invalid answer.
    """
    moment = now or timezone.now()
    return run_in_transaction(lambda: _answer(person, attempt_id, question_index, answer, watch, seconds, moment))


def _answer(
    person: User,
    attempt_id: int,
    question_index: int,
    answer: str | int | Sequence[str],
    watch: Any,
    seconds: Any,
    now: datetime,
) -> Question:
    serialize_writes(person)
    attempt = attempt_for(person, attempt_id)
    require_role(person, attempt.project, PRACTICE_ROLE[Stage(attempt.of_stage)])
    question = (
        attempt.questions.select_related("pair", "practice__caption", "practice__subtest")
        .filter(place=question_index)
        .first()
    )
    if question is None:
        raise AnnotationError(_("Question not found."))
    if question.answered_at is not None:
        return question
    if question.pair_id:
        _judge(question, answer if isinstance(answer, str | int) else "")
    else:
        _edit(question, [str(answer)] if isinstance(answer, str | int) else list(answer))
    question.answered_at, question.seconds_spent, question.watch = now, seconds_spent(seconds), watch_evidence(watch)
    question.save()
    if not attempt.questions.filter(answered_at=None).exists():
        _finish(attempt, person, now)
    return question


def _judge(question: Question, answer: str | int) -> None:
    shown_answer = parse_answer(answer)
    if shown_answer is None:
        raise AnnotationError(_("Answer with 1 to 5 or one of: %(list)s.") % {"list": ", ".join(ANSWERS)})
    question.choice = truth_of(shown_answer, bool(question.caption_first))
    question.right = question.choice == question.pair.answer


def _edit(question: Question, texts: list[str]) -> None:
    """Store the foils, one per line, and whether all are right."""
    practice = question.practice
    foils = [text.strip() for text in texts]
    if len(foils) != practice.wanted:
        raise AnnotationError(_("Write %(wanted)s foils.") % {"wanted": practice.wanted})
    if any(not text or len(text) > MAX_CHARACTERS or "\x00" in text for text in foils):
        raise AnnotationError(_("Write a foil of at most %(most)s characters.") % {"most": MAX_CHARACTERS})
    if practice.wanted > 1:
        foils = [" ".join(text.split()) for text in foils]
    question.text = LINE.join(foils)
    grades = grade_edits(practice.caption.text, foils, practice.examples, practice.marks)
    question.right = all(grade.right for grade in grades)


def _finish(attempt: Attempt, person: User, now: datetime) -> None:
    """End the attempt; a person who passed the qualification may validate."""
    answers = list(attempt.questions.values_list("right", flat=True))
    attempt.finished_at, attempt.passed = now, has_passed(sum(answers), len(answers), attempt.pass_share)
    attempt.save(update_fields=["finished_at", "passed"])
    state = "passed" if attempt.passed else "failed"
    audit.record(
        audit.event(
            attempt.project, person, "finish_attempt", attempt, to_state=state, right=sum(answers), asked=len(answers)
        )
    )
    if attempt.stage == Stage.QUALIFICATION and attempt.passed:
        standing = standing_of(person, attempt.project)
        standing.qualified_at = now
        standing.save(update_fields=["qualified_at"])
