"""Choose the waiting rows that Ray runs next, and return those that it lost."""

from collections import Counter
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from itertools import chain, zip_longest
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from foilworks.core.jobs.affinity_worker import MAX_CONSECUTIVE_JOBS
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import ray_queues, return_abandoned


class Resources(NamedTuple):
    """What an actor reserves on its node."""

    cpus: float
    gpus: float


def resources_of(route: str, default_resources: Resources) -> Resources:
    """Return what the jobs of a model reserve: the first match in RAY_RESOURCES, else `default_resources`."""
    for pattern, cpus, gpus in settings.RAY_RESOURCES:
        if fnmatchcase(route, pattern):
            return Resources(cpus, gpus)
    return default_resources


def next_jobs(held_ids: Collection[UUID], limit: int) -> list[Job]:
    """Return at most `limit` waiting rows without those in `held_ids`, one project after the other, the oldest first.

    Each project gets at most its quota, of which running and held jobs are a part.
    """
    waiting = Job.objects.filter(queue__in=ray_queues(), state=JobState.WAITING).exclude(pk__in=held_ids)
    running = Job.objects.filter(Q(state=JobState.RUNNING) | Q(pk__in=held_ids), queue__in=ray_queues())
    busy = Counter(running.values_list("project_id", flat=True))
    projects = waiting.order_by("project_id").values_list("project_id", flat=True).distinct()
    projects = sorted(projects, key=lambda project_id: (busy[project_id], project_id or 0))
    rows = [waiting.filter(project_id=project_id).order_by("created_at", "number") for project_id in projects]
    shares = [
        list(project_rows[: _room(project_id, busy, limit)])
        for project_id, project_rows in zip(projects, rows, strict=True)
    ]
    return [job for job in chain.from_iterable(zip_longest(*shares)) if job is not None][:limit]


def next_of(
    rows: Sequence[Job], resources: Resources, default_resources: Resources, route: str, in_a_row: int
) -> Job | None:
    """Return the row that an idle actor with these resources runs next; None if it fits none.

    `route`: the model that it has loaded and prefers, but not for ever: it has run `in_a_row` jobs of it.
    """
    fits = [job for job in rows if resources_of(job.route, default_resources) == resources]
    same_model = [job for job in fits if job.route == route]
    other_models = [job for job in rows if job.route != route]
    if same_model and (in_a_row < MAX_CONSECUTIVE_JOBS or not other_models):
        return same_model[0]
    return next((job for job in fits if job.route != route), None)


def _room(project: int | None, busy: Counter[int | None], limit: int) -> int:
    if project is None or not settings.GPU_QUOTA:
        return limit
    return max(0, min(limit, settings.GPU_QUOTA - busy[project]))


def return_lost(job_id: UUID, worker: str) -> None:
    """Let another actor take the job of an actor whose process is gone. It counts as a loss."""
    return_abandoned(Job.objects.filter(pk=job_id, state=JobState.RUNNING, worker=worker))


def return_stopped(job_id: UUID, worker: str) -> None:
    """Let the next engine take the job of an actor that this one stops. It does not count as a loss."""
    stopped_job = Job.objects.filter(pk=job_id, state=JobState.RUNNING, worker=worker)
    stopped_job.update(state=JobState.WAITING, lease_until=None)
