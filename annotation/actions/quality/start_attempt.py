"""A person starts practice or the qualification: the questions are drawn here and do not change."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Exists, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.models import Attempt, GoldPair, PracticeCaption, QualityPolicy, Question, Stage, Standing
from annotation.queries.eligibility import declined_by
from annotation.queries.quality import PRACTICE_ROLE, USE_OF_STAGE
from annotation.rules.quizzes import PRACTICE_LENGTH, draw, question_caption_first
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.corpus.models import WATCHABLE
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User


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
