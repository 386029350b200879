"""Cache values that take long to compute and follow from stored rows, by the fingerprint of their inputs.

Two levels: the memory of this process, then a CachedResult row that other processes and the next start find. Nothing
invalidates a value: different inputs have a different fingerprint, and the row is overwritten.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from django.core.cache import cache

from evaluation.cached_results.models import CachedResult
from foilworks.core.projects.models import Project

SECONDS_IN_MEMORY = 3600


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, independent of the order of its keys.

    A list may be an iterator, so that its rows are never in memory together.
    """
    hashed = hashlib.sha256()
    for piece in _pieces(value):
        hashed.update(piece.encode())
    return hashed.hexdigest()


def _pieces(value: Any) -> Iterator[str]:
    """Yield the JSON text of the value in parts."""
    if isinstance(value, list | Iterator):
        yield "["
        for index, row in enumerate(value):
            yield ", " if index else ""
            yield from _pieces(row)
        yield "]"
    else:
        yield json.dumps(value, sort_keys=True, default=str)


def key_of(subject: Any) -> str:
    """Return the key of one value among those of its kind; a kind with one value per project has the key ""."""
    return digest(subject) if subject else ""


def cached_by_fingerprint(
    project: Project,
    kind: str,
    subject: Any,
    fingerprint: str,
    make: Callable[[], Any],
    params: Mapping[str, Any] | None = None,
    *,
    in_memory: bool = True,
) -> Any:
    """Return the JSON value of `make()`, computed once per `fingerprint`.

    `subject` says which value of the kind it is, `params` what a job needs to compute it again. One query if this
    process has not seen the value, else none. Pass `in_memory=False` for values that name people or are read by
    `find_result`: an erasure deletes rows, and cannot reach the memory of other processes.
    """
    name = f"{project.pk}:{kind}:{key_of(subject)}:{fingerprint}"
    cached_value = cache.get(name) if in_memory else None
    if cached_value is not None:
        return cached_value
    row = find_result(project, kind, subject)
    if row is None or row.fingerprint != fingerprint:
        row = store_result(project, kind, subject, fingerprint, make(), params)
    if in_memory:
        cache.set(name, row.data, SECONDS_IN_MEMORY)
    return row.data


def find_result(project: Project, kind: str, subject: Any = "") -> CachedResult | None:
    """Return the stored row with its job, whatever its fingerprint."""
    rows = CachedResult.objects.filter(project=project, kind=kind, params_key=key_of(subject))
    return rows.select_related("job").first()


def locked_result(
    project: Project, kind: str, subject: Any = "", params: Mapping[str, Any] | None = None
) -> CachedResult:
    """Return the row with its job, locked until the transaction ends; an empty one if there is none yet."""
    job_params = {"params": {"about": subject} if params is None else dict(params)}
    row, _made = CachedResult.objects.get_or_create(
        project=project, kind=kind, params_key=key_of(subject), defaults=job_params
    )
    return CachedResult.objects.select_for_update(of=("self",), no_key=True).select_related("job").get(pk=row.pk)


def find_data(project: Project, kind: str, subjects: Iterable[Any]) -> dict[Any, Any]:
    """Return {subject: stored value}, whatever their fingerprints; subjects without a value are left out. One query."""
    keys = {key_of(subject): subject for subject in subjects}
    rows = CachedResult.objects.filter(project=project, kind=kind, params_key__in=keys)
    return {keys[key]: data for key, data in rows.values_list("params_key", "data")}


def store_result(
    project: Project, kind: str, subject: Any, fingerprint: str, data: Any, params: Mapping[str, Any] | None = None
) -> CachedResult:
    """Store a value, in place of an older one, and return its row. ValueError: the value contains NaN."""
    # Through JSON and back, so that a fresh value and a stored one have the same types.
    plain = json.loads(json.dumps(data, allow_nan=False))
    job_params = {"about": subject} if params is None else dict(params)
    row, _made = CachedResult.objects.update_or_create(
        project=project,
        kind=kind,
        params_key=key_of(subject),
        defaults={"params": job_params, "fingerprint": fingerprint, "data": plain},
    )
    return row
