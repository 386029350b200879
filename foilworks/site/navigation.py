"""Define the links of a project's app bar: one row per page, in groups, for the roles that may open them."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.access import ALL_ROLES, roles_in
from foilworks.core.projects.models import Project, Role

RESEARCHERS = (Role.RESEARCHER,)
WORK_PAGES = (
    "annotation:work",
    "annotation:queue",
    "annotation:edit",
    "annotation:review",
    "annotation:validation",
    "annotation:baseline",
    "annotation:unseen",
    "annotation:objects",
    "annotation:disputed_item",
    "annotation:repair",
)
OF_RELEASES = (
    "releases:release",
    "releases:release_data",
    "releases:release_validation",
    "releases:freeze",
    "scoring:run",
    "ladder:run_ladder",
    "ladder:release_ladder",
    "board:leaderboard",
    "board:compare",
    "reports:analysis",
    "proximity:proximity",
    "scoring:bring_scores",
    "releases:release_changes",
    "scoring:model_card",
    "publishing:public_page",
    "publishing:publish",
    "publishing:item_reports",
)
EXERCISES = ("annotation:practice", "annotation:qualification", "annotation:attempt", "annotation:question")


@dataclass(frozen=True)
class Page:
    """A link of the bar.

    `name` is reversed with the project's slug. `section` is the URL namespace (or the full name) that it covers.
    """

    label: str | Promise
    name: str
    roles: tuple[str, ...] = ALL_ROLES
    section: tuple[str, ...] = ()

    def covers(self, view_name: str) -> int:
        """Return how well the page matches a view: 0 not at all, more the longer their common name."""
        if view_name == self.name:
            return len(view_name) + 1
        lengths = [len(start) for start in self.section or (f"{self.name}:",) if view_name.startswith(start)]
        return max(lengths, default=0)


@dataclass(frozen=True)
class Group:
    """Pages under one word of the bar.

    A group of one page is a plain link. `slug` is part of the menu's id.
    """

    slug: str
    label: str | Promise
    pages: tuple[Page, ...]


GROUPS: tuple[Group, ...] = (
    Group("overview", _("Overview"), (Page(_("Overview"), "dashboard:dashboard"),)),
    Group(
        "work",
        _("Work"),
        (
            Page(
                _("Your queues"),
                "annotation:work",
                section=(*WORK_PAGES, *EXERCISES, "annotation:disputed_items", "annotation:repairs"),
            ),
            Page(_("Your activity"), "annotation:own_figures"),
        ),
    ),
    Group(
        "content",
        _("Content"),
        (
            Page(_("Videos"), "corpus:videos", RESEARCHERS, section=("corpus:video", "annotation:takedown")),
            Page(_("Captions"), "items:captions", RESEARCHERS, section=("items:caption", "corpus:characters")),
            Page(_("Import"), "imports:new_import", RESEARCHERS, section=("imports:import", "imports:import_columns")),
            Page(_("Subtests"), "corpus:subtests", RESEARCHERS, section=("annotation:vote_rule",)),
            Page(_("Items"), "items:items", RESEARCHERS, section=("items:item",)),
        ),
    ),
    Group(
        "generate",
        _("Generate"),
        (
            Page(_("Runs"), "generation:runs", RESEARCHERS, section=("generation:",)),
            Page(_("Generate captions"), "generation:captions", RESEARCHERS, section=("generation:caption",)),
            Page(_("Balanced selections"), "generation:selections", RESEARCHERS, section=("generation:selection",)),
            Page(_("Items of two clips"), "pairs:pairs", RESEARCHERS),
            Page(_("Multiple choice"), "choices:choices", RESEARCHERS),
            Page(_("Tuned models"), "generation:tunings", RESEARCHERS, section=("generation:tuning",)),
            Page(_("Prompts"), "generation:prompts", RESEARCHERS),
        ),
    ),
    Group(
        "quality",
        _("Quality"),
        (
            Page(_("Plan"), "dashboard:plan", RESEARCHERS),
            Page(_("Reports"), "reports:reports", RESEARCHERS, section=("reports:report", "blind:blind_bars")),
            Page(
                _("Rules, gold, practice"),
                "annotation:quality",
                RESEARCHERS,
                section=("annotation:gold", "annotation:label", "annotation:add_practice"),
            ),
            Page(_("Validators"), "annotation:validators", RESEARCHERS),
            Page(_("Studies"), "annotation:studies", RESEARCHERS, section=("annotation:object_check",)),
            Page(_("Bias"), "utd:bias", RESEARCHERS, section=("utd:bias",)),
        ),
    ),
    Group(
        "results",
        _("Results"),
        (
            Page(_("Releases"), "releases:releases", RESEARCHERS, section=OF_RELEASES),
            Page(_("Datasheet"), "publishing:datasheet", RESEARCHERS, section=("publishing:publication",)),
            Page(_("LLM-teacher"), "teacher:teacher", RESEARCHERS, section=("teacher:teacher",)),
        ),
    ),
    Group(
        "people",
        _("People"),
        (
            Page(
                _("Members"),
                "annotation:people",
                RESEARCHERS,
                section=("annotation:member", "erasure:erase_worker"),
            ),
            Page(_("Invitations"), "projects:invitations", RESEARCHERS, section=("projects:invitation",)),
            Page(_("Crowd studies"), "annotation:crowd", RESEARCHERS, section=("annotation:crowd",)),
            Page(_("Consent"), "projects:consent_texts", RESEARCHERS),
            Page(_("Assignments"), "annotation:assignments", RESEARCHERS),
            Page(_("Activity"), "annotation:people_figures", RESEARCHERS),
            Page(_("Pay"), "annotation:people_pay", RESEARCHERS),
        ),
    ),
    Group(
        "settings",
        _("Settings"),
        (
            Page(_("Project"), "annotation:project_settings", RESEARCHERS),
            Page(
                _("Guidelines"),
                "annotation:guidelines",
                RESEARCHERS,
                section=("annotation:guideline", "annotation:subtest_guideline"),
            ),
            Page(_("Review sampling"), "annotation:people_reviewing", RESEARCHERS),
            Page(_("Webhooks"), "projects:webhooks", RESEARCHERS, section=("projects:webhook",)),
            Page(_("Audit trail"), "projects:trail", RESEARCHERS),
        ),
    ),
)
PAGES: tuple[Page, ...] = tuple(page for group in GROUPS for page in group.pages)


def navigation(request: HttpRequest) -> dict[str, Any]:
    """`navigation`: the groups with the links that the signed-in person may open in `request.project`; else none."""
    project = getattr(request, "project", None)
    if project is None or request.resolver_match is None:
        return {"navigation": []}
    # Called by the template: content without a frame asks for no links.
    return {"navigation": lambda: _groups(request, project)}


def current_page(view_name: str) -> Page | None:
    """Return the page that matches a view: the one that shares most of its name."""
    best = max(PAGES, key=lambda page: page.covers(view_name))
    return best if best.covers(view_name) else None


def _groups(request: HttpRequest, project: Project) -> list[dict[str, Any]]:
    """slug, label, whether the current page is in it, `links` with label, url, current; without empty groups."""
    roles, open_page = roles_in(request.user, project), current_page(request.resolver_match.view_name)
    groups = []
    for group in GROUPS:
        pages = [page for page in group.pages if roles & frozenset(page.roles)]
        links = [
            {"label": page.label, "url": reverse(page.name, args=[project.slug]), "current": page is open_page}
            for page in pages
        ]
        if links:
            is_current = any(link["current"] for link in links)
            groups.append({"slug": group.slug, "label": group.label, "current": is_current, "links": links})
    return groups
