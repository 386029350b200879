"""Queue a measurement of how close a release's foils are to their captions in meaning."""

from pathlib import PurePath

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.proximity.models import ProximityRun
from evaluation.scoring.run_request import check_device
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User
from generation.model_paths import with_paths

JOB = "proximity.measure"
MAX_MODEL_LENGTH, MAX_NAME_LENGTH = 500, 60


@transaction.atomic
def measure_proximity(
    person: User | None, release: Release, model: str, *, name: str = "", device: str = "auto"
) -> ProximityRun:
    """Store the measurement and queue its job (`run.job`). `person` None is the operator of the command line.

    `model`: a sentence-transformers id or folder, or `clip:` with one. AccessDenied without the researcher's role;
    EvaluationError for an impossible model name; GenerationError for a path outside the models folder if a person sets
    it.
    """
    project = release.project
    require_researcher(person, project)
    model = model.strip()
    if not model or len(model) > MAX_MODEL_LENGTH or not model.isprintable():
        raise EvaluationError(
            _("Enter an encoder: a hub ID or a folder. Add clip: in front to use the text encoder of CLIP.")
        )
    check_device(device)
    model = with_paths({"model": model}, owner=project if person is not None else None)["model"]
    run_name = " ".join(name.split()) or PurePath(model.partition("?")[0]).name or model
    run = ProximityRun.objects.create(
        release=release, model=model, name=run_name[:MAX_NAME_LENGTH], device=device, created_by=person
    )
    title = _("Semantic proximity of %(release)s with %(name)s") % {"release": release.name, "name": run.name}
    run.job = enqueue(JOB, run.pk, queue="gpu", title=title, project_id=project.pk)
    run.save(update_fields=["job"])
    details = {"model": model, "name": run.name, "device": device, "release": release.pk}
    audit.record(audit.event(project, person, "evaluation.measure_proximity", run, **details))
    return run
