"""Cache the count of a project for its dashboard: small projects are counted per request, large ones by a job.

The count of a large project is a row. Nobody who writes waits for it, and it has the state of when its job read. If the
count is older than a minute and something was written since, a request queues the next one and shows the stored one.
`foilworks refresh-dashboard` counts at once.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.cached_results.cache import find_result, locked_result, store_result
from evaluation.cached_results.models import CachedResult
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.names import stored_names
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.models import AuditEvent, Project
from foilworks.site.dashboard.counting import count

KIND = "dashboard"
VERSION = "9"
JOB = "dashboard.count"
# Up to this size, a request counts itself: a few hundredths of a second.
SMALL = 1000
YOUNG = timedelta(seconds=60)
# Some writes leave no audit row (candidates of an unfinished run), and "today" changes by itself.
OLD = timedelta(minutes=10)


@dataclass(frozen=True)
class StoredCount:
    """`data` None: the first count is in progress. `is_counting`: a newer one is."""

    data: dict[str, Any] | None
    as_of: datetime | None
    is_counting: bool = False


def counted(project: Project) -> StoredCount:
    """Return what the dashboard shows now; at most four queries if the project is large and its count is cached."""
    row = find_result(project, KIND)
    if (row is None or row.data.get("size", 0) <= SMALL) and is_small(project):
        now = timezone.now()
        return StoredCount(count(project, now), now)
    if row is None or _is_due(project, row):
        row = _queue_count(project)
    # A count of a different version has different keys.
    data = row.data if row.data and row.fingerprint == VERSION else None
    return StoredCount(data, _time(data["as_of"]) if data else None, bool(row.job and not row.job.is_over))


def keep(project: Project, now: datetime | None = None) -> CachedResult:
    """Count now and store the result."""
    began = time.monotonic()
    data = count(project, now)
    data["took"] = time.monotonic() - began
    data["size"] = sum(row["n_items"] for row in data["subtests"])
    return store_result(project, KIND, "", VERSION, data)


def is_small(project: Project) -> bool:
    return len(Item.objects.filter(subtest__project=project).values_list("pk", flat=True)[: SMALL + 1]) <= SMALL


def _is_due(project: Project, row: CachedResult) -> bool:
    if row.job is not None and (not row.job.is_over or _has_just_failed(row.job)):
        return False
    if not row.data or row.fingerprint != VERSION:
        return True
    age = timezone.now() - _time(row.data["as_of"])
    # Counting takes at most a tenth of a worker, however large the project.
    if age < max(YOUNG, timedelta(seconds=10 * row.data.get("took", 0.0))):
        return False
    if age > OLD:
        return True
    as_of = _time(row.data["as_of"])
    last = AuditEvent.objects.filter(project=project).order_by("-id").values_list("at", flat=True).first()
    # A write is committed a little after its row was created.
    if last is not None and last + YOUNG > as_of:
        return True
    # Foils of a run wait for people once it ends.
    return (
        Job.objects.filter(project_id=project.pk, finished_at__gt=as_of).exclude(dotted__in=stored_names(JOB)).exists()
    )


def _has_just_failed(job: Job) -> bool:
    ended_at = job.finished_at or job.created_at
    return job.state != JobState.DONE and timezone.now() - ended_at < OLD


@transaction.atomic
def _queue_count(project: Project) -> CachedResult:
    """Return the row with a job in progress; a second request at the same moment finds the job of the first."""
    row = locked_result(project, KIND)
    if row.job is None or row.job.is_over:
        title = _("Dashboard of %(project)s") % {"project": project.name}
        row.job = enqueue(JOB, project.pk, title=title, project_id=project.pk, quick=True, by_person=False)
        row.save(update_fields=["job"])
    return row


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
