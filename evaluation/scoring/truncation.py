"""Find the texts that a run's model truncates, and the items whose caption and foil are equal after truncation.

A run lists both in its `problems`. If caption and foil are equal after truncation, their scores are equal whatever the
model has learnt. Such an item has no score in that run, instead of a tie (docs/reference/formulas.md#truncation).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evaluation.analyses.preference import reads_alike
from evaluation.scoring.models import EQUAL_AFTER_CUT, TRUNCATED, UNKNOWN_CUTS, UNSEEN_TIME, Run
from evaluation.scoring.protocol_models import AsPerplexity, PooledFrames
from evaluation.scoring.queries import control_texts, item_texts_of, keyed_by, records_of
from foilworks.core.hub.interfaces import LimitsTexts, TextRead

Reads = Mapping[str, TextRead]
# Kinds of problems that are known before the first score.
FOUND_FIRST = (TRUNCATED, EQUAL_AFTER_CUT, UNKNOWN_CUTS, UNSEEN_TIME)


def truncation_of(run: Run, adapter: Any) -> dict[str, list[dict[str, str]]]:
    """List the truncated texts of the run's release: {TRUNCATED: [{"item", "why"}], EQUAL_AFTER_CUT: ...}.

    Lists of EQUAL_AFTER_CUT also name the `part` of the item: main, proficiency or control.
    """
    records = records_of(run.release)
    control = run.params.get("control")
    sampled = control_texts(records, control) if control else {}
    records += records_of(run.release, private=True)
    comparisons = [
        (record["id"], comparison, texts)
        for record in records
        for item_texts in [item_texts_of(record, keyed_by(run))]
        for comparison, texts in (
            ("main", item_texts.main),
            ("proficiency", item_texts.proficiency),
            ("control", sampled.get(record["id"], ())),
        )
        if texts
    ]
    return cuts_of_parts(adapter, run.label, comparisons)


def cuts_of_parts(adapter: Any, label: str, comparisons: Sequence[tuple[str, str, Sequence[str]]]) -> dict[str, Any]:
    """List the cuts of `comparisons` (as in `listed_cuts`), or that the model cannot say; without empty lists."""
    reads = texts_at_limit(adapter, [text for _, _, texts in comparisons for text in texts])
    if reads is None:
        return {UNKNOWN_CUTS: [{"item": label, "why": "its adapter does not report truncated texts"}]}
    return {name: rows for name, rows in listed_cuts(comparisons, reads).items() if rows}


def listed_before(run: Run) -> dict[str, Any]:
    """Return what was found when the run began, before its shards."""
    return {name: run.problems[name] for name in FOUND_FIRST if name in run.problems}


def texts_at_limit(adapter: Any, texts: Sequence[str]) -> Reads | None:
    """Ask the model under the run's protocol; None if it cannot say."""
    if isinstance(adapter, AsPerplexity | PooledFrames):
        return adapter.at_limit(texts)
    return adapter.at_limit(texts) if isinstance(adapter, LimitsTexts) else None


def listed_cuts(comparisons: Iterable[tuple[str, str, Sequence[str]]], reads: Reads) -> dict[str, list[dict[str, str]]]:
    """List the cuts. `comparisons`: (item, part, its texts with the caption first)."""
    truncated: dict[str, list[str]] = {}
    equal = []
    for item, comparison, texts in comparisons:
        cut = [reads[text] for text in texts if text in reads and reads[text].is_cut]
        if not cut:
            continue
        longest = max(cut, key=lambda read: read.tokens)
        of = f"{len(cut)} of {len(texts)} texts"
        truncated.setdefault(item, []).append(f"{comparison}: {of}, up to {longest.tokens} of {longest.limit} tokens")
        text_reads = {text: (reads[text].kept, reads[text].is_cut) for text in texts if text in reads}
        if n_equal := sum(reads_alike(texts[0], foil, text_reads) for foil in texts[1:]):
            why = f"{comparison}: the model reads the same of the caption and {n_equal} of {len(texts) - 1} others"
            equal.append({"item": item, "part": comparison, "why": why})
    return {
        TRUNCATED: [{"item": item, "why": "; ".join(why)} for item, why in truncated.items()],
        EQUAL_AFTER_CUT: equal,
    }
