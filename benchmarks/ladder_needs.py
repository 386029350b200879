"""Count how often the evidence ladder holds the needs of made-up projects, half of them from a foreign simulator.

    .venv/bin/python -m benchmarks.ladder_needs --projects 1000

Printed per simulator: how often the interval of a share includes the planted share, and its width; how often a part is
declared although nothing is needed (6.4 % at most); the share of wrong ones among the items supported for the order.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.ladder_worlds import NO_NEED, World, make_world
from evaluation.metrics import need_evidence, needs
from evaluation.metrics.ladder import CHAIN

RUNGS = dict(zip(CHAIN.values(), CHAIN, strict=True))


def data_of(world: World) -> needs.NeedData:
    """Return a made-up project as the ladder reads projects."""
    solvers = [
        needs.Solver(name, {RUNGS[level]: looks for level, looks in by_level.items()}, name not in world.text_only)
        for name, by_level in world.credit.items()
    ]
    control = {0: {RUNGS[level]: looks for level, looks in world.control.items()}} if world.control else {}
    return needs.NeedData(solvers, world.chance, world.clusters, control, world.control_chance)


def make_plain(seed: int, *, needs_nothing: bool = False, looks: int | None = None) -> World:
    """Return a project whose models know an answer or guess it, each look on its own."""
    random = np.random.default_rng([78, seed])
    n = int(random.integers(80, 401))
    chance = np.full(n, 1.0 / random.choice([2, 2, 4, 5]))
    need = random.choice(5, size=n, p=random.dirichlet(np.full(5, 0.7)))
    if needs_nothing:
        need[:] = NO_NEED
    n_looks = looks or int(random.choice([1, 3, 6]))
    clusters = [f"v{at // random.choice([1, 2])}" for at in range(n)]
    credit = {}
    for number in range(int(random.integers(1, 4))):
        slip = random.uniform(0.0, 0.1)
        able = number == 0 or random.random() < 0.6
        credit[f"model {number}"] = {
            level: (
                random.random((n, n_looks))
                < np.where((need <= at) & able, 1.0 - slip * (1.0 - chance), chance)[:, None]
            ).astype(float)
            for at, level in enumerate(CHAIN.values())
        }
    return World(credit, frozenset(), chance, clusters, [f"s{at % 2}" for at in range(n)], need)


SIMULATORS: dict[str, Callable[..., World]] = {"own": make_plain, "foreign": make_world}


def measure(make: Callable[..., World], seed: int, looks: int | None = None) -> dict[str, Any]:
    """Return coverage and width of the shares of one project, and the items supported for the order."""
    world = make(seed, looks=looks)
    data = data_of(world)
    found = needs.shares(data)
    rows = []
    for part in found["parts"]:
        levels = [list(CHAIN.values()).index(level) for level in part["parts"]]
        true = float(np.isin(world.need, levels).mean())
        low, high = part["ci"]
        rows.append({"part": part["parts"][-1], "true": true, "low": low, "high": high, "covers": low <= true <= high})
    evidence = need_evidence.evidence(data, world.subtests)
    supported = evidence.supported("order")
    return {
        "rows": rows,
        "solved": found["solved"],
        "enough": evidence.is_enough("order"),
        "n_supported": int(supported.sum()),
        "n_false": int((world.need[supported] != 3).sum()),
        "n_order": int((world.need == 3).sum()),
        "traits": world.traits,
        "at_most": found["at_most"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--projects", type=int, default=1000, help="projects, half of each simulator")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first project")
    options = parser.parse_args()
    for name, make in SIMULATORS.items():
        start = time.process_time()
        seeds = range(options.seed, options.seed + options.projects // 2)
        report(name, [measure(make, seed) for seed in seeds])
        empty = [needs.shares(data_of(make(seed, needs_nothing=True))) for seed in seeds]
        declared = [any(part["shown"] for part in found["parts"]) for found in empty]
        print(f"{name}: nothing needed, a part is declared in {np.mean(declared):.3f} of {len(declared)}")
        print(f"{name}: {time.process_time() - start:.0f} processor s", flush=True)


def report(name: str, results: list[dict[str, Any]]) -> None:
    rows = [row for result in results for row in result["rows"]]
    width = [row["high"] - row["low"] for row in rows]
    unsolved = [1.0 - result["solved"] for result in results for _ in result["rows"]]
    inside = np.mean([row["covers"] for row in rows])
    print(
        f"{name}: {len(rows)} shares of {len(results)} projects; inside {inside:.3f}; "
        f"width median {np.median(width):.3f}, mean {np.mean(width):.3f}, of it unsolved items {np.mean(unsolved):.3f}"
    )
    for part in CHAIN.values():
        inside = [row["covers"] for row in rows if row["part"] == part]
        print(f"    {part}: inside {np.mean(inside) if inside else np.nan:.3f} of {len(inside)}")
    for trait in sorted({trait for result in results for trait in result["traits"]}):
        inside = [row["covers"] for result in results if trait in result["traits"] for row in result["rows"]]
        print(f"    with {trait}: inside {np.mean(inside):.3f} of {len(inside)}")
    enough = [result for result in results if result["enough"]]
    some = [result for result in enough if result["n_supported"]]
    false = [result["n_false"] / result["n_supported"] for result in some]
    kept = sum(result["n_supported"] - result["n_false"] for result in enough)
    print(
        f"{name}: enough looks in {len(enough)}; false among supported for order "
        f"{np.sum(false) / max(1, len(enough)):.3f} (mean over projects), "
        f"{np.mean(false) if false else np.nan:.3f} (of {len(some)} with any); "
        f"found {kept} of {sum(result['n_order'] for result in enough)} items"
    )


if __name__ == "__main__":
    main()
