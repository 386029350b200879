"""Publish a release as a data set folder: record it, and queue the job that writes it for download."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.publishing.checklist import FAIL, Row, is_red

JOB = "publishing.build_folder"
ACTION = "evaluation.publish_release"


def require_reason(rows: Sequence[Row], reason: str) -> None:
    """EvaluationError: the checklist is red and nobody said why to publish anyway."""
    if is_red(rows) and not reason.strip():
        red = ", ".join(row.what for row in rows if row.level == FAIL)
        problem = _("The checklist is red: %(rows)s. Fix these, or give a reason to publish anyway.")
        raise EvaluationError(problem % {"rows": red})


@transaction.atomic
def record_publication(
    person: User | None,
    release: Release,
    rows: Sequence[Row],
    *,
    anonymous: bool,
    reason: str = "",
    repository: str = "",
) -> None:
    """Store who published what, in spite of which rows, and why. `person` None: the operator's command."""
    red = [row.slug for row in rows if row.level == FAIL]
    details = {"release": release.pk, "anonymous": anonymous, "red": red, "repository": repository}
    audit.record(audit.event(release.project, person, ACTION, release, reason=reason if red else "", **details))


@transaction.atomic
def request_folder(
    person: User, release: Release, rows: Sequence[Row], *, anonymous: bool, videos: bool, reason: str
) -> Job:
    """Queue the job that writes the folder. AccessDenied without the researcher's role; EvaluationError: a red
    checklist without a reason, or one is being written already."""
    require_role(person, release.project, Role.RESEARCHER)
    require_reason(rows, reason)
    last = Job.objects.filter(dotted__in=stored_names(JOB), target_id=release.pk).order_by("-created_at").first()
    if last is not None and not last.is_over:
        raise EvaluationError(_("A folder of this release is being written. Wait until it is finished."))
    title = _("Folder of %(release)s") % {"release": release.name}
    job = enqueue(JOB, release.pk, queue="default", title=title, project_id=release.project_id)
    job.payload = {"anonymous": anonymous, "videos": videos and not anonymous}
    job.save(update_fields=["payload"])
    record_publication(person, release, rows, anonymous=anonymous, reason=reason)
    return job
