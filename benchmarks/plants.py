"""Measure planted shortcuts with the blind solver: how near is its value to the planted strength?

    .venv/bin/python -m benchmarks.plants --items 1000 --seeds 0 1 2

Printed per plant: planted share of right answers, measured mean over the seeds and its interval in the first, their
difference, whether all seeds got the verdict "fail", the strongest family, and processor seconds. A plant of the file
tier is compared with the file's value, the others with the headline. Where the value is over 6 points below the truth,
a second row has five times the items: what more items would find.
"""

import argparse
import random
import time

from benchmarks.made_up_sets import Plant
from benchmarks.planted_shortcuts import PLANTS
from foilworks.core.solver.questions import separate_answers
from foilworks.core.solver.solve import first_view

LARGE_GAP = 0.06
FORM = "{:34} {:>6} {:>9} {:>15} {:>6} {:>5}  {:48} {:>5}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--plants", nargs="+", choices=PLANTS, default=list(PLANTS), metavar="PLANT")
    options = parser.parse_args()
    print(FORM.format("plant", "truth", "measured", "interval", "gap", "fail", "strongest family", "s"))
    for name in options.plants:
        row, gap = _row(name, PLANTS[name], options.items, options.seeds)
        print(row, flush=True)
        if gap < -LARGE_GAP:
            n_more = 5 * options.items
            print(_row(f"  with {n_more:,} items", PLANTS[name], n_more, options.seeds[:1])[0], flush=True)


def _row(name: str, plant: Plant, n: int, seeds: list[int]) -> tuple[str, float]:
    start = time.process_time()
    solutions = [
        first_view(*separate_answers(plant.make(random.Random(f"{name} {seed}"), n)), seed=seed) for seed in seeds
    ]
    results = [solution.tiers[plant.tier] for solution in solutions]
    value = sum(result.value for result in results) / len(results)
    low, high = results[0].interval
    n_failed = sum(result.verdict == "fail" for result in results)
    row = FORM.format(
        name,
        f"{100 * plant.truth:.1f}",
        f"{100 * value:.1f}",
        f"[{100 * low:.1f}, {100 * high:.1f}]",
        f"{100 * (value - plant.truth):+.1f}",
        f"{n_failed}/{len(results)}",
        solutions[0].families[0].family if plant.tier != "file" else "(file)",
        f"{(time.process_time() - start) / len(seeds):.1f}",
    )
    return row, value - plant.truth


if __name__ == "__main__":
    main()
