"""How often 95 % intervals hold the truth: drawing source videos, drawing single items, and the cluster t interval.

200 videos of five items; the items of a video share its hardness, as they do in a benchmark. Over many such worlds the
interval that draws videos should hold the true accuracy in 93 to 97 of 100; the naive one, which takes items for
independent, does not.

    .venv/bin/python benchmarks/coverage.py [--worlds 600] [--resamples 1000]
"""

import argparse
import json

import numpy as np

from evaluation.metrics.intervals import mean_intervals, t_interval

VIDEOS, ITEMS_A_VIDEO = 200, 5
# A video's chance of a right answer is Beta(1.4, .6): mean .7, intraclass correlation 1 / (1 + 2) = .33.
SHAPE = (1.4, 0.6)
TRUTH = SHAPE[0] / sum(SHAPE)


def measure(worlds: int, resamples: int, seed: int = 0) -> dict[str, float]:
    """Shares of worlds whose interval holds the truth."""
    generator = np.random.default_rng(seed)
    clusters = [f"v{video}" for video in range(VIDEOS) for _ in range(ITEMS_A_VIDEO)]
    held = {"cluster_bootstrap": 0, "cluster_t": 0, "naive_bootstrap": 0, "naive_t": 0}
    for world in range(worlds):
        chance = np.repeat(generator.beta(*SHAPE, VIDEOS), ITEMS_A_VIDEO)
        right = (generator.random(len(chance)) < chance).astype(np.float64)
        (by_video,) = mean_intervals(right[:, None], clusters, draws=resamples, seed=world)
        (by_item,) = mean_intervals(right[:, None], None, draws=resamples, seed=world)
        found = {
            "cluster_bootstrap": by_video,
            "cluster_t": t_interval(right, clusters),
            "naive_bootstrap": by_item,
            "naive_t": t_interval(right, None),
        }
        for name, interval in found.items():
            assert interval is not None
            held[name] += interval[0] <= TRUTH <= interval[1]
    return {name: count / worlds for name, count in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=600)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    found = measure(options.worlds, options.resamples)
    print(json.dumps({"videos": VIDEOS, "items_a_video": ITEMS_A_VIDEO, **vars(options), "coverage": found}))


if __name__ == "__main__":
    main()
