"""Decide whether a page shows itself before it computes: the first view of a value over many items takes seconds."""

from collections.abc import Mapping
from typing import Any

from corpus.models import Item
from evaluation.cached_results.cache import find_result
from projects.models import Project

# Fewer items are computed while the page is made.
MANY_ITEMS = 200
# Parameter of the second request, by which the page computes.
NOW = "now"


def waits(project: Project, kind: str, about: Any, query: Mapping[str, Any]) -> bool:
    """Report whether the page should show its progress first: nothing is stored, and there are many items.

    Two queries at most.
    """
    if NOW in query or find_result(project, kind, about) is not None:
        return False
    return Item.objects.filter(subtest__project=project)[:MANY_ITEMS].count() == MANY_ITEMS
