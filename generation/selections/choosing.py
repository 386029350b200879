"""Choose candidates with generation.balance. Only jobs import this module: it loads the classifier."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from generation.balance import adversarial, frequency, selection
from generation.balance.balanced_pairs import PairSelection
from generation.balance.draw import draw
from generation.balance.outcome import outcome
from generation.errors import GenerationError
from generation.models import FilterScore, Selection
from generation.selections.open_candidates import Pool, pool_of

EXAMPLES = 20


def choose_candidates(stored_selection: Selection) -> tuple[dict[str, Any], list[int]]:
    """Return (results to show, ids to hold back). GenerationError: no candidates, or unscored gaps."""
    pool = pool_of(stored_selection)
    if not pool.open:
        raise GenerationError(
            _(
                "No waiting candidates to choose from: there are none, or people have "
                "started on all of them. Generate more foils first."
            )
        )
    pair_selection = _choose(stored_selection, pool)
    result = outcome(pool.open, pair_selection, fixed=pool.fixed)
    texts = {pair.id: pair for pair in pool.open}
    result["examples"] = [[texts[pk].caption, texts[pk].foil] for pk in pair_selection.lost[:EXAMPLES]]
    return result, sorted(int(pk) for pk in pair_selection.lost)


def _choose(stored_selection: Selection, pool: Pool) -> PairSelection:
    per_group = stored_selection.subtest.foils_per_item
    if stored_selection.kind == Selection.Kind.BALANCE:
        return selection.select(pool.open, per_group=per_group, fixed=pool.fixed)
    if stored_selection.kind == Selection.Kind.DRAW:
        return draw(pool.open, seed=stored_selection.seed, per_group=per_group, fixed=pool.fixed)
    if stored_selection.kind == Selection.Kind.FREQUENCY:
        return frequency.match(
            pool.open, seed=stored_selection.seed, ranks=pool.ranks, per_group=per_group, fixed=pool.fixed
        )
    ids = [pair.id for pair in pool.open]
    gaps = np.column_stack([_gaps(slug, ids) for slug in stored_selection.params["gaps"]])
    return adversarial.refine(
        ids, gaps, grid=stored_selection.params.get("grid", adversarial.GRID), seed=stored_selection.seed
    )


def _gaps(slug: str, ids: Iterable[str]) -> np.ndarray:
    candidate_ids = [int(pk) for pk in ids]
    rows = FilterScore.objects.filter(filter=slug, candidate__in=candidate_ids, score__isnull=False)
    score_by_id = dict(rows.values_list("candidate_id", "score"))
    missing = len(candidate_ids) - len(score_by_id)
    if missing:
        raise GenerationError(
            _("%(missing)s foils have no score from the filter %(filter)s. Start a run with that filter first.")
            % {"missing": missing, "filter": slug}
        )
    return np.array([score_by_id[pk] for pk in candidate_ids])
