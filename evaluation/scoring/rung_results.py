"""Compute the metrics of a run on each rung, for commands and files."""

from typing import Any

from evaluation.metrics import pairwise
from evaluation.metrics.intervals import DRAWS
from evaluation.scoring.models import Run
from evaluation.scoring.protocols import PROTOCOLS
from evaluation.scoring.queries import counted, pair_scores, release_scores
from evaluation.scoring.run_results import rungs_of

SHOWN = ("n", "T", "T_ci")


def ladder_results(run: Run, *, draws: int = DRAWS) -> dict[str, dict[str, Any]]:
    """Return {rung: {"n", "T", "T_ci"}} overall, from no clip to the whole clip."""
    results_by_rung: dict[str, dict[str, Any]] = {}
    for rung in rungs_of(run):
        rows, _left_out = counted(run, release_scores(run, rung=rung)[0])
        overall = (
            pairwise.compute(pair_scores(rows), ties=PROTOCOLS[run.protocol].ties, draws=draws)["overall"]
            if rows
            else {}
        )
        results_by_rung[rung.value] = {"n": 0, "T": None, "T_ci": None} | {
            name: overall[name] for name in SHOWN if name in overall
        }
    return results_by_rung
