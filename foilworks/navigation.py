"""The links of a project's app bar: one row a page, shown to the roles that may open it."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from projects.access import ALL_ROLES, roles_in
from projects.models import Project, Role

RESEARCHERS = (Role.RESEARCHER,)
WORK_PAGES = (
    "annotation:work",
    "annotation:queue",
    "annotation:edit",
    "annotation:review",
    "annotation:validation",
    "annotation:baseline",
    "annotation:objects",
    "annotation:split",
    "annotation:repair",
)
EXERCISES = ("annotation:practice", "annotation:qualification", "annotation:attempt", "annotation:question")


@dataclass(frozen=True)
class Page:
    """`name` is reversed with the project's slug. `section` is the URL namespace (or the full name) it stands for."""

    label: str | Promise
    name: str
    roles: tuple[str, ...] = ALL_ROLES
    section: tuple[str, ...] = ()

    def is_current(self, view_name: str) -> bool:
        return view_name == self.name or view_name.startswith(self.section or (f"{self.name}:",))


PAGES: tuple[Page, ...] = (
    Page(_("Overview"), "evaluation:dashboard"),
    Page(_("Work"), "annotation:work", section=WORK_PAGES + EXERCISES),
    Page(
        _("Videos"),
        "corpus:videos",
        RESEARCHERS,
        section=("corpus:video", "evaluation:import", "evaluation:new_import"),
    ),
    Page(_("Subtests"), "corpus:subtests", RESEARCHERS),
    Page(_("Items"), "evaluation:items", RESEARCHERS, section=("evaluation:item",)),
    Page(_("Runs"), "generation:runs", RESEARCHERS, section=("generation:",)),
    Page(_("Reports"), "evaluation:reports", RESEARCHERS, section=("evaluation:report",)),
    Page(
        _("Releases"),
        "evaluation:releases",
        RESEARCHERS,
        section=(
            "evaluation:release",
            "evaluation:freeze",
            "evaluation:run",
            "evaluation:leaderboard",
            "evaluation:compare",
            "evaluation:analysis",
            "evaluation:proximity",
            "evaluation:bring_scores",
            "evaluation:release_changes",
            "evaluation:model_card",
        ),
    ),
    Page(_("LLM-teacher"), "evaluation:teacher", RESEARCHERS),
    Page(_("Bias"), "evaluation:bias", RESEARCHERS, section=("evaluation:bias",)),
    Page(_("Studies"), "annotation:studies", RESEARCHERS, section=("annotation:object_check",)),
    Page(
        _("Guidelines"),
        "annotation:guidelines",
        RESEARCHERS,
        section=("annotation:guideline", "annotation:subtest_guideline"),
    ),
    Page(
        _("People"),
        "annotation:people",
        RESEARCHERS,
        section=(
            "annotation:people",
            "annotation:people_reviewing",
            "annotation:quality",
            "annotation:validators",
            "annotation:gold",
            "annotation:label",
        ),
    ),
)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """`navigation`: the links that the signed-in person may open in `request.project`; empty outside a project."""
    project = getattr(request, "project", None)
    if project is None or request.resolver_match is None:
        return {"navigation": []}
    # Called by the template: content without a frame asks for no links.
    return {"navigation": lambda: _links(request, project)}


def _links(request: HttpRequest, project: Project) -> list[dict[str, Any]]:
    roles, here = roles_in(request.user, project), request.resolver_match.view_name
    return [
        {"label": page.label, "url": reverse(page.name, args=[project.slug]), "current": page.is_current(here)}
        for page in PAGES
        if roles & frozenset(page.roles)
    ]
