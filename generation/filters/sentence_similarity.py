"""Drops a foil that a sentence encoder takes for nearly the same (contrast sets 3.2: SBERT cosine under .8)."""

from collections.abc import Sequence
from typing import Any

from generation.filters._likeness import sentence_cosines
from generation.records import CaptionInput, Case, Verdict

VERSION = "1"
COSTLY = True


def judge(caption: CaptionInput, foil: str, *, others: Sequence[str], params: dict[str, Any]) -> Verdict:
    return judge_many([Case(caption, foil, tuple(others))], params=params)[0]


def judge_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Verdict]:
    """Score: the cosine of caption and foil; passes below params["max"]."""
    return [
        Verdict(value < params["max"], value, "" if value < params["max"] else f"cosine {value:.2f}")
        for value in sentence_cosines(cases, params)
    ]
