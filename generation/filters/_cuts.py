"""Mark the measures of texts that exceed the max length of a filter's model."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from foilworks.core.hub.interfaces import LimitsTexts, TextRead
from generation.records import CUT, Case, Measure


def with_cuts(measures: Sequence[Measure], model: Any, asked: Sequence[Sequence[Hashable]]) -> list[Measure]:
    """Add `CUT`, the number of tokens beyond the model's limit, to each measure with a truncated text.

    `asked`: the input of the model for each measure: texts or pairs of texts.
    """
    if not isinstance(model, LimitsTexts):
        return list(measures)
    given: list[Any] = [text for texts in asked for text in texts]
    reads: Mapping[Any, TextRead] = model.at_limit(given) or {}
    found: list[Measure] = []
    for measure, texts in zip(measures, asked, strict=True):
        beyond = max((reads[text].tokens - reads[text].limit for text in texts if text in reads), default=0)
        found.append({**measure, CUT: float(beyond)} if beyond else measure)
    return found


def texts_of(cases: Sequence[Case]) -> list[tuple[str, str]]:
    """Return the caption and the foil of each case, for a model of single texts."""
    return [(case.caption.text, case.foil) for case in cases]
