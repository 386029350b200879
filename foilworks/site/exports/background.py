"""Export a large release by a job: a zip in the home, which is deleted after a week."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from evaluation.cached_results import first_views
from evaluation.cached_results.cache import locked_result
from evaluation.cached_results.models import CachedResult
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import User

EXPORT, JOB = "export", "exports.write"
KEEP = timedelta(days=7)


def needs_job(release: Release) -> bool:
    """Report whether the export takes longer than a web request may."""
    return release.n_items >= first_views.LARGE


def name_of(release: Release, exporter: str) -> str:
    return f"{release.project.slug}-{slugify(release.name) or release.pk}-{exporter}"


def _folder() -> Path:
    return Path(settings.EXPORT_ROOT) / "downloads"


def zip_path(row: CachedResult) -> Path:
    return _folder() / f"{row.pk}.zip"


def is_written(row: CachedResult) -> bool:
    return row.job is not None and row.job.state == JobState.DONE and zip_path(row).is_file()


@transaction.atomic
def request_export(
    person: User, release: Release, exporter: str, params: Mapping[str, str], *, key: str = ""
) -> CachedResult:
    """Queue the job that writes the zip; a request while it is in progress, or with the same `key`, changes nothing."""
    fields = {"release": release.pk, "exporter": exporter, "params": dict(params)}
    row = locked_result(release.project, EXPORT, [fields, key], fields)
    if row.job is not None and (not row.job.is_over or (key and is_written(row))):
        return row
    title = _("Export of %(release)s as %(format)s") % {"release": release.name, "format": exporter}
    row.job = enqueue(JOB, row.pk, title=title, project_id=release.project_id)
    row.save(update_fields=["job", "created_at"])
    audit.record(audit.event(release.project, person, "evaluation.export_release", release, format=exporter))
    return row


def exports_of(release: Release) -> list[CachedResult]:
    """Return the exports of a release by jobs, newest first."""
    rows = CachedResult.objects.filter(project=release.project_id, kind=EXPORT, params__release=release.pk)
    return list(rows.select_related("job").order_by("-created_at"))


def remove_old_exports() -> int:
    """Delete zips that are older than KEEP or whose row is gone, as after an erasure; return how many."""
    oldest = (timezone.now() - KEEP).timestamp()
    paths = {path.stem: path for path in _folder().glob("*.zip")}
    current = set(CachedResult.objects.filter(pk__in=filter(str.isdecimal, paths)).values_list("pk", flat=True))
    old = [path for stem, path in paths.items() if int(stem) not in current or path.stat().st_mtime < oldest]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)
