"""Provide metrics for Prometheus.

All web processes of a host count requests together (`requests.py`); the rest is queried from the database and the queue
when somebody reads the metrics. No label names a person, a project or an address.
"""

import time
from collections.abc import Iterator
from threading import Lock

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from annotation.models import Slot, SlotState, Vote
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import queue_lengths, worker_count

# Whole tables are counted, so not again for every reader.
KEPT_SECONDS = 15.0


def exposition() -> bytes:
    """Return the text that Prometheus reads."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(settings.METRICS_FOLDER))
    registry.register(_KEPT)
    return generate_latest(registry)


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
        samples = [*_of_jobs(), *_of_work()]
    except DatabaseError:
        samples = []
    up.add_metric([], float(bool(samples)))
    yield from [up, *samples, *_of_queue()]


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


def _of_work() -> Iterator[Metric]:
    claims = GaugeMetricFamily("foilworks_claims", "Tasks that people hold", labels=["stage"])
    rows = Slot.objects.filter(state=SlotState.LEASED).order_by().values_list("stage").annotate(n=Count("pk"))
    for stage, n in sorted(rows):
        claims.add_metric([stage], n)
    yield claims
    votes = CounterMetricFamily("foilworks_votes", "Judgements stored", labels=["stage"])
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
