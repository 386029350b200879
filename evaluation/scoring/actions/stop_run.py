"""A scoring run stopped: what is scored stays, no model is asked any more."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.models import Run
from jobs.queue import cancel
from projects import audit
from projects.access import require_role
from projects.models import Role, User


@transaction.atomic
def stop_run(person: User, run: Run) -> None:
    """Cancel the run's job and its shards; those at work end at their next note of progress.

    AccessDenied without the researcher's role; EvaluationError: it is over.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if run.job is None or not cancel(run.job):
        raise EvaluationError(_("The run is over; there is nothing to stop."))
    audit.record(audit.event(project, person, "evaluation.stop_run", run))
