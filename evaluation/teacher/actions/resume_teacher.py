"""A training taken up again after it failed or was stopped: it goes on from its last checkpoint."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.teacher.models import TeacherTraining
from jobs.queue import retry
from projects import audit
from projects.access import require_researcher
from projects.models import User


@transaction.atomic
def resume_teacher(person: User | None, training: TeacherTraining) -> None:
    """Queue what of the training is not done. `person` None is the operator of the command line.

    AccessDenied without the researcher's role; EvaluationError: it is still at work, or it ended.
    """
    require_researcher(person, training.project)
    if training.job is None or not retry(training.job):
        raise EvaluationError(_("Only a training that failed or was stopped can go on."))
    audit.record(audit.event(training.project, person, "evaluation.resume_teacher", training))
