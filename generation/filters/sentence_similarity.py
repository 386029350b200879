"""Drop a foil whose meaning is close to the caption's, by a sentence encoder (contrast sets, Sec. A.3: cosine < .8)."""

from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.revisions import fingerprint
from generation.filters._likeness import sentence_cosines
from generation.records import Case, Measure, Verdict

VERSION = "1"
COSTLY = True


def scorer(params: dict[str, Any]) -> dict[str, Any]:
    """Return everything that the measures depend on."""
    return {"model": fingerprint(params["model"], ENCODER)}


def measure_many(cases: Sequence[Case], *, params: dict[str, Any]) -> list[Measure]:
    """Return {"cosine": of caption and foil} per case."""
    return sentence_cosines(cases, params, "cosine")


def verdict(measure: Measure, *, params: Mapping[str, Any]) -> Verdict:
    """Score a foil by the cosine of caption and foil; it passes below params["max"]."""
    value = measure["cosine"] or 0.0
    return Verdict(value < params["max"], value, "" if value < params["max"] else f"cosine {value:.2f}")
