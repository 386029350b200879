"""Summarize the effect of a choice on a set of pairs, for the page, the command and the documentation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from foilworks.core.solver.pairs import OVERALL, UNSOLVED, SolvedRow, solve_pairs
from foilworks.core.solver.questions import Row
from generation.balance.balanced_pairs import (
    FEASIBLE_PAIRS,
    FEASIBLE_SHARE,
    Pair,
    PairSelection,
    change,
    selected_pairs,
    word_counts,
)
from generation.balance.classifier import fitted

TOP = 20


def outcome(
    pairs: Sequence[Pair],
    selection: PairSelection,
    *,
    fixed: Sequence[Pair] = (),
    solved: tuple[SolvedRow | None, SolvedRow | None] | None = None,
    top: int = TOP,
) -> dict[str, Any]:
    """Return counts, shares, accuracies before and after, the words and the reasons.

    `before` and `after` have the solver's value, interval and verdict (foilworks/core/solver/pairs.py), and `fitted`,
    the classifier of words on the pairs that it was fitted on. `solved`: the solver's rows before and after, if the
    caller has solved these pairs among others. `is_balanced`: no word reveals the answer. `is_still_solved`: the
    verdict after is "fail". `feasible` is False, with `reason`, if less than FEASIBLE_SHARE or fewer than
    FEASIBLE_PAIRS stay.
    """
    remaining_pairs = [*fixed, *selected_pairs(pairs, selection.selected)]
    everything = [*fixed, *pairs]
    before, after = solved or (_solve(everything), _solve(remaining_pairs))
    accuracy_after = _accuracy(remaining_pairs, after)
    reasons = lost_reasons(pairs, selection)
    feasible = selection.share >= FEASIBLE_SHARE and len(selection.selected) >= FEASIBLE_PAIRS
    return {
        "n": len(pairs),
        "n_fixed": len(fixed),
        "n_kept": len(selection.selected),
        "n_lost": len(selection.lost),
        "share": selection.share,
        "at_most": selection.at_most,
        "feasible": feasible,
        "reason": "" if feasible else _reason(pairs, selection, reasons),
        "lost": reasons,
        "before": _accuracy(everything, before),
        "after": accuracy_after,
        "is_balanced": accuracy_after["fitted"] == 0.5,
        "is_still_solved": accuracy_after["verdict"] == "fail",
        "words_before": [asdict(row) | {"excess": row.excess} for row in word_counts(everything)[:top]],
        "words_after": [asdict(row) | {"excess": row.excess} for row in word_counts(remaining_pairs)[:top]],
    }


def lost_reasons(pairs: Sequence[Pair], selection: PairSelection) -> dict[str, int]:
    """Count why pairs were left out: a word without a counterpart on the other side (also after removing such pairs), a
    chosen foil of the same caption, or a word that one side has more often."""
    one_sided = _without_counterpart(pairs)
    kept_groups = Counter(pair.group for pair in selected_pairs(pairs, selection.selected))
    lost_ids = set(selection.lost)
    reason_counts = Counter(
        "no_counterpart" if pair.id in one_sided else "other_foil" if kept_groups[pair.group] else "too_often"
        for pair in pairs
        if pair.id in lost_ids
    )
    return {name: reason_counts[name] for name in ("no_counterpart", "other_foil", "too_often")}


def _without_counterpart(pairs: Sequence[Pair]) -> set[str]:
    """Return the ids of pairs with a word on one side only, repeated until none remains."""
    changes = {pair.id: change(pair.caption, pair.foil) for pair in pairs}
    removed_ids: set[str] = set()
    while True:
        remaining_changes = [word_change for name, word_change in changes.items() if name not in removed_ids]
        replaced = {word for word_change in remaining_changes for word, times in word_change.items() if times > 0}
        put_in = {word for word_change in remaining_changes for word, times in word_change.items() if times < 0}
        balanced_words = replaced & put_in
        one_sided_ids = {
            name
            for name, word_change in changes.items()
            if name not in removed_ids and not word_change.keys() <= balanced_words
        }
        if not one_sided_ids:
            return removed_ids
        removed_ids |= one_sided_ids


def _solve(pairs: Sequence[Pair]) -> SolvedRow | None:
    rows = [Row(pair.caption, (pair.foil,), video=pair.video or f"caption {pair.group}") for pair in pairs]
    return solve_pairs(rows).get(OVERALL)


def _accuracy(pairs: Sequence[Pair], solved: SolvedRow | None) -> dict[str, Any]:
    credits = fitted([(pair.caption, pair.foil) for pair in pairs])
    return {"fitted": float(credits.mean()) if len(credits) else None, **(solved or UNSOLVED)}


def _reason(pairs: Sequence[Pair], selection: PairSelection, reasons: dict[str, int]) -> str:
    rows = word_counts(pairs)
    replaced = [row.word for row in rows if row.in_captions]
    put_in = [row.word for row in rows if row.in_foils]
    n_on_both_sides = len(set(replaced) & set(put_in))
    return (
        f"{len(selection.selected)} of {len(pairs)} can be balanced: of {len(replaced)} words that are replaced and "
        f"{len(put_in)} that are inserted, {n_on_both_sides} are on both sides. {reasons['no_counterpart']} foils "
        "contain a word without a counterpart; make more foils with words of other captions"
    )
