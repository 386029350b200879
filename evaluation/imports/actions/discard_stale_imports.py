"""Files that somebody sent, looked at and left lying, and files that arrived in part."""

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from evaluation.imports.models import Import
from evaluation.imports.uploads import remove_files
from projects import audit

# Long enough for a weekend and a holiday; the preview's page says so.
KEPT_DAYS = 14
# A file that still arrives is written to more often than that.
ARRIVES_WITHIN_HOURS = 24


def discard_stale_imports(*, now: datetime | None = None) -> int:
    """Discard what nobody has decided on for KEPT_DAYS, with its files; how many there were. The system's own write."""
    moment = now or timezone.now()
    old = Import.objects.filter(confirmed_at=None, discarded_at=None, created_at__lt=moment - timedelta(KEPT_DAYS))
    discarded = 0
    for upload in old.select_related("project", "job"):
        if upload.state != "reading":
            discarded += _discard(upload, moment)
    return discarded


@transaction.atomic
def _discard(upload: Import, now: datetime) -> int:
    waiting = Import.objects.filter(pk=upload.pk, confirmed_at=None, discarded_at=None)
    if waiting.update(discarded_at=now) != 1:
        return 0
    reason = f"not decided on for {KEPT_DAYS} days"
    audit.record(audit.event(upload.project, None, "evaluation.discard_import", upload, reason=reason))
    transaction.on_commit(lambda: remove_files(upload))
    return 1


def remove_partial_uploads(*, now: datetime | None = None) -> int:
    """Remove files that a web process was receiving when it was killed; how many there were."""
    before = ((now or timezone.now()) - timedelta(hours=ARRIVES_WITHIN_HOURS)).timestamp()
    removed = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*.upload*"):
        # Another process may remove it first.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed
