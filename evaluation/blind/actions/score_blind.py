"""A model of text alone is asked about every text of a project, for the blind audit."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.blind.models import BlindScorer
from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import (
    ADAPTERS,
    MAX_LABEL_LENGTH,
    SCORE_FILE,
    check_device,
    checked_spec,
    default_label,
)
from jobs.queue import enqueue
from projects import audit
from projects.access import require_researcher
from projects.models import Project, User
from text.registry import load

JOB = "evaluation.blind.jobs.run_blind_scoring"


@transaction.atomic
def score_blind(
    person: User | None, project: Project, spec: str, *, device: str = "auto", label: str = ""
) -> BlindScorer:
    """Queue the job; a model that was asked before is asked about the texts that are new. `person` None: the operator.

    AccessDenied without the researcher's role; HubError for a spec that names no model; EvaluationError: a score file,
    an unknown device, a path outside the folder of models where a person asks.
    """
    require_researcher(person, project)
    slug, argument = checked_spec(spec.strip(), from_page=person is not None)
    if slug == SCORE_FILE:
        raise EvaluationError(_("A score file holds no model to ask; name a model of text alone, such as lm:FOLDER."))
    check_device(device)
    named = (label.strip() or default_label(slug, argument))[:MAX_LABEL_LENGTH]
    defaults = {"label": named, "device": device, "created_by": person}
    scorer, _made = BlindScorer.objects.get_or_create(project=project, spec=f"{slug}:{argument}", defaults=defaults)
    if scorer.job is not None and not scorer.job.is_over:
        return scorer
    queue = "gpu" if load(ADAPTERS)[slug].needs_gpu else "default"
    title = _("Blind audit by %(label)s") % {"label": scorer.label}
    scorer.job = enqueue(JOB, scorer.pk, queue=queue, title=title, project_id=project.pk)
    scorer.save(update_fields=["job"])
    audit.record(audit.event(project, person, "evaluation.score_blind", scorer, spec=scorer.spec))
    return scorer
