"""Score texts with a text-only model; set the limits of the blind audit."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.blind.models import BlindScorer
from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import (
    MAX_LABEL_LENGTH,
    check_device,
    checked_spec,
    default_label,
)
from foilworks.core.corpus.models import Subtest
from foilworks.core.hub.catalogue.registry import ADAPTERS, SCORE_FILE
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_researcher, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

JOB = "blind.score"
MIN_BAR, MAX_BAR = 0.5, 1.0


@transaction.atomic
def score_blind(
    person: User | None, project: Project, spec: str, *, device: str = "auto", label: str = ""
) -> BlindScorer:
    """Queue the job; a model that was queried before is queried only for new texts. `person` None: the operator.

    AccessDenied without the researcher's role; HubError if the spec names no model; EvaluationError for a score file,
    an unknown device, or a path outside the models folder if a person sets it.
    """
    require_researcher(person, project)
    slug, argument = checked_spec(spec.strip(), from_page=person is not None)
    if slug == SCORE_FILE:
        raise EvaluationError(_("A score file contains no model to query. Enter a text-only model, such as lm:FOLDER."))
    check_device(device)
    named = (label.strip() or default_label(slug, argument))[:MAX_LABEL_LENGTH]
    defaults = {"label": named, "device": device, "created_by": person}
    scorer, _made = BlindScorer.objects.get_or_create(project=project, spec=f"{slug}:{argument}", defaults=defaults)
    if scorer.job is not None and not scorer.job.is_over:
        return scorer
    queue = "gpu" if ADAPTERS[slug].needs_gpu else "default"
    title = _("Blind audit by %(label)s") % {"label": scorer.label}
    scorer.job = enqueue(JOB, scorer.pk, queue=queue, title=title, project_id=project.pk)
    scorer.save(update_fields=["job"])
    audit.record(audit.event(project, person, "evaluation.score_blind", scorer, spec=scorer.spec))
    return scorer


@transaction.atomic
def set_blind_bars(person: User, project: Project, bar: float, of_subtests: Mapping[int, float | None]) -> None:
    """Set the limits. `of_subtests`: id -> limit, None = the project's limit; unnamed subtests keep theirs.

    AccessDenied without the researcher's role; EvaluationError: a limit outside .5 to 1, or a subtest of another
    project.
    """
    require_role(person, project, Role.RESEARCHER)
    rows = {row.pk: row for row in Subtest.objects.filter(project=project, pk__in=of_subtests)}
    if len(rows) != len(of_subtests):
        raise EvaluationError(_("This subtest belongs to another project. Reload the page."))
    for value in [bar, *of_subtests.values()]:
        if value is not None and not MIN_BAR <= value <= MAX_BAR:
            raise EvaluationError(_("The limit must be between 0.5 (chance) and 1. At 1, the gate never blocks."))
    changes = {}
    if bar != project.blind_bar:
        changes["project"] = [project.blind_bar, bar]
        project.blind_bar = bar
        project.save(update_fields=["blind_bar"])
    for pk, value in of_subtests.items():
        row = rows[pk]
        if row.blind_bar != value:
            changes[row.name] = [row.blind_bar, value]
            row.blind_bar = value
            row.save(update_fields=["blind_bar"])
    if changes:
        audit.record(audit.event(project, person, "evaluation.set_blind_bars", project, changes=changes))
