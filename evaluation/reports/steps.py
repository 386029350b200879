"""Store the steps of a report that takes minutes, so that its job continues where it was stopped."""

from typing import Any

from evaluation.cached_results.cache import find_result, key_of, store_result
from evaluation.cached_results.models import CachedResult
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress

KIND = "steps"


def steps_of(row: CachedResult, fingerprint: str, job: Job) -> dict[str, Any]:
    """Return `progress` and `state` of `compute` (`evaluation.analyses.registry.STEPWISE`).

    The steps belong to one fingerprint: other items, parameters or versions start from nothing.
    """
    stored = find_result(row.project, KIND, row.pk)
    state = stored.data if stored and stored.fingerprint == fingerprint else None

    def store(done: int, total: int, state: dict[str, Any]) -> None:
        store_result(row.project, KIND, row.pk, fingerprint, state)
        progress(job, done, total)

    return {"progress": store, "state": state}


def forget_steps(row: CachedResult) -> None:
    """Delete the steps of a report that is computed."""
    CachedResult.objects.filter(project=row.project, kind=KIND, params_key=key_of(row.pk)).delete()
