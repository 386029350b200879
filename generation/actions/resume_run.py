"""A run taken up again: captions that a model gave no answer for are asked about again, what failed goes on."""

from django.db import transaction
from django.utils.translation import gettext as _

from generation.actions.start_run import queue_run
from generation.asking import endpoints
from generation.errors import GenerationError
from generation.models import CandidateGroup, GenerationRun
from jobs.models import JobState
from projects import audit
from projects.access import require_role
from projects.models import Role, User

BUDGET = ("requests", "tokens")
STOPPED = (JobState.FAILED, JobState.CANCELLED)


@transaction.atomic
def resume_run(person: User, run: GenerationRun, *, budget: dict[str, int] | None = None) -> GenerationRun:
    """Queue the run's work again, nothing of it that is stored; `budget` puts other limits on requests and tokens.

    AccessDenied without the researcher's role; GenerationError: it is still running, or nothing is left to do.
    """
    require_role(person, run.project, Role.RESEARCHER)
    job = run.job
    if job is not None and not job.is_over:
        raise GenerationError(_("The run is still being worked on; wait until it ends, or stop it first."))
    unanswered = CandidateGroup.objects.filter(run=run, unanswered=True).count()
    if not unanswered and job is not None and job.state not in STOPPED:
        raise GenerationError(_("Nothing is left to do in this run."))
    before = {name: run.params[name] for name in BUDGET if name in run.params}
    if budget:
        unknown = set(budget) - set(before)
        if unknown:
            raise GenerationError(_("This run asks no endpoint; it has no budget to change."))
        run.params = endpoints.checked({**run.params, **budget})
    taken = GenerationRun.objects.filter(pk=run.pk, job=job).update(params=run.params, job=None)
    if not taken:
        raise GenerationError(_("Somebody has just taken the run up again."))
    queue_run(run)
    after = {name: run.params[name] for name in before}
    details = {"before": before, "budget": after, "unanswered": unanswered}
    audit.record(audit.event(run.project, person, "generation.resume_run", run, **details))
    return run
