"""A person starts practice or the qualification: the questions are drawn here and do not change.

A person answers a question of practice or of the qualification.

A researcher adds a practice caption.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Exists, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import attempt_for
from annotation.actions.quality.standings import standing_of
from annotation.errors import AnnotationError
from annotation.models import Attempt, GoldPair, PracticeCaption, QualityPolicy, Question, Stage, Standing
from annotation.queries.eligibility import declined_by
from annotation.queries.quality import PRACTICE_ROLE, USE_OF_STAGE
from annotation.rules.editing import MAX_CHARACTERS, check_text, errors
from annotation.rules.quizzes import LINE, PRACTICE_LENGTH, draw, grade_edits, has_passed, question_caption_first
from annotation.rules.voting import ANSWERS, parse_answer, truth_of
from annotation.rules.watch_evidence import seconds_spent, watch_evidence
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import WATCHABLE, Caption, Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.quoting import shortened


def start_attempt(
    person: User, project: Project, stage: str, of_stage: str = Stage.VALIDATION, *, now: datetime | None = None
) -> Attempt:
    """Return the person's open attempt, or a new one. Practice is unlimited; the policy limits the qualification.

    AnnotationError if it is not open or already passed, or if no attempt or no new question remains.
    """
    if stage not in USE_OF_STAGE or of_stage not in PRACTICE_ROLE:
        raise AnnotationError(_("Exercise not found."))
    require_role(person, project, PRACTICE_ROLE[Stage(of_stage)])
    return run_in_transaction(lambda: _start(person, project, stage, of_stage, now or timezone.now()))


def _start(person: User, project: Project, stage: str, of_stage: str, now: datetime) -> Attempt:
    serialize_writes(person)
    attempts = Attempt.objects.filter(person=person, project=project, stage=stage, of_stage=of_stage)
    running = attempts.filter(finished_at=None).first()
    if running is not None:
        return running
    policy = QualityPolicy.objects.filter(project=project).first()
    number = attempts.count() + 1
    if stage == Stage.QUALIFICATION:
        policy = _may_qualify(policy, person, number)
    elif policy is None or not policy.practice_open:
        raise AnnotationError(_("Practice is not open in this project."))
    attempt = Attempt(
        project=project,
        person=person,
        stage=stage,
        of_stage=of_stage,
        number=number,
        pass_share=policy.pass_share,
        started_at=now,
    )
    questions = _questions(attempt, policy)
    attempt.save()
    Question.objects.bulk_create(questions)
    audit.record(audit.event(project, person, "start_attempt", attempt, to_state=stage, questions=len(questions)))
    return attempt


def _may_qualify(policy: QualityPolicy | None, person: User, number: int) -> QualityPolicy:
    if policy is None or not policy.qualification_open:
        raise AnnotationError(_("The qualification is not open in this project."))
    if Standing.objects.filter(policy=policy, person=person, qualified_at__isnull=False).exists():
        raise AnnotationError(_("You have already passed. Go to your work."))
    if number > policy.tries:
        raise AnnotationError(_("You have no attempts left. Ask the project's researcher."))
    return policy


def _questions(attempt: Attempt, policy: QualityPolicy) -> list[Question]:
    if attempt.of_stage == Stage.EDIT:
        return _edits(attempt, policy)
    length = policy.test_length if attempt.stage == Stage.QUALIFICATION else PRACTICE_LENGTH
    pairs = GoldPair.objects.filter(
        project=attempt.project_id,
        use=USE_OF_STAGE[Stage(attempt.stage)],
        withdrawn_at=None,
        video__media_state__in=WATCHABLE,
    ).exclude(Exists(declined_by(attempt.person_id)))
    fresh = pairs.exclude(questions__attempt__person=attempt.person)
    # A person who declined some of the videos is asked about the others: the pass mark is a share.
    if attempt.stage == Stage.QUALIFICATION and fresh.count() < min(length, pairs.count()):
        raise AnnotationError(_("There are no new questions for another attempt. Ask the project's researcher."))
    pool = fresh if fresh.exists() else pairs
    drawn_ids = draw(policy.secret, attempt.person_id, attempt.number, *_by_kind(pool), length, policy.mismatched_share)
    return [
        Question(
            attempt=attempt,
            place=index,
            pair_id=pk,
            caption_first=question_caption_first(policy.secret, attempt.person_id, attempt.number, index),
        )
        for index, pk in enumerate(_some(drawn_ids))
    ]


def _by_kind(pairs: QuerySet[GoldPair]) -> tuple[list[int], list[int]]:
    rows = list(pairs.order_by("pk").values_list("pk", "mismatched").distinct())
    return [pk for pk, mismatched in rows if not mismatched], [pk for pk, mismatched in rows if mismatched]


def _edits(attempt: Attempt, policy: QualityPolicy) -> list[Question]:
    captions = PracticeCaption.objects.filter(
        project=attempt.project_id, withdrawn_at=None, caption__video__media_state__in=WATCHABLE
    ).exclude(Exists(declined_by(attempt.person_id, "caption__video")))
    ids = list(captions.order_by("pk").values_list("pk", flat=True))
    drawn_ids = draw(policy.secret, attempt.person_id, attempt.number, ids, (), PRACTICE_LENGTH, 0.0)
    return [Question(attempt=attempt, place=index, practice_id=pk) for index, pk in enumerate(_some(drawn_ids))]


def _some(drawn_ids: Sequence[int]) -> Sequence[int]:
    if not drawn_ids:
        raise AnnotationError(_("There are no practice questions yet. Ask the project's researcher to add some."))
    return drawn_ids


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


def add_practice_caption(
    actor: User,
    project: Project,
    caption: Caption,
    examples: Sequence[str],
    explanation: str = "",
    subtest: Subtest | None = None,
) -> PracticeCaption:
    """Add the caption with an expert's foils for it, one or more, each without an error in the live checks.

    `subtest`: people write as many foils as for its items, and change only the action if its foils do.
    """
    require_role(actor, project, Role.RESEARCHER)
    if caption.video.project_id != project.pk:
        raise AnnotationError(_("This caption belongs to another project. Choose one from this project."))
    if subtest is not None and subtest.project_id != project.pk:
        raise AnnotationError(_("This subtest belongs to another project. Choose one from this project."))
    foils = [line.strip() for line in examples if line.strip()]
    if not foils:
        raise AnnotationError(_("Write at least one example foil by an expert."))
    wrong = [foil for foil in foils if errors(check_text(caption.text, foil))]
    if wrong:
        raise AnnotationError(_("This example is not a foil of the caption: %(text)s") % {"text": shortened(wrong[0])})
    return run_in_transaction(lambda: _add(actor, project, caption, foils, explanation.strip(), subtest))


def _add(
    actor: User, project: Project, caption: Caption, examples: list[str], explanation: str, subtest: Subtest | None
) -> PracticeCaption:
    if PracticeCaption.objects.filter(project=project, caption=caption, withdrawn_at=None).exists():
        raise AnnotationError(_("This caption is already in practice. Choose another one."))
    practice_caption = PracticeCaption.objects.create(
        project=project,
        subtest=subtest,
        caption=caption,
        examples=examples,
        explanation=explanation,
        said_by=actor,
    )
    audit.record(audit.event(project, actor, "add_practice_caption", practice_caption))
    return practice_caption
