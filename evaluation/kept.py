"""What takes long to compute and follows from stored rows, kept by the fingerprint of what it was made from.

Two floors: this process's memory, then a Report row that other processes and the next start find. Nobody tells us of a
change: another fingerprint is another value, and the row is written anew.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.core.cache import cache

from evaluation.models import Report
from projects.models import Project

KEPT_SECONDS = 3600


def digest(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def kept(project: Project, kind: str, about: str, fingerprint: str, make: Callable[[], Any]) -> Any:
    """The JSON value of `make()`, computed once for each `fingerprint`; `about` says which one of the kind.

    One query where this process has not seen it yet, none where it has.
    """
    name = f"{project.pk}:{kind}:{digest(about)}:{fingerprint}"
    found = cache.get(name)
    if found is not None:
        return found
    key = digest(about)
    stored = Report.objects.filter(project=project, kind=kind, params_key=key).first()
    if stored is not None and stored.fingerprint == fingerprint:
        data = stored.data
    else:
        # Through JSON and back, so that a fresh value and a stored one are alike to the last type.
        data = json.loads(json.dumps(make(), allow_nan=False))
        defaults = {"params": {"about": about}, "fingerprint": fingerprint, "data": data}
        Report.objects.update_or_create(project=project, kind=kind, params_key=key, defaults=defaults)
    cache.set(name, data, KEPT_SECONDS)
    return data
