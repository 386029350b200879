"""Store uploaded files and queue a job that previews them; the project does not change yet, unless requested."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from evaluation.score_files.uploaded_files import safe_name
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.core.text.registry import lookup, parse_params
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import is_small, keep_files, remove_files

PREVIEW, STORE = "imports.preview", "imports.store"


def receive_import(
    person: User,
    project: Project,
    *,
    format_slug: str,
    records: UploadedFile | str | None,
    videos: Sequence[UploadedFile],
    params: Mapping[str, Any],
    as_published: bool = False,
    at_once: bool = False,
) -> Import:
    """Store the files and queue the job that previews the import, or with `at_once` the job that stores it.

    `records`: a file, or an address of the hub, which the job downloads. `as_published`: their items count as valid
    because they are published. AccessDenied without the researcher's role; EvaluationError: records without a format,
    no files, no room on the disk; RegistryError: an unknown format or parameter.
    """
    require_role(person, project, Role.RESEARCHER)
    if format_slug:
        parse_params(lookup(IMPORTERS, format_slug, "format"), params)
    if bool(format_slug) != (records is not None) or not (records or videos):
        raise EvaluationError(_("Upload a records file and choose its format, or upload only videos."))
    upload = Import(project=project, format=format_slug, params=dict(params), created_by=person)
    address, file = (records, None) if isinstance(records, str) else ("", records)
    upload.file_name, upload.address = safe_name(file.name or "") if file else "", address
    upload.n_videos, upload.as_published = len(videos), as_published
    upload.confirmed_at = timezone.now() if at_once else None
    try:
        with transaction.atomic():
            upload.save()
            keep_files(upload, file, videos)
            upload.job = _queue(upload, at_once=at_once)
            upload.save(update_fields=["job"])
            details = {
                "format": format_slug,
                "file": upload.file_name or address,
                "videos": upload.n_videos,
                "at_once": at_once,
            }
            audit.record(audit.event(project, person, "evaluation.receive_import", upload, **details))
    except EvaluationError:
        # A damaged archive.
        remove_files(upload)
        raise
    except OSError as error:
        remove_files(upload)
        raise EvaluationError(
            _("The files cannot be stored (%(why)s). Free some disk space.") % {"why": error.strerror}
        ) from error
    return upload


def _queue(upload: Import, *, at_once: bool) -> Job:
    doing = _("Importing %(name)s") if at_once else _("Checking %(name)s")
    title = doing % {"name": upload.file_name or upload.address or _("videos")}
    job, quick = STORE if at_once else PREVIEW, is_small(upload)
    return enqueue(job, upload.pk, title=title, project_id=upload.project_id, quick=quick)
