"""What the page of a run shows while it is scored: its shards and its outlook. Two queries, whatever their number."""

from dataclasses import dataclass

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils import timezone

from evaluation.scoring.models import Run
from evaluation.scoring.shards.outlook import Outlook, outlook
from jobs.models import OPEN_STATES, Job, JobState

# Running and failed ones stand first; of a thousand shards nobody reads the rest.
MAX_SHOWN = 40
FIRST = (JobState.RUNNING, JobState.FAILED, JobState.WAITING, JobState.CANCELLED, JobState.DONE)


@dataclass(frozen=True)
class Work:
    """`shards` are at most MOST_SHOWN of `n_shards`, of which `n_open` are not over."""

    outlook: Outlook
    shards: list[Job]
    n_shards: int
    n_open: int
    can_stop: bool
    can_go_on: bool


def work(run: Run) -> Work | None:
    """None for a run without a job."""
    job = run.job
    if job is None:
        return None
    rows = list(Job.objects.filter(parent=job).values_list("state", "measured", "started_at"))
    measured = [job.measured, *(cost for _, cost, _ in rows)]
    started = [at for at in (job.started_at if not rows else None, *(at for _, _, at in rows)) if at is not None]
    now = job.finished_at if job.is_over and job.finished_at else timezone.now()
    return Work(
        outlook=outlook(measured, job.done, job.total, min(started, default=None), now),
        shards=list(_shown(Job.objects.filter(parent=job))) if rows else [],
        n_shards=len(rows),
        n_open=sum(state in OPEN_STATES for state, _, _ in rows),
        can_stop=not job.is_over,
        can_go_on=job.state in {JobState.FAILED, JobState.CANCELLED},
    )


def _shown(shards: QuerySet[Job]) -> QuerySet[Job]:
    order = Case(
        *(When(state=state, then=Value(place)) for place, state in enumerate(FIRST)),
        default=Value(len(FIRST)),
        output_field=IntegerField(),
    )
    return shards.order_by(order, "number")[:MAX_SHOWN]
