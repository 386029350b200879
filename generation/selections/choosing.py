"""Choose candidates with generation.balance. Only jobs import this module: it loads the classifier."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from generation.balance import adversarial, frequency, selection
from generation.balance.outcome import outcome
from generation.balance.records import Chosen
from generation.errors import GenerationError
from generation.models import FilterScore, Selection
from generation.selections.open_candidates import Pool, pool_of

EXAMPLES = 20


def choose_candidates(chosen: Selection) -> tuple[dict[str, Any], list[int]]:
    """Return (results to show, ids to hold back). GenerationError: no candidates, or unscored gaps."""
    pool = pool_of(chosen)
    if not pool.open:
        raise GenerationError(
            _(
                "No waiting candidates to choose from: there are none, or people have "
                "started on all of them. Generate more foils first."
            )
        )
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
            _("%(missing)s foils have no score from the filter %(filter)s. Start a run with that filter first.")
            % {"missing": missing, "filter": slug}
        )
    return np.array([known[pk] for pk in wanted])
