"""Drop a foil if a video model doubts that the caption is true of the clip and the foil is false.

Its verdicts are scores of a filter, never votes. A fixed random share of what it rejects still goes to people, so that
its errors are known (evaluation/analyses/screening.py).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from generation.records import Case, ClipFile, Measure, Verdict

VERSION = "1"
COSTLY = True
NEEDS_CLIPS = True
# The margin of a model that gives probabilities is 0 if it finds both right as likely as not.
EVEN = 0.5
BITS = 64


class Judge(Protocol):
    """A model that sees clips. `facts`: its identity, and everything that its values depend on."""

    facts: Mapping[str, Any]
    gives_probabilities: bool
    higher_is_better: bool

    def values(self, pairs: Sequence[tuple[ClipFile, str, str]]) -> list[tuple[float, float] | None]:
        """Return the values of caption and foil per (clip, caption, foil); None without an answer."""
        ...


def scorer(params: dict[str, Any], *, judge: Judge) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    del params
    return dict(judge.facts)


def measure_many(cases: Sequence[Case], *, params: dict[str, Any], judge: Judge | None = None) -> list[Measure]:
    """Return {"caption", "foil", "margin"}; empty without a clip, an answer or a model, which only a run opens."""
    del params
    if judge is None:
        return [{} for _ in cases]
    clip_texts = [(case.caption.clip, case.caption.text, case.foil) for case in cases]
    judgeable = [(clip, caption, foil) for clip, caption, foil in clip_texts if clip is not None]
    answers = iter(judge.values(judgeable))
    score_pairs = [next(answers) if clip is not None else None for clip, _, _ in clip_texts]
    return [{} if pair is None else _measure(judge, *pair) for pair in score_pairs]


def _measure(judge: Judge, caption: float, foil: float) -> Measure:
    if judge.gives_probabilities:
        margin = min(caption, 1.0 - foil) - EVEN
    else:
        margin = caption - foil if judge.higher_is_better else foil - caption
    return {"caption": caption, "foil": foil, "margin": margin}


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by the margin; it passes from params["min"] on. A foil without a measure passes."""
    margin = measure.get("margin")
    if margin is None:
        return Verdict(True, None, "the model gave no answer about the clip")
    reason = f"{measure['caption']:.3g} for the caption, {measure['foil']:.3g} for the foil"
    return Verdict(margin >= params["min"], margin, reason)


def is_sampled(case: Case, *, params: Mapping[str, Any], seed: int) -> bool:
    """Return whether the foil goes to people even if it is rejected: drawn by the seed and the texts alone."""
    draw_key = json.dumps([seed, case.caption.id, case.foil], ensure_ascii=False).encode()
    drawn = int.from_bytes(hashlib.sha256(draw_key).digest()[: BITS // 8], "big")
    return drawn < params["share"] * 2.0**BITS
