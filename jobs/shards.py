"""What all jobs in shards share: how large a shard is, which rows it is about, and what all of them found.

    stages -> the first with more than one part is spread -> its shards are done -> the job runs again -> next stage

A job gives its stages to `run_stages`. A shard stores its results itself and skips those that are stored, so that its
successor continues where a killed worker stopped. What it could not do, it lists as problems (`finish`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from jobs.errors import JobError
from jobs.lease import write
from jobs.models import Job
from jobs.progress import progress
from jobs.queue import update_progress
from jobs.spread import Spread, failures

# A job becomes about this many shards if their size allows it.
WANTED_SHARDS = 32
STAGE, FOUND, LATER, PROBLEMS = "stage", "found", "later", "problems"

# A shard's payload and its number of steps.
Part = tuple[Mapping[str, Any], int]
# Lists of what gave no result, by name.
Problems = dict[str, list[Any]]


def shard_size(count: int, smallest: int, largest: int) -> int:
    """Return how many of `count` things a shard has: `smallest` to `largest`, or what SHARD_ITEMS says."""
    return settings.SHARD_ITEMS or min(largest, max(smallest, -(-count // WANTED_SHARDS)))


def ranges(keys: Sequence[int], size: int, steps: int = 1) -> list[Part]:
    """Cut keys in ascending order into ranges `{"first", "last"}` of `size` keys, with `steps` steps per key."""
    cut = [keys[start : start + size] for start in range(0, len(keys), size)]
    return [({"first": some[0], "last": some[-1]}, steps * len(some)) for some in cut]


def within(payload: Mapping[str, Any], field: str = "pk") -> dict[str, int]:
    """The filter of a range of `ranges`; of a payload without one, everything."""
    return {f"{field}__gte": payload["first"], f"{field}__lte": payload["last"]} if "first" in payload else {}


def failed_message(shards: Sequence[Job]) -> str:
    """Say how many shards failed, and why the first did; empty if none failed."""
    failed = failures(shards)
    if not failed:
        return ""
    why = next((shard.error for shard in failed if shard.error), "they were cancelled")
    return (
        f"{len(failed)} of {len(shards)} shards did not end: {why.rstrip('.')}. "
        "What is stored is kept. Fix the cause, then continue the run."
    )


def problems_of(shards: Iterable[Job]) -> Problems:
    """The problems of all shards together."""
    return merged(shard.measured.get(PROBLEMS, {}) for shard in shards)


def merged(every: Iterable[Mapping[str, Sequence[Any]]]) -> Problems:
    """Lists under the same name become one list."""
    found: Problems = {}
    for problems in every:
        for name, some in problems.items():
            found.setdefault(name, []).extend(some)
    return found


def keep(job: Job, done: int, found: Mapping[str, Sequence[Any]]) -> None:
    """Store at once what a job or shard has found so far, so that its successor continues there."""
    write(job, done=done, measured={**job.measured, PROBLEMS: dict(found)})
    if job.parent_id is not None:
        update_progress(job.parent_id)


def finish(shard: Job, problems: Mapping[str, Sequence[Any]]) -> None:
    """Note that all steps of a shard are done, and what gave no result."""
    progress(shard, shard.total, measured={**shard.measured, PROBLEMS: dict(problems)})


@dataclass(frozen=True)
class Stage:
    """A step of a job that all shards must end before the next stage starts.

    `parts()`: what is left to do. `work(payload, job)`: do one part, with the job or the shard whose progress it is.
    `dotted`: the job function of a shard. `later`: how many steps of the job come after this stage. `route`: as
    `jobs.queue.enqueue`.
    """

    name: str
    dotted: str
    parts: Callable[[], Sequence[Part]]
    work: Callable[[Mapping[str, Any], Job], Problems]
    later: Callable[[], int] = lambda: 0
    route: str = ""


def run_stages(job: Job, total: int, stages: Sequence[Stage]) -> Spread | Problems:
    """Do the stages in order: a stage of one part in this process, a longer one in shards.

    `total`: the steps of the whole job. Returns the `Spread` to hand on, or the problems of all stages when they are
    done. JobError: a shard did not end well.
    """
    found: dict[str, Problems] = dict(job.payload.get(FOUND, {}))
    for stage in stages:
        if stage.name in found:
            continue
        shards = list(job.shards.filter(**{f"payload__{STAGE}": stage.name}).order_by("number"))
        if shards:
            if why := failed_message(shards):
                raise JobError(why)
            found[stage.name] = problems_of(shards)
            continue
        parts = stage.parts()
        later = stage.later()
        write(job, done=max(0, total - later - sum(steps for _, steps in parts)), total=total)
        if len(parts) > 1:
            cut = [({STAGE: stage.name, **payload}, steps) for payload, steps in parts]
            return Spread(stage.dotted, cut, {FOUND: found, LATER: later}, stage.route or None)
        found[stage.name] = merged(stage.work(payload, job) for payload, _ in parts)
    return merged(found.values())
