"""Compute how often people choose the true text of an item without its clip (docs/explanation/balance.md#people)."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import QuerySet

from annotation.models import Choice, Stage, Vote, VoteState
from evaluation.metrics.intervals import mean_intervals
from foilworks.core.corpus.models import Release, ReleaseItem, Subtest, withdrawn_items
from foilworks.core.corpus.release_records import cluster
from foilworks.core.projects.models import Project

OVERALL = ""
VIDEO = ("source_id", "source_dataset", "sha256", "key")


@dataclass
class _Item:
    """The choices on one item: among how many texts, and whether each was the caption."""

    cluster: str
    n_texts: int
    is_right: list[bool] = field(default_factory=list)


def choices_of_release(release: Release) -> QuerySet[Vote]:
    """Return the counted choices without the clip on the items of a release."""
    members = ReleaseItem.objects.filter(release=release, item__isnull=False).values("item")
    return _counted().filter(item__in=members)


def choices_of_project(project: Project, subtest: str = "") -> QuerySet[Vote]:
    """Return the counted choices without the clip on main items, or on one subtest."""
    here = _counted().filter(item__subtest__project=project).exclude(withdrawn_items("item__"))
    return here.filter(item__subtest__name=subtest) if subtest else here.filter(item__subtest__kind=Subtest.Kind.MAIN)


def _counted() -> QuerySet[Vote]:
    return Vote.objects.filter(stage=Stage.UNSEEN, state=VoteState.COUNTED)


def accuracy(choices: QuerySet[Vote]) -> dict[str, dict[str, Any]]:
    """Return subtest -> the share of right choices, `OVERALL` -> that of all; empty without choices. One query.

    `value`: mean over items of the share of their choices that are the caption. `ci`: 95 % interval, with source videos
    as clusters; None with one. `chance`: mean of 1 / (number of texts). `n`, `n_choices`, `n_people`: counts.
    """
    items: dict[str, dict[int, _Item]] = defaultdict(dict)
    people: dict[str, set[int]] = defaultdict(set)
    columns = ("item", "item__subtest__name", "person", "choice", "order_shown")
    rows = choices.order_by("pk").values_list(*columns, *(f"item__video__{name}" for name in VIDEO))
    for item, subtest, person, choice, order, *video in rows:
        for name in (subtest, OVERALL):
            row = items[name].setdefault(item, _Item(cluster(dict(zip(VIDEO, video, strict=True))), len(order)))
            row.is_right.append(choice == Choice.CAPTION)
            people[name].add(person)
    return {name: _row(list(rows.values()), len(people[name])) for name, rows in items.items()}


def _row(items: list[_Item], n_people: int) -> dict[str, Any]:
    shares = np.array([np.mean(item.is_right) for item in items])
    return {
        "value": float(shares.mean()),
        "ci": mean_intervals(shares[:, None], [item.cluster for item in items])[0],
        "chance": float(np.mean([1 / item.n_texts for item in items])),
        "n": len(items),
        "n_choices": sum(len(item.is_right) for item in items),
        "n_people": n_people,
    }
