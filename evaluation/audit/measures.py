"""Give an audit's numbers the names that papers use, each with its formula and source, where its inputs are given."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from evaluation.metrics.ladder import BEST_FRAME, FIRST_FRAME, FULL, MIDDLE_FRAME, NO_CLIP, SHUFFLED

MMSTAR, TOMATO = "MMStar (Chen et al. 2024), arXiv 2403.20330", "TOMATO (Shangguan et al. 2024), arXiv 2410.23266"


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
        rows["shortcut_score"] = Measure(sum(scores) / len(scores), None, formula, "TsT, Sec. 3 (arXiv 2511.04655)")
    for finding in document["findings"]:
        if finding["check"] == "learns":
            delta = finding["details"]["delta_tst"]
            formula = "accuracy after tuning on the other folds - zero-shot accuracy, one model without the video"
            rows["delta_tst"] = Measure(delta["value"], delta["interval"], formula, "TsT, Table 1 (arXiv 2511.04655)")
    rungs = document.get("ladder", {}).get("rungs", {})
    if FULL in rungs:
        rows |= _of_rungs(rungs)
    return {name: asdict(row) for name, row in rows.items()}


def _of_rungs(rungs: Mapping[str, Mapping[str, Any]]) -> dict[str, Measure]:
    rows = dict[str, Measure]()
    if NO_CLIP in rungs:
        drop = rungs[NO_CLIP]["drop"], rungs[NO_CLIP]["drop_ci"]
        rows["blind_gap"] = Measure(*drop, "T(full) - T(no clip), one model", "TsT, Table 2 (arXiv 2511.04655)")
        formula = "T(full) - T(no clip), one model; MMStar says multi-modal gain. It equals blind_gap"
        rows["visual_gain"] = Measure(*drop, formula, MMSTAR)
    full = rungs[FULL]["T"]
    frame = next((rung for rung in (BEST_FRAME, MIDDLE_FRAME, FIRST_FRAME) if rung in rungs), None)
    for name, rung, letter in (("multi_frame_gain", frame, "kappa"), ("order_sensitivity", SHUFFLED, "tau")):
        if rung is not None and rung in rungs and rungs[rung]["T"]:
            formula = f"{letter} = T(full) / T({rung}) - 1"
            rows[name] = Measure(full / rungs[rung]["T"] - 1, None, formula, TOMATO)
    return rows
