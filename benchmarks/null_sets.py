"""Count how often the blind solver fails a fair set: made-up sets whose answers are drawn at random.

    .venv/bin/python -m benchmarks.null_sets --sets 1000 --items 200

First views compute the headline alone; the first set of each kind also has a whole one, and both must agree.
Printed per kind of set: mean and spread of the value, beside the spread of independent items; how often the interval
includes chance; the share of each verdict; the 95 % interval (Wilson's) of the share of "fail". A fair set may get this
verdict in 6.4 % of draws at most.
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.made_up_sets import FAIR, Maker
from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import largest_group_share, structure_of
from foilworks.core.solver.inference import block_interval, verdict_of
from foilworks.core.solver.passes import DECIMALS, answer_tiers, spread_folds
from foilworks.core.solver.questions import Answers, Question, separate_answers
from foilworks.core.solver.solution import HEADLINE, TierResult
from foilworks.core.solver.solve import certify, first_view


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", type=int, default=100, help="sets per kind")
    parser.add_argument("--items", type=int, default=200, help="items per set")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first set")
    parser.add_argument("--kinds", nargs="+", choices=FAIR, default=list(FAIR), metavar="KIND")
    parser.add_argument("--permutations", type=int, default=0, help="certify with so many; 0: first view")
    options = parser.parse_args()
    for name in options.kinds:
        start = time.process_time()
        print(name, _measure(FAIR[name], options), f"{time.process_time() - start:.0f} processor s", flush=True)


def _measure(make: Maker, options: argparse.Namespace) -> str:
    values, verdicts, has_chance, errors = [], Counter[str](), 0, []
    chance = 0.0
    for seed in range(options.seed, options.seed + options.sets):
        items, answers = separate_answers(make(random.Random(seed), options.items))
        if options.permutations:
            headline = certify(items, answers, seed, permutations=options.permutations).headline
        else:
            headline = headline_of(items, answers, seed)
            if seed == options.seed and headline != first_view(items, answers, seed).headline:
                raise RuntimeError("a headline alone differs from that of a whole first view")
        values.append(headline.value)
        verdicts[headline.verdict] += 1
        chance = headline.chance
        has_chance += headline.interval[0] <= chance <= headline.interval[1]
        errors.append((headline.interval[1] - headline.interval[0]) / 3.92)
    binomial = np.sqrt(chance * (1 - chance) / options.items)
    shares = ", ".join(f"{verdict} {count / options.sets:.3f}" for verdict, count in sorted(verdicts.items()))
    _, (low, high) = block_interval(np.arange(options.sets) < verdicts["fail"], np.arange(options.sets), inflation=1)
    return (
        f"mean {np.mean(values):.4f}, spread {np.std(values, ddof=1):.4f} (independent {binomial:.4f}, interval "
        f"{np.mean(errors):.4f}), chance in interval {has_chance / options.sets:.3f}; {shares}; fail in "
        f"[{low:.4f}, {high:.4f}];"
    )


def headline_of(questions: Sequence[Question], answers: Answers, seed: int) -> TierResult:
    """Return the headline of a first view, without its other tiers and explanations: a half of the time."""
    structure, design = structure_of(questions, answers), Design.of(questions)
    folds = spread_folds(design, answers, structure.groups, seed)
    answered = answer_tiers(design, answers, folds, (HEADLINE,), seed)
    credits = design.layout.credits(answered.scores[HEADLINE], answers).round(DECIMALS)
    value, interval = block_interval(credits, structure.blocks)
    chance, n, n_blocks = float((1 / design.layout.sizes).mean()), len(questions), len(np.unique(structure.blocks))
    verdict, why, n_needed = verdict_of(value, interval, chance, n, largest_group_share(structure), False)
    return TierResult(HEADLINE, value, interval, chance, n, n_blocks, verdict, n_needed, why=why)


if __name__ == "__main__":
    main()
