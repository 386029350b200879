"""Measure which extracted objects people see in the frames (UTD, Secs. 4.2 and C.3).

Of all objects that people checked: the share they saw. Of the others: how many are attribute errors,
misclassifications, hallucinations, annotation mistakes or other, as classified by a researcher. Also the hallucination
rate over all objects shown. Objects of one frame are not independent draws, so intervals are over frames.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotation.rules.objects import CheckedObject
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import DRAWS, SEED, mean, mean_intervals

VERSION = "2"
INPUT = "objects"
# In the order of the paper.
CLASSES = ("attribute", "misclassification", "hallucination", "mistake", "other")


def compute(objects: Sequence[CheckedObject], *, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute counts, shares in 0..1 and 95 % intervals (cluster bootstrap over frames), overall and per check.

    `share_of_unseen`: of the objects that people did not see; `share`: of all objects shown. EvaluationError if no
    frame has been checked.
    """
    if not objects:
        raise EvaluationError("no frame has been checked yet; start an object check on the Studies page")
    checks = sorted({row.check for row in objects})
    return {
        "overall": _row("overall", objects, draws, seed),
        "checks": [_row(str(pk), [row for row in objects if row.check == pk], draws, seed) for pk in checks],
        "classes": _classes(objects, draws, seed),
    }


def _row(name: str, objects: Sequence[CheckedObject], draws: int, seed: int) -> dict[str, Any]:
    is_visible = np.array([float(row.seen) for row in objects])
    invented = np.array([float(row.error_class == "hallucination") for row in objects])
    frames = [str(row.frame) for row in objects]
    seen_ci, invented_ci = mean_intervals(np.column_stack([is_visible, invented]), frames, draws=draws, seed=seed)
    return {
        "name": name,
        "n_frames": len(set(frames)),
        "n_objects": len(objects),
        "n_visible": int(is_visible.sum()),
        "visible": mean(is_visible),
        "visible_ci": seen_ci,
        "n_unseen": len(objects) - int(is_visible.sum()),
        "n_unclassed": sum(not row.seen and not row.error_class for row in objects),
        "hallucination_rate": mean(invented),
        "hallucination_rate_ci": invented_ci,
    }


def _classes(objects: Sequence[CheckedObject], draws: int, seed: int) -> list[dict[str, Any]]:
    unseen = [row for row in objects if not row.seen]
    frames, unseen_frames = [str(row.frame) for row in objects], [str(row.frame) for row in unseen]
    rows = []
    for name in CLASSES:
        of_all = np.array([float(row.error_class == name) for row in objects])
        of_unseen = np.array([float(row.error_class == name) for row in unseen])
        rows.append(
            {
                "class": name,
                "n": int(of_all.sum()),
                "share_of_unseen": mean(of_unseen) if unseen else None,
                "share_of_unseen_ci": mean_intervals(of_unseen[:, None], unseen_frames, draws=draws, seed=seed)[0]
                if unseen
                else None,
                "share": mean(of_all),
                "share_ci": mean_intervals(of_all[:, None], frames, draws=draws, seed=seed)[0],
            }
        )
    return rows
