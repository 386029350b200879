"""Shared by filters that compare a number of the caption with that of its foil. Each text is measured once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from generation.records import Case, Measure, Verdict


def measured(cases: Sequence[Case], values_of: Callable[[Sequence[str]], Sequence[float]]) -> list[Measure]:
    """Return {"caption", "foil"} per case; `values_of` gets every text once."""
    texts = list(dict.fromkeys(text for case in cases for text in (case.caption.text, case.foil)))
    values = dict(zip(texts, values_of(texts), strict=True))
    return [{"caption": values[case.caption.text], "foil": values[case.foil]} for case in cases]


def gap(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by caption minus foil; it passes up to params["max"]."""
    caption, foil = measure["caption"] or 0.0, measure["foil"] or 0.0
    return Verdict(
        caption - foil <= params["max"], caption - foil, f"{caption:.2f} for the caption, {foil:.2f} for the foil"
    )
