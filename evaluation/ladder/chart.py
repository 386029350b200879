"""Draw ladders: a bar per rung with its interval, and the level of chance."""

from collections.abc import Mapping
from typing import Any

from evaluation.charts import of_models
from evaluation.metrics.ladder import RUNGS

# Charts stay in English, for papers.
NAMES = {
    "no_clip": "no clip",
    "other_clip": "another clip",
    "first_frame": "first frame",
    "middle_frame": "middle frame",
    "best_frame": "best frame",
    "shuffled": "shuffled frames",
    "reversed": "reversed frames",
    "full": "full clip",
}
SOLVED = "share of items that some model solves, with 95 % interval"


def of_run(ladder: Mapping[str, Any]) -> bytes:
    """Draw T at every rung that has a score."""
    rungs = ladder["rungs"]
    rows = [(NAMES[rung], {"": (rungs[rung]["T"], rungs[rung]["ci"])}) for rung in RUNGS if rung in rungs]
    return of_models.grouped(rows, chance=ladder["chance"], label=of_models.WITH_INTERVAL.format("T"))


def of_benchmark(overall: Mapping[str, Any]) -> bytes:
    """Draw the share of items that some model solves, at each rung of the chain."""
    rungs = overall["rungs"]
    rows = [(NAMES[rung], {"": (rungs[rung]["share"], rungs[rung]["ci"])}) for rung in RUNGS if rung in rungs]
    return of_models.grouped(rows, chance=overall["luck"], chance_name="luck", label=SOLVED)
