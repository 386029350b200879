"""Drops a foil that a language model finds much odder than its caption (contrast sets 3.2, gpt2-xl).

`corrected`: (foil - caption) / caption is under .6, or under 1.4 with the foil's perplexity under 750. `paper` holds
(caption - foil) / caption against the same bars, as printed, which keeps the worse sentences.
"""

import math
from collections.abc import Sequence
from typing import Any

from generation.records import CaptionInput, Case, Verdict
from hub.table import TEXT_SCORER, open_helper

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Verdict]:
    """Score: the relative change. Every text is scored once."""
    scorer = open_helper(params["model"], TEXT_SCORER, device=params["device"])
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    values = {text: _perplexity(score.value) for text, score in zip(texts, scorer.score(None, texts), strict=True)}
    return [_verdict(values[case.caption.text], values[case.foil], params) for case in cases]


def _perplexity(mean_log_likelihood: float) -> float:
    return math.exp(min(-mean_log_likelihood, 700.0))


def _verdict(caption: float, foil: float, params: dict[str, Any]) -> Verdict:
    change = (caption - foil if params["formula"] == "paper" else foil - caption) / caption
    passed = change < params["max_change"] or (change < params["wide_change"] and foil < params["max_perplexity"])
    return Verdict(passed, change, f"perplexity {caption:.0f} of the caption, {foil:.0f} of the foil")
