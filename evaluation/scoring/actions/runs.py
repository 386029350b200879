"""Resume and stop scoring runs."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import limited
from evaluation.scoring.models import Run
from evaluation.scoring.shards.outlook import OTHER_MODEL
from jobs.queue import cancel, retry
from projects import audit
from projects.access import require_role
from projects.models import Role, User


@transaction.atomic
def resume_run(person: User, run: Run, budget: Mapping[str, float] | None = None) -> None:
    """Queue what of the run did not end; of a run in shards only those that did not. `budget`: its new limits.

    A plan that met another model than it was made with (other files, or an update of Foilworks) is made anew.
    AccessDenied without the researcher's role; EvaluationError: it is still at work, or it ended.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if run.job is not None and run.job.shards.filter(measured__has_key=OTHER_MODEL).exists():
        # Without shards the job plans: it takes the key that opens, and asks for what is not stored under that.
        run.job.shards.all().delete()
    if budget:
        changed = limited(budget, run.spec.partition(":")[0])["budget"]
        run.params = {**run.params, "budget": {**run.params.get("budget", {}), **changed}}
        run.save(update_fields=["params"])
    if run.job is None or not retry(run.job):
        raise EvaluationError(_("Only a failed or stopped run can be retried."))
    about = {"budget": dict(budget)} if budget else {}
    audit.record(audit.event(project, person, "evaluation.resume_run", run, **about))


@transaction.atomic
def stop_run(person: User, run: Run) -> None:
    """Cancel the run's job and its shards; those at work end at their next note of progress.

    AccessDenied without the researcher's role; EvaluationError: it is over.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if run.job is None or not cancel(run.job):
        raise EvaluationError(_("The run has already ended. There is nothing to stop."))
    audit.record(audit.event(project, person, "evaluation.stop_run", run))
