"""Compute standard video-to-text retrieval of a run from its stored counts (`scoring.standard`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.metrics.intervals import SHARES, mean, mean_intervals
from evaluation.metrics.ties import RivalCounts, hit
from evaluation.scoring.models import Run
from evaluation.scoring.protocols import PROTOCOLS

# In the parameters of a run.
STANDARD = "standard"


def standard_of(run: Run) -> Mapping[str, Any] | None:
    """Return R@1 of standard retrieval with its interval over source videos; None if the run did not measure it."""
    stored = run.params.get(STANDARD) or {}
    if not stored.get("above"):
        return None
    above, tied = np.array(stored["above"]), np.array(stored["tied"])
    where = RivalCounts(above, tied, np.zeros_like(tied), np.full(len(above), stored["choices"]))
    credit = hit(where, PROTOCOLS[run.protocol].ties)
    (interval,) = mean_intervals(credit[:, None], stored["sources"], bounds=[SHARES])
    return {"R@1": mean(credit), "R@1_ci": interval, "n": len(above), "choices": stored["choices"]}
