"""Compare the blind solver's interval with its own accuracy on fresh items of the same kind.

    .venv/bin/python -m benchmarks.fresh_items --items 1000 --fresh 20000 --seeds 0 1 2

The models that answer the fresh items learn from all items of the set; those of the interval learn from four fifths.
Printed per plant: value, interval, accuracy on fresh items, and at the end how many intervals include it and how wide
they are, as a multiple of binomial ones.
"""

import argparse
import math
import random

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.made_up_sets import FAIR, Maker
from benchmarks.null_sets import headline_of
from benchmarks.planted_shortcuts import PLANTS
from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import folds_of, strata_of, structure_of
from foilworks.core.solver.learner import N_FOLDS, Stack, answer_held_out
from foilworks.core.solver.questions import separate_answers
from foilworks.core.solver.solution import HEADLINE

# A part of these is another kind of set: their items balance, mirror or repeat each other.
WHOLE = {"templates, balanced answers", "one template always yes", "mirrored pairs hide a word"}
MAKERS: dict[str, Maker] = {
    name: make
    for name, make in (FAIR | {name: row.make for name, row in PLANTS.items() if row.tier == HEADLINE}).items()
    if name not in WHOLE
}


def fresh_value(make: Maker, n: int, n_fresh: int, seed: int) -> tuple[float, float, float, float]:
    """Return value, both ends of its interval, and the accuracy on fresh items."""
    # One draw, so that both parts follow the same rule.
    items, answers = separate_answers(make(random.Random(seed), n + n_fresh))
    headline = headline_of(items[:n], answers[:n], seed)
    structure = structure_of(items[:n], answers[:n])
    folds = np.full(len(items), N_FOLDS)
    folds[:n] = folds_of(structure.groups, strata_of(items[:n], answers[:n]), N_FOLDS, seed)
    with threadpool_limits(1):
        stack = Stack(Design.of(items), answers, folds, has_file=False)
        answered = answer_held_out(stack, (HEADLINE,), seed, outer_folds=[N_FOLDS])
    credits = stack.design.layout.credits(answered.scores[HEADLINE], answers)
    return headline.value, *headline.interval, float(credits[n:].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--fresh", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--sets", nargs="+", choices=MAKERS, default=list(MAKERS), metavar="SET")
    options = parser.parse_args()
    n_covered, widths = 0, []
    for name in options.sets:
        for seed in options.seeds:
            value, low, high, fresh = fresh_value(MAKERS[name], options.items, options.fresh, seed)
            n_covered += low <= fresh <= high
            binomial = 3.92 * math.sqrt(max(value * (1 - value), 1 / options.items) / options.items)
            widths.append((high - low) / binomial)
            note = "" if low <= fresh <= high else "  outside"
            print(f"{name:34} {value:.3f} [{low:.3f}, {high:.3f}] fresh {fresh:.3f}{note}", flush=True)
    print(f"inside {n_covered} of {len(widths)}; mean width {np.mean(widths):.2f} times binomial")


if __name__ == "__main__":
    main()
