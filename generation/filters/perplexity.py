"""Drop a foil that is much less natural than its caption to a language model (contrast sets, Secs. 3.2 and A.3).

`corrected`: (foil - caption) / caption is under .6, or under 1.4 with the foil's perplexity under 750. `paper` compares
(caption - foil) / caption with the same limits, as printed, which keeps the worse sentences.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import TEXT_SCORER
from foilworks.core.hub.opening import open_helper
from foilworks.core.hub.revisions import fingerprint
from generation.filters._cuts import texts_of, with_cuts
from generation.filters._gap import measured
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"model": fingerprint(params["model"], TEXT_SCORER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"caption": its perplexity, "foil": its perplexity}. Every text is scored once."""
    model = open_helper(params["model"], TEXT_SCORER, device=params["device"])
    perplexities = measured(cases, lambda texts: [_perplexity(score.value) for score in model.score(None, texts)])
    return with_cuts(perplexities, model, texts_of(cases))


def _perplexity(mean_log_likelihood: float) -> float:
    return math.exp(min(-mean_log_likelihood, 700.0))


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by the relative change, with the chosen formula."""
    caption, foil = measure["caption"] or 0.0, measure["foil"] or 0.0
    change = (caption - foil if params["formula"] == "paper" else foil - caption) / caption
    passed = change < params["max_change"] or (change < params["wide_change"] and foil < params["max_perplexity"])
    return Verdict(passed, change, f"perplexity {caption:.0f} for the caption, {foil:.0f} for the foil")
