"""10,000 draws over 10,000 items in 2,000 videos: seconds and peak memory, beside the plain loop on a few draws.

.venv/bin/python benchmarks/intervals.py
"""

import json
import resource
import time

import numpy as np

from evaluation.metrics.intervals import mean_intervals

ITEMS, VIDEOS, DRAWS, PLAIN_DRAWS = 10_000, 2_000, 10_000, 100


def plain(values: np.ndarray, clusters: np.ndarray, draws: int) -> None:
    """What the definition says, one draw after the other."""
    generator = np.random.default_rng(0)
    members = [np.flatnonzero(clusters == video) for video in range(VIDEOS)]
    for _ in range(draws):
        picked = np.concatenate([members[video] for video in generator.integers(0, VIDEOS, VIDEOS)])
        values[picked].mean()


def main() -> None:
    generator = np.random.default_rng(0)
    place = generator.integers(0, VIDEOS, ITEMS)
    names = [f"v{video}" for video in place]
    scores = {
        "right_or_wrong": (generator.random(ITEMS) < 0.7).astype(np.float64),
        "continuous": generator.random(ITEMS),
    }
    found: dict[str, object] = {"items": ITEMS, "videos": VIDEOS, "draws": DRAWS}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for kind, values in scores.items():
        began = time.perf_counter()
        mean_intervals(values[:, None], names, draws=DRAWS)
        found[f"seconds_{kind}"] = round(time.perf_counter() - began, 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    began = time.perf_counter()
    plain(scores["continuous"], place, PLAIN_DRAWS)
    slow = (time.perf_counter() - began) * DRAWS / PLAIN_DRAWS
    found |= {
        "peak_mib": round(peak),
        "of_which_before_mib": round(before),
        "ratio_over_plain_loop": round(slow / float(found["seconds_continuous"]), 1),  # type: ignore[arg-type]
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
