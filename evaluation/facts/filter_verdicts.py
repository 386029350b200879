"""Load filter scores and human verdicts, as the analysis of filters takes them."""

from collections import defaultdict
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet

from evaluation.analyses.verdicts import FilterVerdicts
from foilworks.core.corpus.models import Subtest
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict
from foilworks.core.projects.models import Project
from generation.filters.registry import FILTERS, SCREENING
from generation.models import FilterScore
from generation.thresholds.registry import THRESHOLDS

FIELDS = (
    "filter",
    "score",
    "passed",
    "candidate__state",
    "candidate__foil__verdict",
    "candidate__group__caption_id",
)


def filter_verdicts(project: Project, subtest: Subtest | None = None) -> list[FilterVerdicts]:
    """Return one entry per filter that decides by its score, in the table's order. One query.

    The filter that lets a sample of its rejected foils pass has a report of its own, which weights them.
    A foil that a person reworded is a different text and does not count, nor does a disputed one.
    """
    rows: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for slug, *row in judged_scores(project, subtest).values_list(*FIELDS).iterator():
        rows[slug].append(tuple(row))
    return [_facts(slug, rows[slug]) for slug in THRESHOLDS if slug in rows and slug != SCREENING]


def judged_scores(project: Project, subtest: Subtest | None) -> QuerySet[FilterScore]:
    """Return scores of candidates that a reviewer or the validators have decided about."""
    runs = {"run__subtest": subtest} if subtest else {"run__project": project}
    decided = Q(candidate__state__in=(CandidateState.ACCEPTED, CandidateState.DROPPED))
    validated = Q(candidate__foil__verdict__in=(FoilVerdict.VALID, FoilVerdict.INVALID))
    scored = FilterScore.objects.filter(**runs, filter__in=list(THRESHOLDS), score__isnull=False)
    unsettled = Q(candidate__foil__verdict=FoilVerdict.DISPUTED)
    return scored.filter(decided | validated).exclude(unsettled).order_by("pk")


def _facts(slug: str, rows: list[tuple[Any, ...]]) -> FilterVerdicts:
    return FilterVerdicts(
        filter=slug,
        label=FILTERS[slug].label if slug in FILTERS else slug,
        higher_passes=THRESHOLDS[slug].passes in {">", ">="},
        scores=np.array([row[0] for row in rows], dtype=np.float64),
        good=np.array([_is_good(row[2], row[3]) for row in rows], dtype=np.bool_),
        now=np.array([row[1] for row in rows], dtype=np.bool_),
        captions=[str(row[4]) for row in rows],
    )


def _is_good(state: str, verdict: str | None) -> bool:
    """Report whether a foil is good; validators take precedence over a reviewer."""
    if verdict in {FoilVerdict.VALID, FoilVerdict.INVALID}:
        return verdict == FoilVerdict.VALID
    return state == CandidateState.ACCEPTED
