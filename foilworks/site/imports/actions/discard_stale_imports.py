"""Discard uploaded files that nobody confirmed, and files that arrived only in part."""

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from foilworks.core.projects.audit_trail import recording as audit
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.models import Import
from foilworks.site.imports.object_parts import remove_old_objects
from foilworks.site.imports.uploads import remove_files

# Long enough for a weekend and a holiday; the preview page states it.
KEPT_DAYS = 14


def discard_stale_imports(*, now: datetime | None = None) -> int:
    """Discard unconfirmed imports after KEPT_DAYS, with their files, and return how many. Written by the system."""
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
    """Remove files of uploads that nobody continues, or whose web process was killed, and return how many."""
    moment = (now or timezone.now()) - timedelta(hours=FILE_PARTS.hours)
    before, removed = moment.timestamp(), remove_old_objects(moment)
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*.upload*"):
        # Another process may remove it first.
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < before:
                path.unlink()
                removed += 1
    return removed
