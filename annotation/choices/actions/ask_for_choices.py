"""Queue the job that composes items for a subtest."""

from dataclasses import asdict

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.choices.actions.compose_choices import Request, plan_choices
from annotation.errors import AnnotationError
from foilworks.core.corpus.models import Subtest
from foilworks.core.jobs.models import OPEN_STATES, Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

JOB = "choices.compose"


@transaction.atomic
def ask_for_choices(person: User, subtest: Subtest, request: Request) -> Job:
    """Queue the job that composes the items.

    AnnotationError: as `plan_choices`, there is nothing new to compose, or such a job of the project is still active.
    """
    project = subtest.project
    require_role(person, project, Role.RESEARCHER)
    if jobs_of(project).filter(state__in=OPEN_STATES).exists():
        raise AnnotationError(_("Items are being composed already. Wait until the job is done."))
    if not plan_choices(subtest, request).new:
        raise AnnotationError(_("There is nothing new to compose. The preview shows why captions are left out."))
    job = enqueue(JOB, subtest.pk, title=_("Composing items"), project_id=project.pk)
    job.payload = asdict(request)
    job.save(update_fields=["payload"])
    audit.record(audit.event(project, person, "annotation.ask_for_choices", subtest, **job.payload))
    return job


def jobs_of(project: Project) -> QuerySet[Job]:
    """Return the project's jobs that compose items, newest first."""
    return Job.objects.filter(project_id=project.pk, dotted__in=stored_names(JOB)).order_by("-created_at")
