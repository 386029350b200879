"""Decide where a value over many items is computed: in the request, in a second one, or by a job."""

from collections.abc import Mapping
from typing import Any

from evaluation.cached_results.cache import find_result
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import Project

# Fewer items are computed while the page is made.
MANY_ITEMS = 200
# From here on, reading the items takes seconds, even if only to see that nothing changed: a job does it.
LARGE = 10_000
# Parameter of the second request, by which the page computes.
NOW = "now"


def waits(project: Project, kind: str, subject: Any, query: Mapping[str, Any]) -> bool:
    """Report whether the page should show its progress first: nothing is stored, and there are many items.

    Two queries at most.
    """
    if NOW in query or find_result(project, kind, subject) is not None:
        return False
    return _has(project, MANY_ITEMS)


def is_large(project: Project) -> bool:
    """Report whether only jobs compute the reports of the project. One query per request: the row remembers it."""
    has_items: dict[int, bool] = vars(project).setdefault("_has_items", {})
    if LARGE not in has_items:
        has_items[LARGE] = _has(project, LARGE)
    return has_items[LARGE]


def _has(project: Project, n: int) -> bool:
    return Item.objects.filter(subtest__project=project)[n - 1 : n].exists()
