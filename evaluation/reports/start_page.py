"""Build the start page of the reports: their groups, and four numbers that answer whether the set is good."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import Count
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.cached_results.first_views import waits
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import wilson
from evaluation.number_text import share
from evaluation.reports.pages import PAGES, ReportPage
from evaluation.reports.reports import about_of, project_report, stored_report
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project

Data = Mapping[str, Any]
JUDGED = (ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED)
# Groups of reports, each report with the question that it answers. Reports of plug-ins are a group of their own.
GROUPS: tuple[tuple[str | Promise, Mapping[str, str | Promise]], ...] = (
    (
        gettext_lazy("Votes"),
        {
            "validation": gettext_lazy("How many items are valid?"),
            "agreement": gettext_lazy("Do validators agree?"),
            "skill": gettext_lazy("Whose votes can you trust?"),
            "irt": gettext_lazy("Which items are too easy, too hard or just noise?"),
        },
    ),
    (
        gettext_lazy("Texts"),
        {
            "blind": gettext_lazy("Can texts alone answer the items?"),
            "certificate": gettext_lazy("Can you say that texts alone answer nothing?"),
            "fair": gettext_lazy("Which items would make the set fair?"),
            "divergence": gettext_lazy("Which words give foils away?"),
            "numbers": gettext_lazy("Which numbers do the texts contain?"),
            "verbs": gettext_lazy("Which verbs do people and methods use?"),
        },
    ),
    (
        gettext_lazy("Filters"),
        {
            "filters": gettext_lazy("Do the filters reject the right foils?"),
            "screening": gettext_lazy("How much work does a video model save?"),
        },
    ),
    (
        gettext_lazy("People"),
        {
            "people": gettext_lazy("How long do people work, and do they watch?"),
            "reviewing": gettext_lazy("What do reviewers decide, and why?"),
            "objects": gettext_lazy("Which detected objects are wrong?"),
        },
    ),
)


@dataclass(frozen=True)
class Tile:
    """One number of the start page: the text to show, its interval or basis, and the report behind it.

    `value` "": nothing yet, and `note` says why.
    """

    kind: str
    question: str | Promise
    value: str
    note: str


def groups() -> list[tuple[str | Promise, list[tuple[ReportPage, str | Promise]]]]:
    """Return (group, its pages with their questions)."""
    grouped = [(label, [(PAGES[slug], question) for slug, question in pages.items()]) for label, pages in GROUPS]
    ours = {slug for _label, pages in GROUPS for slug in pages}
    plugins = [(page, page.summary) for slug, page in PAGES.items() if slug not in ours]
    return [*grouped, *([(_("Plug-ins"), plugins)] if plugins else [])]


def tiles(project: Project) -> list[Tile]:
    """Return the four tiles. Of a project with many items, only stored reports are read."""
    return [_valid(project), *(_tile(project, kind, question, words) for kind, question, words in TILES)]


def _tile(project: Project, kind: str, question: str | Promise, words: Callable[[Data], tuple[str, str]]) -> Tile:
    try:
        data = _data(project, kind)
    except EvaluationError as error:
        return Tile(kind, question, "", str(error))
    if data is None:
        return Tile(kind, question, "", _("Not computed yet. Open the report to compute it."))
    return Tile(kind, question, *words(data))


def _data(project: Project, kind: str) -> Data | None:
    if waits(project, kind, about_of(kind, "", {}), {}):
        return None
    stored = stored_report(project, kind, None, {})
    if stored.is_large or (stored.data is not None and not stored.is_stale):
        return stored.data
    return project_report(project, kind)


def _valid(project: Project) -> Tile:
    """Return the share of valid items among those that people have judged. One query."""
    main_items = Item.objects.filter(project=project, subtest__kind=Subtest.Kind.MAIN)
    counts = dict(main_items.values_list("state").annotate(n=Count("pk")).order_by())
    n, total = counts.get(ItemState.VALID, 0), sum(counts.get(state, 0) for state in JUDGED)
    question = gettext_lazy("Are the items valid?")
    if not total:
        return Tile("validation", question, "", _("No items are judged yet."))
    words = _("%(n)s of %(total)s judged items are valid %(interval)s")
    note = words % {"n": f"{n:,}", "total": f"{total:,}", "interval": _percent(wilson(n, total))}
    return Tile("validation", question, share(n / total, 0), note)


def _agreement(data: Data) -> tuple[str, str]:
    if data["alpha"] is None:
        return "", _("No alpha yet: too few votes, or all votes are the same.")
    bounds = data["alpha_ci"]
    interval = f" [{bounds[0]:.2f}, {bounds[1]:.2f}]" if bounds else ""
    return f"{data['alpha']:.2f}", _("Krippendorff's alpha%(interval)s; 1 is perfect, 0 is chance") % {
        "interval": interval
    }


def _blind(data: Data) -> tuple[str, str]:
    row = data["overall"]
    if row["solver_accuracy"] is None:
        return "", str(row["reason"])
    words = _("right without the video %(interval)s; guessing gives 50 %%")
    return share(row["solver_accuracy"], 0), words % {"interval": _percent(row["ci"])}


def _watched(data: Data) -> tuple[str, str]:
    shares = [row["median_covered"] for row in data["people"] if row["stage"] == "validation"]
    measured = [value for value in shares if value is not None]
    if not measured:
        return "", _("No watched shares yet.")
    words = _("of the clip, by the median validator; the lowest of %(n)s watches %(low)s")
    return share(median(measured), 0), words % {"n": len(measured), "low": share(min(measured), 0)}


def _percent(bounds: Any) -> str:
    return f"[{100 * bounds[0]:.0f}, {100 * bounds[1]:.0f}] %" if bounds else ""


TILES: tuple[tuple[str, str | Promise, Callable[[Data], tuple[str, str]]], ...] = (
    ("agreement", gettext_lazy("Do validators agree?"), _agreement),
    ("blind", gettext_lazy("Does it need the video?"), _blind),
    ("people", gettext_lazy("Did people watch?"), _watched),
)
