"""Compare votes per second with and without sealing of the audit trail, in turns on one database.

    .venv/bin/python -m benchmarks.sealed_votes
    .venv/bin/python -m benchmarks.sealed_votes --sqlite

Votes go through the real actions, one after the other. A sealed turn ends with the sealing of its rows, so all of its
cost counts. Seconds are of the processor, because other work of the machine would hide the difference. It prints the
ratio of the medians of unsealed and sealed turns with a 95 % bootstrap interval, rows per vote, and the share of
sealing in the elapsed time of sealed turns.
"""

import argparse
import json
import time

import numpy as np

from tests.served_home import own_home

TURN_VOTES, WARM_TURNS, DRAWS = 150, 1, 10_000
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--sqlite", action="store_true")
    options = parser.parse_args()
    with own_home(sqlite=options.sqlite):
        from tests.foilworks import voting

        voting.ITEMS = (options.turns + WARM_TURNS) * TURN_VOTES // 3 + TURN_VOTES
        figures = measure(voting.make_work(), options.turns)
    print(json.dumps({**vars(options), **figures}, indent=1))


def measure(world, turns: int) -> dict[str, object]:
    """Vote in unsealed and sealed turns, in random order of each two."""
    from foilworks.core.projects.audit_trail.sealing import seal_due

    rng, seconds, rows, shares = np.random.default_rng(SEED), {False: [], True: []}, [], []
    order = [bool(place) for _ in range(turns // 2) for place in rng.permutation(2)]
    for number, is_sealed in enumerate([False] * WARM_TURNS + order):
        seal_due()
        start, began = time.process_time(), time.perf_counter()
        vote(world, number)
        ended = time.perf_counter()
        n_rows = seal_due() if is_sealed else 0
        if number >= WARM_TURNS:
            seconds[is_sealed].append(time.process_time() - start)
        if is_sealed:
            rows.append(n_rows / TURN_VOTES)
            shares.append((time.perf_counter() - ended) / (time.perf_counter() - began))
    draws = [np.median(rng.choice(shares, len(shares))) for _ in range(DRAWS)]
    facts = {"rows_per_vote": float(np.mean(rows)), "share_of_sealing": float(np.median(shares))}
    interval = np.quantile(draws, [0.025, 0.975]).round(4).tolist()
    return {**facts, "interval_of_share": interval, **ratio_of(seconds)}


def vote(world, turn: int) -> None:
    from annotation.actions.claims.claim import claim
    from annotation.actions.submissions.judgements import submit_vote
    from annotation.models import Stage

    people = (world.vera, world.vic, world.val)
    for number in range(TURN_VOTES):
        work = claim(people[number % 3], world.project, Stage.VALIDATION)
        assert work is not None, "no task is left"
        submit_vote(people[number % 3], work.token, f"key-{turn}-{number}", 1 + number % 5)


def ratio_of(seconds: dict[bool, list[float]]) -> dict[str, object]:
    plain, sealed = (np.array(seconds[is_sealed]) for is_sealed in (False, True))
    rng = np.random.default_rng(SEED)
    draws = [
        np.median(rng.choice(plain, plain.size)) / np.median(rng.choice(sealed, sealed.size)) for _ in range(DRAWS)
    ]
    rates = {name: TURN_VOTES / float(np.median(row)) for name, row in (("plain", plain), ("sealed", sealed))}
    interval = np.quantile(draws, [0.025, 0.975]).round(3).tolist()
    return {"votes_per_second": rates, "ratio": float(np.median(plain) / np.median(sealed)), "interval": interval}


if __name__ == "__main__":
    main()
