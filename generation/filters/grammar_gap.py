"""Score how much more acceptable the caption is than the foil to a CoLA classifier, for adversarial refinement.

The paper uses a grammar model trained on CoLA (SugarCrepe, Alg. 1). By default every foil passes: the score is
an input of generation/balance/adversarial.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import CLASSIFIER
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from generation.filters._cuts import texts_of, with_cuts
from generation.filters._gap import gap, measured
from generation.filters.grammaticality import acceptable_label
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"model": fingerprint(params["model"], CLASSIFIER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"caption", "foil"}, the probabilities of "acceptable". Every text is scored once."""
    model = open_helper(params["model"], CLASSIFIER, device=params["device"])
    label_index = acceptable_label(model, "model")
    probabilities = measured(
        cases, lambda texts: [float(row[label_index]) for row in model.probs([(text, None) for text in texts])]
    )
    return with_cuts(probabilities, model, [[(text, None) for text in texts] for texts in texts_of(cases)])


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by caption minus foil, in -1..1; it passes up to params["max"]."""
    return gap(measure, params=params)
