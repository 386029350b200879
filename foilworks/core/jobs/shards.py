"""Helpers for jobs in shards: the size of a shard, its rows, and the problems of all shards.

    stages -> the first with several parts is spread -> its shards are done -> the job runs again -> next stage

A job passes its stages to `run_stages`. A shard stores its results and skips stored ones, so that its
successor continues where a killed worker stopped. It lists failed items as problems (`finish`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.lease import write
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.queue import update_progress
from foilworks.core.jobs.spread import Spread, failures

# A job is divided into about this many shards if their size allows it.
WANTED_SHARDS = 32
STAGE, FOUND, LATER, PROBLEMS = "stage", "found", "later", "problems"

# A shard's payload and its number of steps.
Part = tuple[Mapping[str, Any], int]
# Lists of items without a result, by name.
Problems = dict[str, list[Any]]


def shard_size(count: int, smallest: int, largest: int) -> int:
    """Return how many of `count` items a shard has: `smallest` to `largest`, or SHARD_ITEMS if set."""
    return settings.SHARD_ITEMS or min(largest, max(smallest, -(-count // WANTED_SHARDS)))


def ranges(keys: Sequence[int], size: int, steps: int = 1) -> list[Part]:
    """Divide ascending keys into ranges `{"first", "last"}` of `size` keys, with `steps` steps per key."""
    key_ranges = [keys[start : start + size] for start in range(0, len(keys), size)]
    return [({"first": key_range[0], "last": key_range[-1]}, steps * len(key_range)) for key_range in key_ranges]


def within(payload: Mapping[str, Any], field: str = "pk") -> dict[str, int]:
    """Return the filter for a range of `ranges`; without a range it matches everything."""
    return {f"{field}__gte": payload["first"], f"{field}__lte": payload["last"]} if "first" in payload else {}


def failed_message(shards: Sequence[Job]) -> str:
    """Return how many shards failed, and why the first did; empty if none failed."""
    failed = failures(shards)
    if not failed:
        return ""
    why = next((shard.error for shard in failed if shard.error), "they were cancelled")
    return (
        f"{len(failed)} of {len(shards)} shards failed: {why.rstrip('.')}. "
        "Stored results remain. Fix the cause, then retry the run."
    )


def problems_of(shards: Iterable[Job]) -> Problems:
    """Return the problems of all shards together."""
    return merged(shard.measured.get(PROBLEMS, {}) for shard in shards)


def merged(problem_lists: Iterable[Mapping[str, Sequence[Any]]]) -> Problems:
    """Merge lists with the same name."""
    merged_problems: Problems = {}
    for problems in problem_lists:
        for name, entries in problems.items():
            merged_problems.setdefault(name, []).extend(entries)
    return merged_problems


def keep(job: Job, done: int, problems: Mapping[str, Sequence[Any]]) -> None:
    """Store the results of a job or shard so far, so that its successor continues there."""
    write(job, done=done, measured={**job.measured, PROBLEMS: dict(problems)})
    if job.parent_id is not None:
        update_progress(job.parent_id)


def finish(shard: Job, problems: Mapping[str, Sequence[Any]]) -> None:
    """Store that all steps of a shard are done, and the items without a result."""
    progress(shard, shard.total, measured={**shard.measured, PROBLEMS: dict(problems)})


@dataclass(frozen=True)
class Stage:
    """A stage of a job. All its shards must end before the next stage starts.

    `find_parts()`: the remaining parts. `work(payload, job)`: do one part, with progress on the job or shard.
    `dotted`: the job function of a shard. `later`: number of steps after this stage. `route`: as
    `foilworks.core.jobs.queue.enqueue`.
    """

    name: str
    dotted: str
    find_parts: Callable[[], Sequence[Part]]
    work: Callable[[Mapping[str, Any], Job], Problems]
    later: Callable[[], int] = lambda: 0
    route: str = ""


def run_stages(job: Job, total: int, stages: Sequence[Stage]) -> Spread | Problems:
    """Run the stages in order: a stage of one part in this process, a longer one in shards.

    `total`: the steps of the whole job. Returns the `Spread` to return from the job, or the problems of all stages once
    done. JobError: a shard failed.
    """
    problems_by_stage: dict[str, Problems] = dict(job.payload.get(FOUND, {}))
    for stage in stages:
        if stage.name in problems_by_stage:
            continue
        shards = list(job.shards.filter(**{f"payload__{STAGE}": stage.name}).order_by("number"))
        if shards:
            if why := failed_message(shards):
                raise JobError(why)
            problems_by_stage[stage.name] = problems_of(shards)
            continue
        remaining_parts = stage.find_parts()
        later = stage.later()
        write(job, done=max(0, total - later - sum(steps for _, steps in remaining_parts)), total=total)
        if len(remaining_parts) > 1:
            shard_payloads = [({STAGE: stage.name, **payload}, steps) for payload, steps in remaining_parts]
            return Spread(stage.dotted, shard_payloads, {FOUND: problems_by_stage, LATER: later}, stage.route or None)
        problems_by_stage[stage.name] = merged(stage.work(payload, job) for payload, _ in remaining_parts)
    return merged(problems_by_stage.values())
