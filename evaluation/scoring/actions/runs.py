"""Resume and stop scoring runs."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import limited
from evaluation.scoring.shards.outlook import OTHER_MODEL
from foilworks.core.jobs.queue import cancel, retry
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User


@transaction.atomic
def resume_run(person: User, run: Run, budget: Mapping[str, float] | None = None) -> None:
    """Queue the unfinished work of the run; of a run in shards, only unfinished shards. `budget`: its new limits.

    A plan for a different model (other files, or an update of Foilworks) is made again. AccessDenied without the
    researcher's role; EvaluationError: the run is in progress, or done.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if run.job is not None and run.job.shards.filter(measured__has_key=OTHER_MODEL).exists():
        # Without shards, the job plans: it uses the key of the loaded model, and computes what is not stored under it.
        run.job.shards.all().delete()
    if budget:
        changed = limited(budget, run.spec.partition(":")[0], run.spec)["budget"]
        run.params = {**run.params, "budget": {**run.params.get("budget", {}), **changed}}
        run.save(update_fields=["params"])
    if run.job is None or not retry(run.job):
        raise EvaluationError(_("Only a failed or stopped run can be retried."))
    facts = {"budget": dict(budget)} if budget else {}
    audit.record(audit.event(project, person, "evaluation.resume_run", run, **facts))


@transaction.atomic
def stop_run(person: User, run: Run) -> None:
    """Cancel the run's job and its shards; running ones end at their next progress report.

    AccessDenied without the researcher's role; EvaluationError: the run has ended.
    """
    project = run.release.project
    require_role(person, project, Role.RESEARCHER)
    if run.job is None or not cancel(run.job):
        raise EvaluationError(_("The run has already ended. There is nothing to stop."))
    audit.record(audit.event(project, person, "evaluation.stop_run", run))
