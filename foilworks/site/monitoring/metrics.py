"""Provide metrics for Prometheus.

All web processes of a host count requests together (`requests.py`); the rest is queried from the database and the queue
when somebody reads the metrics. No label names a person, a project or an address.
"""

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from threading import Lock

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Avg, Count, F, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from annotation.models import Slot, SlotState, Vote
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import queue_lengths, worker_count
from foilworks.core.projects.models import Delivery, Webhook
from foilworks.site.backup.folder import newest_backup
from foilworks.site.monitoring.requests import counted_files
from foilworks.version import __version__

# Whole tables are counted, so not again for every reader.
KEPT_SECONDS = 15.0
RECENT = timedelta(hours=1)


def exposition() -> bytes:
    """Return the text that Prometheus reads."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(settings.METRICS_FOLDER))
    registry.register(_KEPT)
    with counted_files(settings.METRICS_FOLDER):
        return generate_latest(registry)


def metric_families() -> list[Metric]:
    """Return the metrics of the database, the queue and the host, at most KEPT_SECONDS old."""
    return list(_KEPT.collect())


class _CachedMetrics:
    """Results of queries to the database and the queue, cached for a few seconds."""

    def __init__(self) -> None:
        self._lock, self._at, self._found = Lock(), 0.0, list[Metric]()

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            if not self._found or time.monotonic() - self._at > KEPT_SECONDS:
                self._found, self._at = list(_database_metrics()), time.monotonic()
            yield from self._found

    def forget(self) -> None:
        self._found = []


def _database_metrics() -> Iterator[Metric]:
    up = GaugeMetricFamily("foilworks_database_up", "Whether the database answers")
    try:
        samples = [*_of_jobs(), *_of_ended_jobs(), *_of_work(), *_of_deliveries(), *_of_connections()]
    except DatabaseError:
        samples = []
    up.add_metric([], float(bool(samples)))
    yield from [up, *samples, *_of_queue(), *_of_host()]


def _of_jobs() -> Iterator[Metric]:
    jobs = GaugeMetricFamily("foilworks_jobs", "Jobs by state", labels=["state", "queue"])
    rows = Job.objects.order_by().values_list("state", "queue").annotate(n=Count("pk"))
    counts = {(state, queue): n for state, queue, n in rows}
    for state in JobState.values:
        for queue in settings.RQ_QUEUES:
            jobs.add_metric([state, queue], counts.get((state, queue), 0))
    yield jobs
    first = Job.objects.filter(state=JobState.WAITING).aggregate(first=Min("created_at"))["first"]
    waits = (timezone.now() - first).total_seconds() if first else 0.0
    yield GaugeMetricFamily("foilworks_oldest_waiting_job_seconds", "How long the oldest job has waited", value=waits)
    beat = Job.objects.filter(state=JobState.RUNNING).aggregate(oldest=Min("heartbeat_at"))["oldest"]
    silent = (timezone.now() - beat).total_seconds() if beat else 0.0
    name, words = "foilworks_oldest_heartbeat_seconds", "Longest time since a running job last gave a sign of life"
    yield GaugeMetricFamily(name, words, value=silent)


def _of_ended_jobs() -> Iterator[Metric]:
    """Yield what jobs of each kind took, and how they ended. Rows are deleted with their project: no counters."""
    ended = GaugeMetricFamily("foilworks_jobs_ended", "Jobs that ended in the last hour", labels=["kind", "state"])
    runs = GaugeMetricFamily("foilworks_job_seconds", "Mean duration of these jobs", labels=["kind", "state"])
    waits = GaugeMetricFamily("foilworks_job_wait_seconds", "Mean wait before these jobs", labels=["kind", "state"])
    rows = Job.objects.filter(finished_at__gte=timezone.now() - RECENT, started_at__isnull=False).order_by()
    took, waited = Avg(F("finished_at") - F("started_at")), Avg(F("started_at") - F("created_at"))
    for kind, state, n, ran, wait in rows.values_list("dotted", "state").annotate(Count("pk"), r=took, w=waited):
        ended.add_metric([kind, state], n)
        runs.add_metric([kind, state], ran.total_seconds())
        waits.add_metric([kind, state], wait.total_seconds())
    yield from (ended, runs, waits)


def _of_deliveries() -> Iterator[Metric]:
    deliveries = GaugeMetricFamily("foilworks_deliveries", "Webhook deliveries by state", labels=["state"])
    counts = dict(Delivery.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for state in Delivery.State.values:
        deliveries.add_metric([state], counts.get(state, 0))
    yield deliveries
    stopped = Webhook.objects.exclude(stopped_at=None).count()
    yield GaugeMetricFamily("foilworks_webhooks_stopped", "Webhooks that get no messages", value=stopped)


def _of_connections() -> Iterator[Metric]:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity")
        used, limit = cursor.fetchone()
    yield GaugeMetricFamily("foilworks_database_connections", "Connections of the database server", value=used)
    yield GaugeMetricFamily("foilworks_database_connections_limit", "Max connections of the server", value=limit)


def _of_host() -> Iterator[Metric]:
    build = GaugeMetricFamily("foilworks_build_info", "The running version", labels=["version"])
    build.add_metric([__version__], 1)
    yield build
    with suppress(OSError):
        free = shutil.disk_usage(settings.FOILWORKS_HOME).free
        yield GaugeMetricFamily("foilworks_disk_free_bytes", "Free space of the home's disk", value=free)
    if (made_at := newest_backup()) is not None:
        name, words = "foilworks_backup_age_seconds", "Age of the newest backup in the home"
        yield GaugeMetricFamily(name, words, value=max(0.0, time.time() - made_at))


def _of_work() -> Iterator[Metric]:
    claims = GaugeMetricFamily("foilworks_claims", "Tasks that people hold", labels=["stage"])
    rows = Slot.objects.filter(state=SlotState.LEASED).order_by().values_list("stage").annotate(n=Count("pk"))
    for stage, n in sorted(rows):
        claims.add_metric([stage], n)
    yield claims
    votes = GaugeMetricFamily("foilworks_votes", "Judgements stored", labels=["stage"])
    for stage, n in sorted(Vote.objects.order_by().values_list("stage").annotate(n=Count("pk"))):
        votes.add_metric([stage], n)
    yield votes


def _of_queue() -> Iterator[Metric]:
    lengths = queue_lengths()
    yield GaugeMetricFamily("foilworks_queue_up", "Whether the queue answers", value=float(lengths is not None))
    depth = GaugeMetricFamily("foilworks_queue_depth", "Jobs in the queue", labels=["queue"])
    for name, length in sorted((lengths or {}).items()):
        depth.add_metric([name], length)
    yield depth
    yield GaugeMetricFamily("foilworks_workers", "Workers that listen", value=float(worker_count() or 0))


_KEPT = _CachedMetrics()
