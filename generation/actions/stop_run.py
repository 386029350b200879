"""A run stopped: what it has made stays, no model is asked any more."""

from django.db import transaction
from django.utils.translation import gettext as _

from generation.errors import GenerationError
from generation.models import GenerationRun
from jobs.queue import cancel
from projects import audit
from projects.access import require_role
from projects.models import Role, User


@transaction.atomic
def stop_run(person: User, run: GenerationRun) -> None:
    """Cancel the run's job; it ends at its next note of progress. The run can be taken up again (`resume_run`).

    AccessDenied without the researcher's role; GenerationError: it is over.
    """
    require_role(person, run.project, Role.RESEARCHER)
    if run.job is None or not cancel(run.job):
        raise GenerationError(_("The run is over; there is nothing to stop."))
    audit.record(audit.event(run.project, person, "generation.stop_run", run))
