"""How much likelier a language model finds the caption than the foil: one of the two gaps of adversarial refinement.

The paper takes a plausibility model (SugarCrepe, Alg. 1); here any model of text alone serves. By default it drops
nothing: the score is what generation/balance/adversarial.py chooses by.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from generation.filters._cuts import texts_of, with_cuts
from generation.filters._gap import gap, measured
from generation.records import Case, Measure, Verdict
from hub.adapters.registry import TEXT_SCORER, open_helper
from hub.revisions import fingerprint

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """What the measures depend on."""
    return {"model": fingerprint(params["model"], TEXT_SCORER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """{"caption", "foil"}: mean log-likelihood of a token, in nats. Every text is scored once."""
    model = open_helper(params["model"], TEXT_SCORER, device=params["device"])
    found = measured(cases, lambda texts: [score.value for score in model.score(None, texts)])
    return with_cuts(found, model, texts_of(cases))


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score: caption minus foil; passes up to params["max"]."""
    return gap(measure, params=params)
