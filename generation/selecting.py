"""What a selection chooses from, and what it chooses: rows in, pairs through generation.balance, ids out."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from corpus.models import Foil
from corpus.rules.states import CandidateState, FoilVerdict, ItemState
from generation.balance import adversarial, frequency, selection
from generation.balance.outcome import outcome
from generation.balance.records import Chosen, Pair
from generation.errors import GenerationError
from generation.models import Candidate, CandidateGroup, FilterScore, Selection

C = CandidateState
# In somebody's hands, or past them: they stay, and the balance is found around them.
BEGUN = (C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED)
GONE = (ItemState.INVALID, ItemState.REQUEUED, ItemState.RETRACTED)
# Filters whose score is a gap between caption and foil: above 0 the model prefers the caption.
GAPS = ("plausibility_gap", "grammar_gap", "perplexity")
EXAMPLES = 20


@dataclass(frozen=True)
class Pool:
    """`open`: candidates that nobody has begun with, waiting or held back; `fixed`: what stays whatever happens."""

    open: list[Pair]
    fixed: list[Pair]
    ranks: dict[str, int]


def waiting_state(chosen: Selection) -> CandidateState:
    return C.QUEUED if chosen.project.edit_stage else C.IN_REVIEW


def open_candidates(chosen: Selection) -> QuerySet[Candidate]:
    """Those that the selection may hold back or bring back: in groups that nobody has begun with."""
    rows = Candidate.objects.filter(group__run__subtest=chosen.subtest)
    if chosen.run_id:
        rows = rows.filter(group__run=chosen.run_id)
    waits = Q(state=waiting_state(chosen)) | (Q(state=C.FILTERED_OUT) & ~Q(held_back_by=""))
    return rows.filter(waits, group__in=_untouched(chosen))


def _untouched(chosen: Selection) -> QuerySet[CandidateGroup]:
    groups = CandidateGroup.objects.filter(run__subtest=chosen.subtest, item=None)
    if not chosen.project.edit_stage:
        # Everything waits for reviewers, so a group is left alone as soon as it has review tasks.
        shown = Candidate.objects.filter(group=OuterRef("pk"), state=C.IN_REVIEW)
        return groups.exclude(Q(tasked=True) & Exists(shown))
    untouched = (C.GENERATED, C.FILTERED_OUT, C.QUEUED)
    return groups.exclude(Exists(Candidate.objects.filter(group=OuterRef("pk")).exclude(state__in=untouched)))


def pool_of(chosen: Selection) -> Pool:
    """Four queries."""
    found = open_candidates(chosen).order_by("id")
    rows = list(found.values_list("id", "group_id", "group__caption__text", "text", "rank"))
    ids = {row[0] for row in rows}
    begun = Candidate.objects.filter(group__run__subtest=chosen.subtest, state__in=BEGUN).exclude(
        foil__item__state__in=GONE
    )
    fixed = [
        Pair(f"c{pk}", str(group), caption, text)
        for pk, group, caption, text in begun.order_by("id").values_list(
            "id", "group_id", "group__caption__text", "text"
        )
        if pk not in ids
    ]
    foils = Foil.objects.filter(item__subtest=chosen.subtest, candidate=None).exclude(item__state__in=GONE)
    kept = foils.exclude(verdict=FoilVerdict.INVALID).order_by("id")
    fixed += [
        Pair(f"f{pk}", f"item{item}", caption, text)
        for pk, item, caption, text in kept.values_list("id", "item_id", "item__caption__text", "text")
    ]
    return Pool(
        open=[Pair(str(pk), str(group), caption, text) for pk, group, caption, text, _rank in rows],
        fixed=fixed,
        ranks={str(row[0]): row[4] for row in rows},
    )


def work_out(chosen: Selection) -> tuple[dict[str, Any], list[int]]:
    """(what is shown, ids that are left out). GenerationError: nothing to choose from, or gaps that are not scored."""
    pool = pool_of(chosen)
    if not pool.open:
        raise GenerationError(_("No candidate waits that nobody has begun with; there is nothing to choose from."))
    found = _choose(chosen, pool)
    result = outcome(pool.open, found, fixed=pool.fixed)
    texts = {pair.id: pair for pair in pool.open}
    result["examples"] = [[texts[pk].caption, texts[pk].foil] for pk in found.lost[:EXAMPLES]]
    return result, sorted(int(pk) for pk in found.lost)


def _choose(chosen: Selection, pool: Pool) -> Chosen:
    per_group = chosen.subtest.foils_per_item
    if chosen.kind == Selection.Kind.BALANCE:
        return selection.select(pool.open, per_group=per_group, fixed=pool.fixed)
    if chosen.kind == Selection.Kind.FREQUENCY:
        return frequency.match(pool.open, seed=chosen.seed, ranks=pool.ranks, per_group=per_group, fixed=pool.fixed)
    ids = [pair.id for pair in pool.open]
    gaps = np.column_stack([_gaps(slug, ids) for slug in chosen.params["gaps"]])
    return adversarial.refine(ids, gaps, grid=chosen.params.get("grid", adversarial.GRID), seed=chosen.seed)


def _gaps(slug: str, ids: Iterable[str]) -> np.ndarray:
    wanted = [int(pk) for pk in ids]
    rows = FilterScore.objects.filter(filter=slug, candidate__in=wanted, score__isnull=False)
    known = dict(rows.values_list("candidate_id", "score"))
    missing = len(wanted) - len(known)
    if missing:
        raise GenerationError(
            _("%(missing)s foils have no score of %(filter)s; make a run with that filter first.")
            % {"missing": missing, "filter": slug}
        )
    return np.array([known[pk] for pk in wanted])
