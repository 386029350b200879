"""Compute the accuracy of people on a release, as for models (docs/reference/formulas.md#metric-human).

The votes are those of the human baseline: one choice among the shuffled candidates, by people who did not work on the
item.
"""

from collections import defaultdict
from typing import Any

import numpy as np
from django.db.models import Count, Max, QuerySet, Sum

from annotation.models import Choice, Stage, Vote, VoteState
from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.metrics.intervals import mean, mean_intervals, t_interval
from evaluation.scoring.run_results import Axes
from foilworks.core.corpus.models import Release, ReleaseItem

MAJORITY_OF = 3
VERSION = "3"


def human_line(release: Release, axes: Axes, scope: str = "", *, paired: bool = False) -> dict[str, Any] | None:
    """Compute the accuracy of single people and of majorities of three or more; None without answers.

    A single person's accuracy is the share of an item's counted choices that are the caption. Covers the items that
    people answered. One query once it is cached. `paired`: only over the items with a proficiency pair, as T of models
    with P.
    """
    seen = _choices(release).aggregate(n=Count("pk"), last=Max("pk"), total=Sum("pk"))
    if not seen["n"]:
        return None
    fingerprint = digest([VERSION, release.content_hash, seen])
    subject = f"{release.pk}:{scope}" + (":paired" if paired else "")

    def make() -> dict[str, Any]:
        return line_of(_tallies(release), axes, scope, paired=paired)

    return cached_by_fingerprint(release.project, "human", subject, fingerprint, make) or None


def _choices(release: Release) -> QuerySet[Vote]:
    """Return counted baseline choices on the release's items; an excluded one changes count and sum."""
    members = ReleaseItem.objects.filter(release=release, item__isnull=False).values("item")
    return Vote.objects.filter(stage=Stage.BASELINE, state=VoteState.COUNTED, item__in=members)


def _tallies(release: Release) -> dict[str, tuple[int, int]]:
    """Return (right, all) counted choices by record id."""
    names = dict(ReleaseItem.objects.filter(release=release).values_list("item_id", "record__id"))
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for item, choice in _choices(release).values_list("item_id", "choice"):
        counts[names[item]][0] += choice == Choice.CAPTION
        counts[names[item]][1] += 1
    return {name: (right, total) for name, (right, total) in counts.items()}


def line_of(tallies: dict[str, tuple[int, int]], axes: Axes, scope: str, *, paired: bool = False) -> dict[str, Any]:
    """Return the line from (right, all) choices by item id; empty if none of the scope's items was answered."""
    in_scope = axes.scope(scope)
    if paired:
        in_scope = in_scope & np.array(axes.has_pair, dtype=bool)
    used = [k for k, name in enumerate(axes.ids) if in_scope[k] and name in tallies]
    if not used:
        return {}
    counts = np.array([tallies[axes.ids[k]] for k in used], dtype=np.float64)
    clusters = [axes.clusters[k] for k in used]
    share = counts[:, 0] / counts[:, 1]
    enough = counts[:, 1] >= MAJORITY_OF
    wins = (counts[enough, 0] * 2 > counts[enough, 1]).astype(np.float64)
    return {
        "T": mean(share),
        "T_ci": mean_intervals(share[:, None], clusters)[0],
        "T_t_ci": t_interval(share, clusters),
        "n": len(used),
        "n_choices": int(counts[:, 1].sum()),
        "majority": mean(wins) if len(wins) else None,
        "n_majority": int(enough.sum()),
    }
