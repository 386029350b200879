"""List the items of a project with filters, in a fixed number of queries."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Choice, Stage, Vote, VoteState
from corpus.models import Foil, Item, ReleaseItem
from corpus.rules.states import ItemState
from evaluation.items.forms import IMPORTED
from evaluation.scoring.models import Run
from evaluation.scoring.run_results import axes_of, credits_of
from evaluation.utd.shortcuts import flagged, shortcuts_of
from projects.models import Project
from text.diff import diff_segments

PER_PAGE = 25


def narrowed(project: Project, chosen: Mapping[str, Any], run: Run | None) -> QuerySet[Item]:
    """Return the project's items that match ItemFilter; `run` is the chosen one."""
    items = Item.objects.filter(subtest__project=project)
    if text := chosen.get("q"):
        in_foils = Exists(Foil.objects.filter(item=OuterRef("pk"), text__icontains=text))
        items = items.filter(Q(key__icontains=text) | Q(caption__text__icontains=text) | in_foils)
    if subtest := chosen.get("subtest"):
        items = items.filter(subtest=subtest)
    if state := chosen.get("state"):
        items = items.filter(state=state)
    if method := chosen.get("method"):
        made_by = Q(candidate_group=None) if method == IMPORTED else Q(candidate_group__run__method=method)
        items = items.filter(made_by)
    if agreed := chosen.get("agreed"):
        decided = items.exclude(state=ItemState.IN_VALIDATION)
        items = items.filter(unanimous=True) if agreed == "yes" else decided.filter(unanimous=False)
    if chosen.get("doubt"):
        items = items.filter(caption__flagged_false=True)
    if shortcut := chosen.get("shortcut"):
        items = items.filter(pk__in=flagged(project, shortcut).values("item"))
    if run is not None:
        items = items.filter(pk__in=answered(run, chosen.get("answer", "")))
    return items


def answered(run: Run, answer: str) -> list[int]:
    """Return ids of the items of the run's release that the model got `right` or `wrong` (a tie is not right), or
    scored.
    """
    credit = credits_of(run, axes_of(run.release)).main
    ids = ReleaseItem.objects.filter(release=run.release).order_by("position").values_list("item_id", flat=True)
    fits = {"right": credit >= 1.0, "wrong": credit < 1.0}.get(answer, ~np.isnan(credit))
    return [pk for pk, fit in zip(ids, fits, strict=True) if fit and pk is not None]


def page_of(items: QuerySet[Item], number: str | None) -> Page:
    """Return a page of items, each with its `pairs` (segments of each foil), `tally` (caption votes, votes) and
    `shortcut`.
    """
    rows = items.select_related("subtest", "caption").prefetch_related("foils").order_by("subtest__name", "key", "pk")
    page = Paginator(rows, PER_PAGE).get_page(number)
    tallies = _tallies([item.pk for item in page])
    shortcuts = {row.item_id: row for row in shortcuts_of([item.pk for item in page])}
    for item in page:
        item.pairs = [diff_segments(item.caption.text, foil.text) for foil in item.foils.all()]
        item.tally = tallies.get(item.pk)
        item.shortcut = shortcuts.get(item.pk)
    return page


def _tallies(ids: list[int]) -> dict[int, tuple[int, int]]:
    """Return (votes for only the caption, all counted votes) by item: one query."""
    counted = Vote.objects.filter(item__in=ids, stage=Stage.VALIDATION, state=VoteState.COUNTED)
    for_caption = Count("pk", filter=Q(choice=Choice.CAPTION))
    rows = counted.order_by().values_list("item").annotate(good=for_caption, n=Count("pk"))
    return {item: (good, n) for item, good, n in rows}
