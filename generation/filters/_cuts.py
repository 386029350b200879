"""Mark the measures of texts that exceed the max length of a filter's model."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from foilworks.core.hub.interfaces import LimitsTexts, TextRead
from generation.records import CUT, Case, Measure


def with_cuts(measures: Sequence[Measure], model: Any, input_texts: Sequence[Sequence[Hashable]]) -> list[Measure]:
    """Add `CUT`, the number of tokens beyond the model's limit, to each measure with a truncated text.

    `input_texts`: the input of the model for each measure: texts or pairs of texts.
    """
    if not isinstance(model, LimitsTexts):
        return list(measures)
    flat_inputs: list[Any] = [text for texts in input_texts for text in texts]
    reads: Mapping[Any, TextRead] = model.at_limit(flat_inputs) or {}
    extended_measures: list[Measure] = []
    for measure, texts in zip(measures, input_texts, strict=True):
        beyond = max((reads[text].tokens - reads[text].limit for text in texts if text in reads), default=0)
        extended_measures.append({**measure, CUT: float(beyond)} if beyond else measure)
    return extended_measures


def texts_of(cases: Sequence[Case]) -> list[tuple[str, str]]:
    """Return the caption and the foil of each case, for a model of single texts."""
    return [(case.caption.text, case.foil) for case in cases]
