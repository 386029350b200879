"""Score how much more likely the caption is than the foil to a language model, for adversarial refinement.

The paper uses a plausibility model (SugarCrepe, Alg. 1); here any text-only model works. By default every foil
passes: the score is an input of generation/balance/adversarial.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import TEXT_SCORER
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from generation.filters._cuts import texts_of, with_cuts
from generation.filters._gap import gap, measured
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"model": fingerprint(params["model"], TEXT_SCORER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"caption", "foil"}, the mean log-likelihoods per token in nats. Every text is scored once."""
    model = open_helper(params["model"], TEXT_SCORER, device=params["device"])
    log_likelihoods = measured(cases, lambda texts: [score.value for score in model.score(None, texts)])
    return with_cuts(log_likelihoods, model, texts_of(cases))


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by caption minus foil; it passes up to params["max"]."""
    return gap(measure, params=params)
