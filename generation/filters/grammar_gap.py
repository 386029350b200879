"""How much more acceptable a CoLA classifier finds the caption than the foil: the other gap of adversarial refinement.

The paper takes a grammar model trained on CoLA (SugarCrepe, Alg. 1). By default it drops nothing: the score is
what generation/balance/adversarial.py chooses by.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.errors import GenerationError
from generation.filters._cuts import texts_of, with_cuts
from generation.filters._gap import gap, measured
from generation.records import Case, Measure, Verdict
from hub.adapters.registry import CLASSIFIER, open_helper
from hub.interfaces import PairClassifier
from hub.revisions import fingerprint

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """What the measures depend on."""
    return {"model": fingerprint(params["model"], CLASSIFIER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """{"caption", "foil"}: probability of "acceptable". Every text is judged once."""
    model = open_helper(params["model"], CLASSIFIER, device=params["device"])
    at = _acceptable(model)
    found = measured(cases, lambda texts: [float(row[at]) for row in model.probs([(text, None) for text in texts])])
    return with_cuts(found, model, [[(text, None) for text in texts] for texts in texts_of(cases)])


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score: caption minus foil, in -1..1; passes up to params["max"]."""
    return gap(measure, params=params)


def _acceptable(model: PairClassifier) -> int:
    """The label's place by its name; of two nameless labels the second, as CoLA has them."""
    named = [at for at, label in enumerate(model.labels) if label.startswith("accept")]
    if len(named) == 1:
        return named[0]
    if len(model.labels) != 2:
        raise GenerationError(f"{model.info.model_id} is no classifier of acceptability; give one trained on CoLA")
    return 1
