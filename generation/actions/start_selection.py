"""A selection, asked for: a job works it out, and nothing moves before somebody applies it."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from corpus.models import Subtest
from generation.errors import GenerationError
from generation.models import GenerationRun, Selection
from generation.selections.open_candidates import GAPS
from jobs.queue import enqueue
from projects import audit
from projects.access import require_role
from projects.models import Role, User

JOB = "generation.jobs.work_out_selection"
GAPS_WANTED = 2


@transaction.atomic
def start_selection(
    person: User,
    subtest: Subtest,
    kind: str,
    *,
    run: GenerationRun | None = None,
    seed: int = 0,
    gaps: Sequence[str] = (),
) -> Selection:
    """Queue the job. `run` None: the candidates of all runs of the subtest. `gaps`: of adversarial refinement.

    AccessDenied without the researcher's role; GenerationError: an unknown kind, not two gaps.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    if kind not in Selection.Kind.values:
        raise GenerationError(f"there is no selection '{kind}'; choose one of: {', '.join(Selection.Kind.values)}")
    params = {}
    if kind == Selection.Kind.ADVERSARIAL:
        if len(set(gaps)) != GAPS_WANTED or not set(gaps) <= set(GAPS):
            raise GenerationError(
                _("Adversarial refinement takes two different gaps of: %(gaps)s.") % {"gaps": ", ".join(GAPS)}
            )
        params = {"gaps": list(gaps)}
    chosen = Selection.objects.create(
        project=project, subtest=subtest, run=run, kind=kind, params=params, seed=seed, created_by=person
    )
    title = f"{chosen.get_kind_display()}: {subtest.name}"
    chosen.job = enqueue(JOB, chosen.pk, title=title, project_id=project.pk)
    chosen.save(update_fields=["job"])
    details = {"kind": kind, "run": run.pk if run else None, "seed": seed, **params}
    audit.record(audit.event(project, person, "generation.start_selection", chosen, **details))
    return chosen
