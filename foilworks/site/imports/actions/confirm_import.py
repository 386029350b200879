"""Confirm or discard an import after its preview."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.jobs.queue import cancel, enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role, User
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import is_small, remove_files

JOB = "imports.store"


@transaction.atomic
def confirm_import(person: User, upload: Import, *, update: bool = False) -> Import:
    """Queue the job that stores the files; with `update`, records that differ become what the file says.

    EvaluationError if it was already confirmed or discarded, or is not read yet.
    """
    require_role(person, upload.project, Role.RESEARCHER)
    if upload.preview is None or "problem" in upload.preview or upload.is_unmapped:
        raise EvaluationError(_("These files cannot be imported. Fix the problems listed below and upload them again."))
    _take(upload, confirmed_at=timezone.now(), update=update)
    title = _("Importing %(name)s") % {"name": upload.file_name or _("videos")}
    upload.job = enqueue(JOB, upload.pk, title=title, project_id=upload.project_id, quick=is_small(upload))
    upload.save(update_fields=["job"])
    audit.record(audit.event(upload.project, person, "evaluation.confirm_import", upload, update=update))
    return upload


@transaction.atomic
def discard_import(person: User, upload: Import) -> None:
    """Delete the files; the project does not change. EvaluationError if it was already confirmed or discarded."""
    require_role(person, upload.project, Role.RESEARCHER)
    _take(upload, discarded_at=timezone.now())
    if upload.job is not None:
        cancel(upload.job)
    audit.record(audit.event(upload.project, person, "evaluation.discard_import", upload))
    transaction.on_commit(lambda: remove_files(upload))


def _take(upload: Import, **decided: object) -> None:
    """Allow one of the two, once."""
    waiting = Import.objects.filter(pk=upload.pk, confirmed_at=None, discarded_at=None)
    if waiting.update(**decided) != 1:
        raise EvaluationError(_("This import was already confirmed or discarded. Reload the page."))
    for name, value in decided.items():
        setattr(upload, name, value)
