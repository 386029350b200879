"""What the page of administrators shows: doctor's checks, the numbers of monitoring, people, and what failed."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.models import Delivery, Project, SecondFactor, User
from foilworks.site.doctor import ABSENT, BROKEN, OK, examine
from foilworks.site.monitoring.metrics import metric_families
from foilworks.site.production_checks import findings

MAX_ROWS = 20
ACTIVE_DAYS = 30
MEGABYTE = 1024 * 1024
# The first metric whose name begins so decides the section.
SECTIONS: tuple[tuple[str, str | Promise], ...] = (
    ("foilworks_build", ""),
    ("foilworks_worker", _("Workers and queues")),
    ("foilworks_queue", _("Workers and queues")),
    ("foilworks_oldest", _("Jobs")),
    ("foilworks_job", _("Jobs")),
    ("foilworks_database", _("Disk and database")),
    ("foilworks_disk", _("Disk and database")),
    ("foilworks_backup", _("Disk and database")),
    ("foilworks_deliver", _("Webhooks")),
    ("foilworks_webhook", _("Webhooks")),
    ("", _("Work")),
)
LIMITS: tuple[tuple[str, str | Promise, int], ...] = (
    ("UPLOAD_MAX_MB", _("Uploaded file, MB"), settings.UPLOAD_MAX_BYTES // MEGABYTE),
    ("AUDIT_MAX_MB", _("File of an audit without an account, MB"), settings.AUDIT_MAX_BYTES // MEGABYTE),
    ("AUDIT_MAX_PAIRS", _("Pairs of such an audit"), settings.AUDIT_MAX_PAIRS),
    ("SUBMISSION_MAX_MB", _("Submitted scores, MB"), settings.SUBMISSION_MAX_BYTES // MEGABYTE),
    ("MAX_OPEN_JOBS_PER_PROJECT", _("Open jobs per project"), settings.MAX_OPEN_JOBS_PER_PROJECT),
    (
        "API_RATE_LIMIT_PER_MINUTE",
        _("API requests per token and minute (0: no limit)"),
        settings.API_RATE_LIMIT_PER_MINUTE,
    ),
    ("MAX_VIDEO_SECONDS", _("Length of a video, seconds"), settings.MAX_VIDEO_SECONDS),
    ("SESSION_IDLE_DAYS", _("Days until an idle session ends"), settings.SESSION_IDLE_DAYS),
)


@dataclass(frozen=True)
class Reading:
    """One number of monitoring. `part`: its labels, such as a queue; `unit`: seconds, bytes, up (1 or 0) or ""."""

    label: str
    part: str
    value: float
    unit: str


def overview() -> dict[str, Any]:
    """Return the context of the page; the number of queries does not depend on the number of rows."""
    checks = examine()
    return {
        "broken": [check for check in checks if check.state == BROKEN],
        "absent": [check for check in checks if check.state == ABSENT],
        "checks": [check for check in checks if check.state == OK],
        "unsafe": findings(),
        "sections": _sections(),
        "people": _people(),
        "jobs": _failed_jobs(),
        "deliveries": _failed_deliveries(),
        "limits": LIMITS,
    }


def _sections() -> dict[str, list[Reading]]:
    """Return the numbers of monitoring by section; parts that are zero are left out."""
    by_section: dict[str, list[Reading]] = {str(label): [] for _start, label in SECTIONS if label}
    for family in metric_families():
        section = str(next(label for start, label in SECTIONS if family.name.startswith(start)))
        unit = next((unit for unit in ("seconds", "bytes", "up") if family.name.endswith(unit)), "")
        by_section.get(section, []).extend(
            Reading(family.documentation, ", ".join(sample.labels.values()), sample.value, unit)
            for sample in family.samples
            if sample.value or not sample.labels
        )
    return by_section


def _people() -> list[tuple[str | Promise, int]]:
    since = timezone.now() - timedelta(days=ACTIVE_DAYS)
    people = User.objects.filter(erased_at=None, is_simulated=False)
    counts = people.aggregate(
        accounts=Count("pk", filter=Q(is_active=True)),
        recent=Count("pk", filter=Q(last_login__gte=since)),
        administrators=Count("pk", filter=Q(is_superuser=True, is_active=True)),
        inactive=Count("pk", filter=Q(is_active=False)),
    )
    return [
        (_("Accounts that can sign in"), counts["accounts"]),
        (_("Signed in during the last 30 days"), counts["recent"]),
        (_("Site administrators"), counts["administrators"]),
        (_("With a second factor"), SecondFactor.objects.filter(confirmed_at__isnull=False).count()),
        (_("Closed accounts"), counts["inactive"]),
        (_("Projects"), Project.objects.filter(deleted_at=None).count()),
    ]


def _failed_jobs() -> list[Job]:
    """Return the newest failed jobs, each with `project` (None if it has none) and the last line of its error."""
    rows = Job.objects.filter(state=JobState.FAILED, parent=None).order_by("-created_at")
    jobs = list(rows[:MAX_ROWS])
    projects = Project.objects.in_bulk({job.project_id for job in jobs if job.project_id})
    for job in jobs:
        job.project = projects.get(job.project_id)
        job.last_line = next(reversed(job.error.strip().splitlines()), "")
    return jobs


def _failed_deliveries() -> list[Delivery]:
    rows = Delivery.objects.filter(state=Delivery.State.FAILED).select_related("webhook__project")
    return list(rows.order_by("-pk")[:MAX_ROWS])
