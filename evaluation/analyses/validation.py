"""Compute the validation report: surviving items, agreement of validators, divergence of words (ViLMA, Tables 4-6).

Counts come out of the released files to the item; percentages are computed from them. (Some percentages in (ViLMA,
Table 6) contradict their own counts.) By construction, alpha over only the valid items is lower than over all. Without
the rejected items, the spread that agreement is measured against is gone. JS and alpha of valid items are computed over
the released pairs: if enough valid pairs make an item valid, the other pairs dropped out.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.agreement_data import Alpha, alpha
from evaluation.analyses.analysis_inputs import CODINGS, ItemFacts, ProficiencyFacts, collapse_to_three, valid_part
from evaluation.analyses.words import js_divergence, n_lexical_items, word_counts
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED

VERSION = "5"
INPUT = "items"


def compute(
    items: Sequence[ItemFacts], *, base: str = "2", unit: str = "words", draws: int = DRAWS, seed: int = SEED
) -> dict[str, Any]:
    """Return one row per subtest, in the order of the items, and `overall` over all items pooled.

    Values that the items do not support (no votes, no proficiency items, no votes on those) are None.
    """
    if not items:
        raise EvaluationError("there are no items to report on; import or assemble some first")
    names = dict.fromkeys(item.subtest for item in items)

    def row(name: str, subtest_items: Sequence[ItemFacts]) -> dict[str, Any]:
        return _row(name, subtest_items, base, unit, draws, seed)

    return {
        "subtests": [row(name, [item for item in items if item.subtest == name]) for name in names],
        "overall": {**row("overall", items), "test": None},
        "definitions": {"js_base": base, "js_unit": unit, "lexical_items": "words on one side only"},
    }


def _row(name: str, items: Sequence[ItemFacts], base: str, unit: str, draws: int, seed: int) -> dict[str, Any]:
    valid = valid_part(items)
    able = [item for item in items if item.proficiency and item.proficiency.valid]
    judged = any(item.valid is not None for item in items)
    judged_p = any(item.proficiency and item.proficiency.valid is not None for item in items)
    n_as_published = sum(item.as_published for item in valid)
    captions, foils = word_counts(items, unit)
    coding, (all_units, valid_units) = _alphas(items, valid, draws, seed)
    return {
        "name": name,
        "test": next((item.test for item in items if item.test), None),
        "n_items": len(items),
        "n_valid": len(valid) if judged else None,
        "n_unanimous": sum(item.unanimous is True for item in items) if judged else None,
        "n_valid_proficiency": len(able) if judged_p else None,
        "n_both": sum(item.valid is True for item in able) if judged and judged_p else None,
        "n_lexical_items": n_lexical_items(captions, foils),
        "js_all": js_divergence(captions, foils, base),
        "js_valid": js_divergence(*word_counts(valid, unit), base) if judged else None,
        "js_all_at_size_of_valid": _js_of_sample(items, len(valid), base, unit, seed) if judged else None,
        "alpha_all": all_units.value,
        "alpha_valid": valid_units.value,
        "alpha_coding": coding,
        # Only if votes stop early.
        **({"n_judged_in_full": sum(bool(item.compared) for item in items)} if _stops_early(items) else {}),
        "alpha_all_ci": all_units.interval,
        "alpha_valid_ci": valid_units.interval,
        "alpha_all_ci_undefined": all_units.undefined,
        "alpha_valid_ci_undefined": valid_units.undefined,
        "alpha_all_reason": all_units.reason,
        "alpha_valid_reason": valid_units.reason,
        "votes": _votes(items, coding),
        "proficiency": _proficiency(items, base, unit),
        # Only of published sets.
        **({"n_as_published": n_as_published} if n_as_published else {}),
    }


def _stops_early(items: Sequence[ItemFacts]) -> bool:
    """Return whether votes of an item stop early, so that alpha is of the items judged in full."""
    return any(item.compared is not None for item in items)


def _alphas(
    items: Sequence[ItemFacts], valid: Sequence[ItemFacts], draws: int, seed: int
) -> tuple[str, tuple[Alpha, Alpha]]:
    """Compute alpha truth-coded if every tally separates neither, both and cannot tell; else truth3."""
    coding = "truth" if all(len(tally) == 5 for item in items for tally in item.tallies) else "truth3"
    if not any(item.tallies for item in items):
        coding = "truth3"
    in_full = any(item.compared for item in items)

    def measured(counted_items: Sequence[ItemFacts]) -> Alpha:
        units = [(k, tally) for k, item in enumerate(counted_items) for tally in _compared_tallies(item, in_full)]
        table = _coded_tallies([tally for _, tally in units], coding)
        return alpha(table, np.array([k for k, _ in units], dtype=np.int64), draws=draws, seed=seed)

    return coding, (measured(items), measured(valid))


def _compared_tallies(item: ItemFacts, in_full: bool) -> tuple[tuple[int, ...], ...]:
    """Return the counts that alpha is measured on: of pairs judged in full, if there are any."""
    if item.compared is None or not in_full:
        return item.tallies
    return tuple(tally for _, tally in item.compared)


def _table(items: Sequence[ItemFacts], coding: str) -> NDArray[np.int64]:
    return _coded_tallies([tally for item in items for tally in item.tallies], coding)


def _coded_tallies(tallies_of_pairs: Sequence[tuple[int, ...]], coding: str) -> NDArray[np.int64]:
    tallies = [tally if coding == "truth" else collapse_to_three(tally) for tally in tallies_of_pairs]
    return np.array(tallies, dtype=np.int64).reshape(len(tallies), len(CODINGS[coding]))


def _votes(items: Sequence[ItemFacts], coding: str) -> dict[str, int]:
    totals = _table(items, coding).sum(axis=0)
    return {choice: int(total) for choice, total in zip(CODINGS[coding], totals, strict=True)}


def _js_of_sample(items: Sequence[ItemFacts], size: int, base: str, unit: str, seed: int) -> float | None:
    """Compute the JS of a seeded sample of all items, as large as the valid part: JS falls as samples grow (ViLMA,
    Table 4).
    """
    sample = random.Random(seed).sample(sorted(items, key=lambda item: (item.subtest, item.id)), size)
    return js_divergence(*word_counts(sample, unit), base)


def _proficiency(items: Sequence[ItemFacts], base: str, unit: str) -> dict[str, Any] | None:
    """Summarize the proficiency items of these main items (ViLMA, Table 5); a shared one counts once per main item."""
    simpler: list[ProficiencyFacts] = [item.proficiency for item in items if item.proficiency]
    if not simpler:
        return None
    valid = [facts for facts in simpler if facts.valid]
    judged = any(facts.valid is not None for facts in simpler)
    captions, foils = word_counts(simpler, unit)
    return {
        "n_items": len(simpler),
        "n_valid": len(valid) if judged else None,
        "n_lexical_items": n_lexical_items(captions, foils),
        "js_all": js_divergence(captions, foils, base),
        "js_valid": js_divergence(*word_counts(valid, unit), base) if judged else None,
    }
