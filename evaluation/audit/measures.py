"""Give an audit's numbers the names that papers use, each with its formula and source, where its inputs are given."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.metrics.ladder import BEST_FRAME, FIRST_FRAME, FULL, MIDDLE_FRAME, NO_CLIP, SHUFFLED

# The definitions in words of its abstract. Its instance-level Shortcut Score needs more than an audit of texts has.
BLIND_GAP = "From Accuracy to Visual Dependence, abstract (arXiv 2606.30220)"
TOMATO = "TOMATO (Shangguan et al. 2024), arXiv 2410.23266"


@dataclass(frozen=True)
class Measure:
    """A number under the name that `source` gives it. `interval`: 95 %, None if there is none."""

    value: float
    interval: list[float] | None
    formula: str
    source: str


def measures_of(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return name -> measure, as JSON, of those whose inputs the document of an audit has."""
    rows = dict[str, Measure]()
    if scores := [item["s"] for item in document["item_scores"]]:
        formula = "mean of s(x), the probability of the right option by a solver that learned from the other folds"
        rows["bias_score"] = Measure(sum(scores) / len(scores), None, formula, "TsT, Sec. 3 (arXiv 2511.04655)")
    for finding in document["findings"]:
        if finding["check"] == "learns":
            delta = finding["details"]["delta_tst"]
            formula = "accuracy after tuning on the other folds - zero-shot accuracy, one model without the video"
            rows["delta_tst"] = Measure(delta["value"], delta["interval"], formula, "TsT, Table 1 (arXiv 2511.04655)")
    ladder = document.get("ladder", {})
    if FULL in ladder.get("rungs", {}):
        rows |= _of_ladder(ladder)
    return {name: asdict(row) for name, row in rows.items()}


def _of_ladder(ladder: Mapping[str, Any]) -> dict[str, Measure]:
    rows, rungs = dict[str, Measure](), ladder["rungs"]
    if NO_CLIP in rungs:
        above = next(part for part in ladder["parts"] if part["high"] == NO_CLIP)
        rows["blind_gap"] = Measure(above["value"], above["ci"], "T(no clip) - chance, one model", BLIND_GAP)
        drop = rungs[NO_CLIP]["drop"], rungs[NO_CLIP]["drop_ci"]
        formula = "T(full) - T(no clip), one model; multi-modal gain in MMStar (Chen et al. 2024)"
        rows["visual_gain"] = Measure(*drop, formula, BLIND_GAP)
    full = rungs[FULL]["T"]
    frame = next((rung for rung in (BEST_FRAME, MIDDLE_FRAME, FIRST_FRAME) if rung in rungs), None)
    for name, rung, letter in (("multi_frame_gain", frame, "kappa"), ("order_sensitivity", SHUFFLED, "tau")):
        if rung is not None and rung in rungs and rungs[rung]["T"]:
            formula = f"{letter} = T(full) / T({rung}) - 1"
            rows[name] = Measure(full / rungs[rung]["T"] - 1, None, formula, TOMATO)
    return rows
