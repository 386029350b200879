"""Summarize the effect of a choice on a set of pairs, for the page, the command and the documentation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from generation.balance.balanced_pairs import (
    FEASIBLE_PAIRS,
    FEASIBLE_SHARE,
    Pair,
    PairSelection,
    change,
    selected_pairs,
    word_counts,
)
from generation.balance.classifier import Won, fitted, held_out

TOP = 20


def outcome(
    pairs: Sequence[Pair], selection: PairSelection, *, fixed: Sequence[Pair] = (), top: int = TOP
) -> dict[str, Any]:
    """Return counts, shares, the classifier before and after (held out, and fitted on all), the words and the reasons.

    `feasible` is False, with `reason`, if less than FEASIBLE_SHARE or fewer than FEASIBLE_PAIRS stay.
    """
    remaining_pairs = [*fixed, *selected_pairs(pairs, selection.selected)]
    everything = [*fixed, *pairs]
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
        "before": _accuracy(everything),
        "after": _accuracy(remaining_pairs),
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


def _accuracy(pairs: Sequence[Pair]) -> dict[str, float | None]:
    texts = [(pair.caption, pair.foil) for pair in pairs]
    return {"held_out": _mean(held_out(texts)), "fitted": _mean(fitted(texts))}


def _mean(won: Won | None) -> float | None:
    return None if won is None or not len(won) else float(np.mean(won))


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
