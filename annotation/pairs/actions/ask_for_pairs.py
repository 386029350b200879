"""Queue the job that proposes pairs for a subtest."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError
from annotation.pairs.actions.store_pairs import check_subtest
from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from generation.pairs.proposals import KINDS, NATURAL, ORDER, REPETITION, REVERSAL, SPEED

# A job has no parameters but its target, so each kind is a function.
JOBS = {
    NATURAL: "pairs.add_natural",
    REVERSAL: "pairs.add_reversals",
    ORDER: "pairs.add_orders",
    SPEED: "pairs.add_speeds",
    REPETITION: "pairs.add_repetitions",
}


@transaction.atomic
def ask_for_pairs(person: User, subtest: Subtest, kind: str) -> Job:
    """Queue the job that adds pairs of the kind to the subtest.

    AnnotationError: not a subtest for pairs, no such kind, or such a job of the project is still active.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    check_subtest(subtest)
    if kind not in KINDS:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(KINDS)})
    if jobs_of(project).filter(state__in=OPEN_STATES).exists():
        raise AnnotationError(_("Pairs are being proposed already. Wait until the job is done."))
    job = enqueue(JOBS[kind], subtest.pk, title=_("Proposing pairs"), project_id=project.pk)
    audit.record(audit.event(project, person, "annotation.ask_for_pairs", subtest, kind=kind))
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the project's jobs that propose pairs, newest first."""
    return Job.objects.filter(project_id=project.pk, dotted__in=stored_names(*JOBS.values())).order_by("-created_at")
