"""Provide metrics for Prometheus.

All web processes of a host count requests together; the rest is queried from the database and the queue when somebody
reads the metrics. No label names a person, a project or an address.
"""

import logging
import os
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Lock

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count, Min
from django.utils import timezone
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from annotation.models import Slot, SlotState, Vote
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import queue_lengths, worker_count

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"})
# More than all routes, methods and statuses take together, so that no file ever grows.
FILE_BYTES = 4 * 2**20
# Whole tables are counted, so not again for every reader.
KEPT_SECONDS = 15.0
logger = logging.getLogger(__name__)
_REGISTRY = CollectorRegistry()
_REQUESTS = Counter("foilworks_requests", "Requests answered", ["route", "method", "status"], registry=_REGISTRY)
_TIMES = Histogram(
    "foilworks_request_seconds", "Seconds that an answer took", ["route", "method"], buckets=SECONDS, registry=_REGISTRY
)


def count_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request.

    `route` is the view's name. All unknown methods count as one, so that no stranger adds rows.
    """
    if not _has_files(os.getpid()):
        return
    method_label = method if method in METHODS else "other"
    _REQUESTS.labels(route, method_label, str(status)).inc()
    _TIMES.labels(route, method_label).observe(seconds)


@cache
def _has_files(process: int) -> bool:
    """Create the files in which this process counts, with their space on disk; return False without space.

    prometheus_client maps sparse files into memory. On a full disk the first write to one ends the process.
    """
    try:
        for kind in ("counter", "histogram"):
            with (settings.METRICS_FOLDER / f"{kind}_{process}.db").open("a+b") as file:
                os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
    except OSError:
        logger.warning("requests are not counted: the disk of %s is full; free space there", settings.METRICS_FOLDER)
        return False
    return True


def exposition() -> bytes:
    """Return the text that Prometheus reads."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(settings.METRICS_FOLDER))
    registry.register(_KEPT)
    return generate_latest(registry)


def forget_ended_processes(folder: Path) -> None:
    """Remove the files of processes that have ended; each process counts in files of its own."""
    for path in folder.glob("*_*.db"):
        number = path.stem.rpartition("_")[2]
        if number.isdecimal() and not _is_alive(int(number)):
            path.unlink(missing_ok=True)


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


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
forget_ended_processes(settings.METRICS_FOLDER)
