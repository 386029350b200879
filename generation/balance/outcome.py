"""Summarize the effect of a choice on a set of pairs, for the page, the command and the documentation."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from generation.balance.classifier import Won, fitted, held_out
from generation.balance.records import FEASIBLE_PAIRS, FEASIBLE_SHARE, Chosen, Pair, change, selected_pairs, word_counts

TOP = 20


def outcome(pairs: Sequence[Pair], chosen: Chosen, *, fixed: Sequence[Pair] = (), top: int = TOP) -> dict[str, Any]:
    """Return counts, shares, the classifier before and after (held out, and fitted on all), the words and the reasons.

    `feasible` is False, with `reason`, if less than FEASIBLE_SHARE or fewer than FEASIBLE_PAIRS stay.
    """
    left = [*fixed, *selected_pairs(pairs, chosen.kept)]
    everything = [*fixed, *pairs]
    reasons = lost_reasons(pairs, chosen)
    feasible = chosen.share >= FEASIBLE_SHARE and len(chosen.kept) >= FEASIBLE_PAIRS
    return {
        "n": len(pairs),
        "n_fixed": len(fixed),
        "n_kept": len(chosen.kept),
        "n_lost": len(chosen.lost),
        "share": chosen.share,
        "at_most": chosen.at_most,
        "feasible": feasible,
        "reason": "" if feasible else _reason(pairs, chosen, reasons),
        "lost": reasons,
        "before": _accuracy(everything),
        "after": _accuracy(left),
        "words_before": [asdict(row) | {"excess": row.excess} for row in word_counts(everything)[:top]],
        "words_after": [asdict(row) | {"excess": row.excess} for row in word_counts(left)[:top]],
    }


def lost_reasons(pairs: Sequence[Pair], chosen: Chosen) -> dict[str, int]:
    """Count why pairs were left out: a word without a counterpart on the other side (also after removing such pairs), a
    chosen foil of the same caption, or a word that one side has more often."""
    one_sided = _without_counterpart(pairs)
    kept_groups = Counter(pair.group for pair in selected_pairs(pairs, chosen.kept))
    lost = set(chosen.lost)
    found = Counter(
        "no_counterpart" if pair.id in one_sided else "other_foil" if kept_groups[pair.group] else "too_often"
        for pair in pairs
        if pair.id in lost
    )
    return {name: found[name] for name in ("no_counterpart", "other_foil", "too_often")}


def _without_counterpart(pairs: Sequence[Pair]) -> set[str]:
    """Return the ids of pairs with a word on one side only, repeated until none remains."""
    changes = {pair.id: change(pair.caption, pair.foil) for pair in pairs}
    gone: set[str] = set()
    while True:
        rest = [each for name, each in changes.items() if name not in gone]
        replaced = {word for each in rest for word, times in each.items() if times > 0}
        put_in = {word for each in rest for word, times in each.items() if times < 0}
        both = replaced & put_in
        found = {name for name, each in changes.items() if name not in gone and not each.keys() <= both}
        if not found:
            return gone
        gone |= found


def _accuracy(pairs: Sequence[Pair]) -> dict[str, float | None]:
    texts = [(pair.caption, pair.foil) for pair in pairs]
    return {"held_out": _mean(held_out(texts)), "fitted": _mean(fitted(texts))}


def _mean(won: Won | None) -> float | None:
    return None if won is None or not len(won) else float(np.mean(won))


def _reason(pairs: Sequence[Pair], chosen: Chosen, reasons: dict[str, int]) -> str:
    rows = word_counts(pairs)
    replaced = [row.word for row in rows if row.in_captions]
    put_in = [row.word for row in rows if row.in_foils]
    both = len(set(replaced) & set(put_in))
    return (
        f"{len(chosen.kept)} of {len(pairs)} can be balanced: of {len(replaced)} words that are replaced and "
        f"{len(put_in)} that are inserted, {both} are on both sides. {reasons['no_counterpart']} foils contain a word "
        "without a counterpart; make more foils with words of other captions"
    )
