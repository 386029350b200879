"""Queue the job in which a text-only model scores the texts of a project."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.blind.models import BlindScorer
from evaluation.errors import EvaluationError
from evaluation.scoring.run_request import MAX_LABEL_LENGTH, check_device, checked_spec, default_label
from foilworks.core.hub.catalogue.registry import ADAPTERS, SCORE_FILE
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, User

JOB = "blind.score"


@transaction.atomic
def score_blind(
    person: User | None, project: Project, spec: str, *, device: str = "auto", label: str = ""
) -> BlindScorer:
    """Queue the job; a model that was queried before is queried only for new texts. `person` None: the operator.

    AccessDenied without the researcher's role; HubError if the spec names no model; EvaluationError for a score file
    or an unknown device; GenerationError if a person names a path that is neither the project's nor shared.
    """
    require_researcher(person, project)
    slug, argument = checked_spec(spec, project if person is not None else None)
    if slug == SCORE_FILE:
        raise EvaluationError(_("A score file contains no model to query. Enter a text-only model, such as lm:FOLDER."))
    check_device(device)
    scorer_label = (label.strip() or default_label(slug, argument))[:MAX_LABEL_LENGTH]
    defaults = {"label": scorer_label, "device": device, "created_by": person}
    scorer, _made = BlindScorer.objects.get_or_create(project=project, spec=f"{slug}:{argument}", defaults=defaults)
    if scorer.job is not None and not scorer.job.is_over:
        return scorer
    queue = "gpu" if ADAPTERS[slug].needs_gpu else "default"
    title = _("Blind audit by %(label)s") % {"label": scorer.label}
    scorer.job = enqueue(JOB, scorer.pk, queue=queue, title=title, project_id=project.pk)
    scorer.save(update_fields=["job"])
    audit.record(audit.event(project, person, "evaluation.score_blind", scorer, spec=scorer.spec))
    return scorer
