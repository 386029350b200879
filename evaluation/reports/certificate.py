"""Build the page of a certificate, and what the blind audit's page shows of it."""

from typing import Any

from evaluation.audit.pages import solver_part
from evaluation.facts.item_names import items_of
from foilworks.core.projects.models import Project

COLUMNS = ("id", "foil", "s", "s_minus_chance", "sd", "tier", "reason")
KIND = "certificate"


def extras(project: Project, _subtest: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the verdict with its sentence, charts, families, and the surest items with their pages. One query."""
    context = solver_part(data)
    pages = items_of(project, [item["id"] for item in context["items"]])
    return {**context, "items": [{**item, "page": pages.get(item["id"])} for item in context["items"]]}
