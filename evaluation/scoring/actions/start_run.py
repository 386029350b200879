"""Queue a scoring run: one model on one release under one protocol."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.scoring.models import Run
from evaluation.scoring.run_request import MAX_LABEL_LENGTH, RunRequest, default_label
from foilworks.core.corpus.models import Release
from foilworks.core.hub.catalogue.registry import ADAPTERS, ENDPOINT, SCORE_FILE
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User

JOB = "scoring.run"


@transaction.atomic
def start_run(person: User | None, release: Release, request: RunRequest) -> Run:
    """Store the run and queue its job (`run.job`). `person` None is the operator of the command line.

    AccessDenied; HubError: the spec names no model; EvaluationError: an invalid choice, a missing file;
    GenerationError: a path on a page that is neither the project's nor shared.
    """
    require_researcher(person, project := release.project)
    slug, argument = request.checked_spec(project if person is not None else None)
    run = Run.objects.create(
        release=release,
        spec=f"{slug}:{argument}",
        label=(request.label.strip() or default_label(slug, argument))[:MAX_LABEL_LENGTH],
        protocol=request.protocol,
        device=request.device,
        params=request.checked_params(release, slug, argument),
        created_by=person,
    )
    run.job = queued(run, slug, request.dtype)
    run.save(update_fields=["job"])
    audit.record(audit.event(project, person, "evaluation.start_run", run, **_about(run)))
    return run


def _about(run: Run) -> dict[str, Any]:
    """Return what the audit notes of a started run."""
    details: dict[str, Any] = {
        "spec": run.spec,
        "protocol": run.protocol,
        "device": run.device,
        "release": run.release_id,
    }
    details |= {"budget": run.params["budget"]} if "budget" in run.params else {}
    return details | ({"rungs": run.params["ladder"]["rungs"]} if "ladder" in run.params else {})


def queued(run: Run, slug: str, dtype: str) -> Job:
    """Route the job: a score file and an endpoint need neither our GPU nor a worker that has the model loaded."""
    elsewhere = slug in (SCORE_FILE, ENDPOINT)
    return enqueue(
        JOB,
        run.pk,
        queue="gpu" if not elsewhere and ADAPTERS[slug].needs_gpu else "default",
        title=_("Scores of %(label)s on %(release)s") % {"label": run.label, "release": run.release.name},
        project_id=run.release.project_id,
        route="" if elsewhere else f"{run.spec} {run.device} {dtype}",
    )
