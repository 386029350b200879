"""List the items of a project that match the filters, in a fixed number of queries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.db.models import Count, Exists, F, FloatField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Coalesce, Greatest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.models import Choice, ItemComment, Stage, Vote, VoteState
from annotation.queries.decision_queues import roles_of
from evaluation.items.forms import IMPORTED, method_label
from evaluation.items.item_details import other_clips
from evaluation.ladder.listing import Source, items_at
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import axes_of, credits_of, item_ids_of, margins_of
from evaluation.utd.shortcuts import flagged, shortcuts_of
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.rules.hard_foils import RANDOM
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.listing.keyset import Order, cursor_at, page_of
from foilworks.core.projects.models import Project
from foilworks.core.text.diff import diff_segments

DISAGREEMENT, MARGIN = "disagreement", "margin"


def counted_votes() -> QuerySet[Vote]:
    """Return the counted votes of validation on the item of the outer query."""
    return Vote.objects.filter(item=OuterRef("pk"), stage=Stage.VALIDATION, state=VoteState.COUNTED).order_by()


def disagreement() -> Subquery:
    """Return the share of votes that differ from the most frequent answer, on the foil where it is largest.

    Null without a vote. The same foil always has the same number, in whatever order its votes came.
    """
    answers = {f"n_{choice}": Count("pk", filter=Q(choice=choice)) for choice in Choice.values}
    pairs = counted_votes().values("foil").annotate(n=Count("pk"), **answers)
    share = 1.0 - Cast(Greatest(*answers), FloatField()) / F("n")
    return Subquery(pairs.annotate(share=share).order_by("-share").values("share")[:1], output_field=FloatField())


def _votes_measured(items: QuerySet[Item]) -> Iterable[tuple[int, float | None]]:
    return items.annotate(measure=_number(counted_votes())).order_by().values_list("pk", "measure")


def _disagreement_measured(items: QuerySet[Item]) -> Iterable[tuple[int, float | None]]:
    return items.annotate(measure=disagreement()).order_by().values_list("pk", "measure")


def _margins_measured(run: Run, items: QuerySet[Item]) -> Iterable[tuple[int, float | None]]:
    margin_by_id = dict(zip(item_ids_of(run.release), margins_of(run), strict=True))
    return ((pk, margin_by_id.get(pk)) for pk in items.order_by().values_list("pk", flat=True))


# Each is the order of an index, or reads a number of every item: 10^5 of them take less than a second.
ORDERS = (
    Order("newest", _("Newest"), ("pk",), descending=True),
    Order("oldest", _("Oldest"), ("pk",)),
    Order("key", _("Name A–Z"), ("key", "pk")),
    Order("votes", _("Most votes"), ("pk",), descending=True, measure=_votes_measured),
    Order(DISAGREEMENT, _("Most disagreement"), ("pk",), descending=True, measure=_disagreement_measured),
)


def orders_of(project: Project, run: Run | None) -> tuple[Order, ...]:
    """Return the orders of the items; by margin, they go by `run`, else by the newest run. One query at most."""
    if run is None:
        runs = Run.objects.filter(release__project=project).exclude(model_key="")
        run = runs.select_related("release__project", "job").order_by("-pk").first()
    if run is None:
        return ORDERS
    label = _("Lowest margin of %(model)s") % {"model": run.label}
    return (*ORDERS, Order(MARGIN, label, ("pk",), measure=partial(_margins_measured, run)))


def narrowed(
    project: Project, filters: Mapping[str, Any], run: Run | None, ladder: Source | None = None
) -> QuerySet[Item]:
    """Return the project's items that match ItemFilter; `run` and `ladder` are the chosen ones."""
    items = Item.objects.filter(project=project)
    if text := filters.get("q"):
        in_foils = Exists(Foil.objects.filter(item=OuterRef("pk"), text__icontains=text))
        items = items.filter(Q(key__icontains=text) | Q(caption__text__icontains=text) | in_foils)
    if subtest := filters.get("subtest"):
        items = items.filter(subtest=subtest)
    if state := filters.get("state"):
        items = items.filter(state=state)
    if method := filters.get("method"):
        made_by = Q(candidate_group=None) if method == IMPORTED else Q(candidate_group__run__method=method)
        items = items.filter(made_by)
    if agreed := filters.get("agreed"):
        decided = items.exclude(state=ItemState.IN_VALIDATION)
        items = items.filter(unanimous=True) if agreed == "yes" else decided.filter(unanimous=False)
    if filters.get("doubt"):
        items = items.filter(caption__flagged_false=True)
    if filters.get("comments"):
        items = items.filter(Exists(ItemComment.objects.filter(item=OuterRef("pk"), resolved_at=None)))
    if shortcut := filters.get("shortcut"):
        items = items.filter(pk__in=flagged(project, shortcut).values("item"))
    if run is not None:
        items = items.filter(pk__in=answered(run, filters.get("answer", "")))
    if ladder is not None:
        items = items.filter(pk__in=items_at(ladder, filters.get("need", ""), filters.get("rung", "")))
    return items


COLUMNS: dict[str, str | Promise] = {
    "clip": _("Film strip"),
    "subtest": _("Subtest"),
    "method": _("Source of foils"),
    "marks": _("Marks"),
    "votes": _("Votes"),
    DISAGREEMENT: _("Disagreement"),
    "added": _("Added on"),
    "decided": _("Decided on"),
}
USUAL_COLUMNS = ("clip", "subtest", "marks", "votes")


@dataclass(frozen=True)
class Neighbours:
    """Ids of the items before and after one in a list, None at its ends; `query`: the address's filters and order."""

    previous: int | None
    next: int | None
    query: str


def neighbours_of(item: Item, rows: QuerySet[Item], order: Order, filters: Mapping[str, Any]) -> Neighbours:
    """Return the neighbours of the item among the rows in their order; two queries."""
    before, after = (
        page_of(rows, order, cursor_at(order, item, 1, back=back), size=1).rows[:1] for back in (True, False)
    )
    shown_filters = {name: "on" if value is True else value for name, value in filters.items()}
    query = urlencode({**shown_filters, **({"sort": order.slug} if order is not ORDERS[0] else {})})
    return Neighbours(before[0].pk if before else None, after[0].pk if after else None, f"?{query}" if query else "")


def answered(run: Run, answer: str) -> list[int]:
    """Return ids of the items of the run's release that the model got `right` or `wrong` (a tie is not right), or
    scored.
    """
    credit = credits_of(run, axes_of(run.release)).main
    fits = {"right": credit >= 1.0, "wrong": credit < 1.0}.get(answer, ~np.isnan(credit))
    return [pk for pk, fit in zip(item_ids_of(run.release), fits, strict=True) if fit and pk is not None]


def with_row_fields(items: QuerySet[Item], *, with_disagreement: bool = False) -> QuerySet[Item]:
    """Add what a row shows: texts, clip, `method` of the foils (None: imported), `disagreement` if wanted, the counted
    votes `n_votes`, and `n_for` of them that chose the caption alone.
    """
    counted = counted_votes()
    if with_disagreement:
        items = items.annotate(disagreement=disagreement())
    items = items.annotate(method=F("candidate_group__run__method"))
    items = items.annotate(n_votes=_number(counted), n_for=_number(counted.filter(choice=Choice.CAPTION)))
    return items.select_related("subtest", "caption", "video").prefetch_related("foils")


def _number(votes: QuerySet[Vote]) -> Coalesce:
    return Coalesce(Subquery(votes.values("item").values(n=Count("pk"))), 0)


def add_details(rows: Sequence[Item]) -> None:
    """Give each item what its row shows.

    `pairs` (segments of each changed foil), `n_random` (captions of other videos), `dots` (True per vote for the
    caption), `shortcut` and `other_clip`, the other item of its pair.
    """
    other_clip_by_item = other_clips(rows)
    shortcuts = {row.item_id: row for row in shortcuts_of([item.pk for item in rows])}
    for item in rows:
        foils = list(item.foils.all())
        roles = roles_of(item, foils)
        changed = [foil for foil, role in zip(foils, roles, strict=True) if role != RANDOM]
        item.pairs = [diff_segments(item.caption.text, foil.text) for foil in changed]
        item.n_random = len(foils) - len(changed)
        item.dots = [True] * item.n_for + [False] * (item.n_votes - item.n_for)
        item.other_clip = other_clip_by_item.get(item.pk)
        item.shortcut = shortcuts.get(item.pk)
        item.source = method_label(item.method) if item.method else _("imported")
