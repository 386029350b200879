"""The count of a project, as its dashboard shows it: small projects are counted at every look, large ones by a job.

A large project's count is a row; nobody who writes waits for it, and it holds what was there when its job read.
A look at a count that is older than a minute, while something was written since, asks for the next one and shows what
there is. `foilworks tally` counts at once.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from corpus.models import Item
from evaluation.cached_results.cache import find_result, locked_result, store_result
from evaluation.cached_results.models import CachedResult
from evaluation.dashboard.counting import count
from jobs.models import Job, JobState
from jobs.queue import enqueue
from projects.models import AuditEvent, Project

KIND = "dashboard"
VERSION = "6"
JOB = "evaluation.dashboard.jobs.count_dashboard"
# Counted within a request up to here: a few hundredths of a second.
SMALL = 1000
YOUNG = timedelta(seconds=60)
# Some writes leave no audit row of the project (candidates of a run that goes on), and "today" passes by itself.
OLD = timedelta(minutes=10)


@dataclass(frozen=True)
class Counted:
    """`data` None: the first count is under way. `is_counting`: a newer one is."""

    data: dict[str, Any] | None
    as_of: datetime | None
    is_counting: bool = False


def counted(project: Project) -> Counted:
    """What the dashboard shows now; at most four queries where the project is large and its count is kept."""
    row = find_result(project, KIND)
    if (row is None or row.data.get("size", 0) <= SMALL) and is_small(project):
        now = timezone.now()
        return Counted(count(project, now), now)
    if row is None or _is_due(project, row):
        row = _ask(project)
    # A count of another version has other names in it.
    data = row.data if row.data and row.fingerprint == VERSION else None
    return Counted(data, _time(data["as_of"]) if data else None, bool(row.job and not row.job.is_over))


def keep(project: Project, now: datetime | None = None) -> CachedResult:
    """Count now and keep it."""
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
    # Counting takes a tenth of a worker at the most, however large the project.
    if age < max(YOUNG, timedelta(seconds=10 * row.data.get("took", 0.0))):
        return False
    if age > OLD:
        return True
    as_of = _time(row.data["as_of"])
    last = AuditEvent.objects.filter(project=project).order_by("-id").values_list("at", flat=True).first()
    # A write is stored a little after its row was made.
    if last is not None and last + YOUNG > as_of:
        return True
    # What a run made waits for people from its end on.
    return Job.objects.filter(project_id=project.pk, finished_at__gt=as_of).exclude(dotted=JOB).exists()


def _has_just_failed(job: Job) -> bool:
    ended = job.finished_at or job.created_at
    return job.state != JobState.DONE and timezone.now() - ended < OLD


@transaction.atomic
def _ask(project: Project) -> CachedResult:
    """The row with a job at work on it; a second look at the same moment finds the first one's."""
    row = locked_result(project, KIND)
    if row.job is None or row.job.is_over:
        title = _("Dashboard of %(project)s") % {"project": project.name}
        row.job = enqueue(JOB, project.pk, title=title, project_id=project.pk, asked=False)
        row.save(update_fields=["job"])
    return row


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
