"""What stopping saves: replay published votes in every order, and simulate crowds under several vote rules.

    python -m tests.annotation.stopping_replay --votes vilma/*.json
    python -m tests.annotation.stopping_replay --projects 200

`--votes`: published files of ViLMA, with three votes per item as numbers for caption, foil and other. Their order is
unknown, so all orders count alike; "other" is one option here. Without it, only crowds are simulated. A pair's verdict
is wrong if it differs from the truth; a disputed pair is counted apart, because a person decides it.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from annotation.rules.voting import (
    CAPTION,
    FOIL,
    NEITHER,
    VoteRule,
    pair_verdict,
    rule_of_pair,
    wants_more,
)
from foilworks.core.corpus.rules.states import FoilVerdict

OPTIONS = (CAPTION, FOIL, NEITHER)
DRAWS, SEED = 2_000, 1
FULL_SHARE = 0.1
RULES = {
    "3 votes": VoteRule(3, 2),
    "3 votes, stop": VoteRule(3, 2, stop_early=True, full_share=FULL_SHARE),
    "3 votes, stop, up to 5 if divided": VoteRule(3, 2, stop_early=True, full_share=FULL_SHARE, most=5),
    "5 votes": VoteRule(5, 3),
    "5 votes, stop": VoteRule(5, 3, stop_early=True, full_share=FULL_SHARE),
}


@cache
def _verdict(counts: tuple[int, ...], rule: VoteRule) -> FoilVerdict:
    return pair_verdict(dict(zip(OPTIONS, counts, strict=True)), rule)


def judge(votes: Iterator[int], rule: VoteRule, *, in_full: bool = False) -> tuple[FoilVerdict, int]:
    """Take votes (places in OPTIONS) until the rule has decided; return the verdict and the number of votes."""
    counts, slots = [0] * len(OPTIONS), rule.wanted
    while True:
        counts[next(votes)] += 1
        verdict = _verdict(tuple(counts), rule_of_pair(rule, slots, in_full=in_full))
        if verdict == FoilVerdict.DISPUTED and wants_more(dict(zip(OPTIONS, counts, strict=True)), rule, slots):
            slots, verdict = rule.most, FoilVerdict.PENDING
        if verdict != FoilVerdict.PENDING:
            return verdict, sum(counts)


def replay(tallies: Sequence[tuple[int, int, int]], rule: VoteRule, share: float = FULL_SHARE) -> dict[str, Any]:
    """Replay pairs with their votes in all orders: share of votes saved with a bootstrap interval, changed verdicts.

    `share` of the pairs are judged in full, so they save nothing.
    """
    saved, changed = [], 0
    for tally in tallies:
        votes = [option for option, n in enumerate(tally) for _ in range(n)]
        whole = judge(iter(votes), VoteRule(rule.wanted, rule.needed))[0]
        ends = [judge(iter(order), rule) for order in permutations(votes)]
        changed += any(verdict != whole for verdict, _ in ends)
        saved.append((1 - share) * (1 - float(np.mean([n for _, n in ends])) / rule.wanted))
    values, rng = np.array(saved), np.random.default_rng(SEED)
    means = rng.choice(values, size=(DRAWS, len(values))).mean(axis=1) if len(values) else values
    low, high = np.percentile(means, [2.5, 97.5])
    return {"pairs": len(values), "saved": float(values.mean()), "ci": [float(low), float(high)], "changed": changed}


@dataclass(frozen=True)
class Crowd:
    """People with a share of right votes from a beta distribution, and pairs that are easier or harder for all.

    A wrong vote is for one of the other two options. `valid`: share of pairs whose caption alone is true.
    """

    people: int = 30
    skill: tuple[float, float] = (12.0, 3.0)
    valid: float = 0.85
    spread: float = 0.8

    def drawn(self, pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the true option of each pair, (people, pairs) what everybody would vote, and people's skill.

        Skill is estimated from 20 earlier votes of each person.
        """
        able = rng.beta(*self.skill, self.people)
        hard = rng.normal(0.0, self.spread, pairs)
        right = 1 / (1 + np.exp(-(np.log(able / (1 - able))[:, None] - hard[None, :])))
        truth = np.where(rng.random(pairs) < self.valid, 0, rng.integers(1, 3, pairs))
        others = (truth + rng.integers(1, 3, (self.people, pairs))) % len(OPTIONS)
        votes = np.where(rng.random((self.people, pairs)) < right, truth, others)
        return truth, votes, rng.binomial(20, right.mean(axis=1)) / 20


# (skill, people in random order, usual number of votes) -> people in the order in which they are asked.
Route = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def anybody(_skill: np.ndarray, order: np.ndarray, _usual: int) -> np.ndarray:
    return order


def skilled_last(skill: np.ndarray, order: np.ndarray, usual: int) -> np.ndarray:
    """Return the people with the votes after the usual ones by estimated skill, best first."""
    rest = order[usual:]
    return np.concatenate([order[:usual], rest[np.argsort(-skill[rest], kind="stable")]])


def simulate(crowd: Crowd, rule: VoteRule, pairs: int, seed: int, route: Route = anybody) -> dict[str, float]:
    """Judge a simulated project: votes per pair, wrong verdicts and disputed pairs as shares.

    One seed gives everybody the same votes in the same order under every rule.
    """
    rng = np.random.default_rng(seed)
    truth, votes, skill = crowd.drawn(pairs, rng)
    found = Counter[str]()
    for pair in range(pairs):
        people = route(skill, rng.permutation(crowd.people), rule.wanted)
        in_full = rng.random() < rule.full_share
        verdict, n = judge(iter(votes[people, pair].tolist()), rule, in_full=in_full)
        found["votes"] += n
        found["disputed"] += verdict == FoilVerdict.DISPUTED
        decided = verdict != FoilVerdict.DISPUTED
        found["wrong"] += decided and (verdict == FoilVerdict.VALID) != (truth[pair] == 0)
    return {name: found[name] / pairs for name in ("votes", "wrong", "disputed")}


def compared(crowd: Crowd, projects: int, pairs: int = 500) -> list[dict[str, Any]]:
    """Simulate the same projects under every rule; means over projects with 95 % intervals."""
    routes: dict[str, tuple[VoteRule, Route]] = {name: (rule, anybody) for name, rule in RULES.items()}
    routes["3 votes, stop, more votes by the most skilled"] = (RULES["3 votes, stop, up to 5 if divided"], skilled_last)
    rows = []
    for name, (rule, route) in routes.items():
        runs = [simulate(crowd, rule, pairs, seed, route) for seed in range(projects)]
        row: dict[str, Any] = {"rule": name}
        for key in ("votes", "wrong", "disputed"):
            values = np.array([run[key] for run in runs])
            row[key], row[f"{key}_error"] = float(values.mean()), float(1.96 * values.std(ddof=1) / projects**0.5)
        rows.append(row)
    return rows


def published_votes(path: Path) -> list[tuple[int, int, int]]:
    """Return the votes for caption, foil and other of each item with three votes."""
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    votes = [record.get("mturk") or {} for record in found.values()]
    tallies = [(vote.get("caption", 0), vote.get("foil", 0), vote.get("other", 0)) for vote in votes]
    return [tally for tally in tallies if sum(tally) == 3]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--votes", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--projects", type=int, default=0)
    options = parser.parse_args()
    rule, pooled = RULES["3 votes, stop"], []
    for path in options.votes:
        tallies = published_votes(path)
        pooled += tallies
        print(json.dumps({"file": path.stem, **replay(tallies, rule)}))
    if pooled:
        print(json.dumps({"file": "all", **replay(pooled, rule)}))
        print(json.dumps({"file": "all, none in full", **replay(pooled, rule, share=0.0)}))
    if options.projects:
        crowds = {"good": Crowd(), "mixed": Crowd(skill=(6.0, 3.0))}
        for name, crowd in crowds.items():
            for row in compared(crowd, options.projects):
                print(json.dumps({"crowd": name, **row}))


if __name__ == "__main__":
    main()
