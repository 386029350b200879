"""Plan a study: from the difference to detect to items, votes, people, hours and cost. Pure.

The items come from the power of the comparison (evaluation.metrics.power). More pairs are judged than are needed,
because some items are not valid. The votes per pair follow from the vote rule and from how often two people agree.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from annotation.rules.voting import CAPTION, FOIL, VoteRule, pair_verdict
from evaluation.errors import EvaluationError
from evaluation.metrics.power import Design, check, curve, items_needed, power
from foilworks.core.corpus.rules.states import FoilVerdict
from foilworks.core.text.registry import Entry, Param

SECONDS_PER_HOUR = 3600
# Differences of the power curves, in multiples of the one to detect.
CURVES = (0.5, 1.0, 1.5, 2.0)
# A curve ends at this multiple of the needed items.
BEYOND = 1.6
MAX_VOTES = 25

PLAN = Entry(
    label="Plan",
    params=(
        Param(
            "models", 2, "Each pair of models is a test. More models need more items: six, almost twice as many.", "int"
        ),
        Param(
            "difference",
            0.05,
            "Smallest difference in accuracy to detect. 0.05: 5 points, such as 70 % against 75 %.",
            "float",
        ),
        Param(
            "model_agreement",
            0.8,
            "Share of items on which two models are both right or both wrong. Usual: 0.8.",
            "float",
        ),
        Param(
            "power",
            0.8,
            "Probability of detecting the difference, if it exists. 0.8: 8 of 10 such studies find it.",
            "float",
        ),
        Param("items_per_video", 1.0, "Items per source video, on average. 2: each video has two items.", "float"),
        Param(
            "similarity",
            0.0,
            "Correlation of the items of a video. 0: as different as items of two videos; 1: all right or all wrong.",
            "float",
        ),
        Param(
            "validity", 0.8, "Share of items that validators will find valid. 0.8: 100 judged items give 80.", "float"
        ),
        Param("vote_agreement", 0.85, "Probability that two validators give the same answer. 1: always.", "float"),
        Param("pairs_per_item", 1, "Pairs of caption and foil per item: one for each foil.", "int"),
        Param("votes_per_pair", 3, "Votes per pair, each by another validator.", "int"),
        Param("votes_needed", 2, "Votes that an answer needs to decide a pair. 2 of 3 is usual.", "int"),
        Param("stop_early", False, "Stop when the remaining votes cannot change the verdict.", "bool"),
        Param("full_share", 0.0, "Share of items that get all votes although others stop early.", "float"),
        Param("votes_max", 0, "Votes of a pair whose first votes decide nothing. 0: no more votes.", "int"),
        Param("divided", 0.0, "Share of pairs whose first votes decide nothing. 0.05: 5 of 100 pairs.", "float"),
        Param("seconds_per_vote", 20.0, "Mean seconds per vote, including the time to watch the clip.", "float"),
        Param("hours_per_person", 10.0, "Hours that one validator judges in total.", "float"),
        Param("hourly_pay", 0.0, "Pay per hour, in the currency of the project. 0: no pay.", "float"),
        Param("budget", 0.0, "Budget for pay, in the same currency, with all pay so far. 0: no limit.", "float"),
    ),
)
# (name, lowest, highest) of the values that have a range; design values are checked by evaluation.metrics.power.
RANGES = (
    ("validity", 0.01, 1.0),
    ("vote_agreement", 0.5, 1.0),
    ("pairs_per_item", 1, 100),
    ("votes_per_pair", 1, MAX_VOTES),
    ("votes_needed", 1, MAX_VOTES),
    ("votes_max", 0, MAX_VOTES),
    ("full_share", 0.0, 1.0),
    ("divided", 0.0, 1.0),
    ("seconds_per_vote", 0.1, 86_400),
    ("hours_per_person", 0.1, 10_000),
    ("hourly_pay", 0, 10_000),
    ("budget", 0, 1e12),
)


def plan(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the needed numbers, `differences`: the same for others, and `curves` of power. EvaluationError: a value
    out of its range."""
    for name, low, high in RANGES:
        if not low <= values[name] <= high:
            raise EvaluationError(f"{name}: {values[name]:g} is out of range; give {low:g} to {high:g}")
    if values["votes_needed"] > values["votes_per_pair"]:
        raise EvaluationError(
            f"votes_needed: {values['votes_needed']} is more than {values['votes_per_pair']} votes per pair; give fewer"
        )
    design = Design(
        values["difference"],
        values["model_agreement"],
        values["models"],
        values["items_per_video"],
        values["similarity"],
    )
    per_pair, divided, extra = votes_of_pair(values)
    other_designs = [replace(design, difference=design.difference * times) for times in CURVES]
    items = items_needed(design, values["power"])
    possible = [
        design,
        *(other_design for other_design in other_designs if other_design != design and _is_possible(other_design)),
    ]
    possible.sort(key=lambda possible_design: possible_design.difference)
    return {
        **_cost_of_items(items, values, per_pair),
        "power": power(design, items),
        "alpha": design.alpha,
        "votes_per_pair": per_pair,
        "divided": divided,
        "extra_votes_per_pair": extra,
        "differences": [
            {
                "difference": possible_design.difference,
                **_cost_of_items(items_needed(possible_design, values["power"]), values, per_pair),
            }
            for possible_design in possible
        ],
        "curves": [
            {"difference": possible_design.difference, "points": curve(possible_design, math.ceil(items * BEYOND))}
            for possible_design in possible
        ],
    }


def _is_possible(design: Design) -> bool:
    try:
        check(design)
    except EvaluationError:
        return False
    return True


def _cost_of_items(items: int, values: Mapping[str, Any], per_pair: float) -> dict[str, Any]:
    """Return what this number of valid items takes."""
    judged = math.ceil(items / values["validity"])
    votes = math.ceil(judged * values["pairs_per_item"] * per_pair)
    hours = votes * values["seconds_per_vote"] / SECONDS_PER_HOUR
    return {
        "items": items,
        "videos": math.ceil(items / values["items_per_video"]),
        "judged": judged,
        "votes": votes,
        "hours": hours,
        # Nobody judges a pair twice.
        "people": max(values["votes_per_pair"], math.ceil(hours / values["hours_per_person"])),
        "cost": hours * values["hourly_pay"],
    }


def votes_of_pair(values: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the mean votes per pair, the share of pairs whose usual votes decide nothing, and the mean votes that are
    added for these: at most, because added votes stop when they have decided."""
    rule = VoteRule(values["votes_per_pair"], values["votes_needed"], stop_early=bool(values["stop_early"]))
    votes, disputed = expected_votes(rule, values["vote_agreement"])
    if rule.stop_early:
        votes += values["full_share"] * (rule.wanted - votes)
    # Two answers alone hardly ever leave three votes undecided, but people have five.
    divided = max(disputed, values["divided"])
    extra = divided * max(0, values["votes_max"] - rule.wanted)
    return votes + extra, divided, extra


def expected_votes(rule: VoteRule, agreement: float) -> tuple[float, float]:
    """Return the mean votes per pair, and the share of disputed pairs.

    Two people agree with probability a, so a vote is the more frequent answer with probability (1 + sqrt(2 a - 1)) / 2.
    E.g. two of three votes with early stopping and a = .85: the third is needed if the first two differ, so 2.15 votes.
    """
    often = (1.0 + math.sqrt(max(0.0, 2.0 * agreement - 1.0))) / 2.0
    waiting = {(0, 0): 1.0}
    votes = disputed = 0.0
    while waiting:
        reached: dict[tuple[int, int], float] = {}
        for (first, second), chance in waiting.items():
            votes += chance
            for cell, p in (((first + 1, second), often), ((first, second + 1), 1.0 - often)):
                verdict = pair_verdict({CAPTION: cell[0], FOIL: cell[1]}, rule)
                if verdict == FoilVerdict.PENDING:
                    reached[cell] = reached.get(cell, 0.0) + chance * p
                elif verdict == FoilVerdict.DISPUTED:
                    disputed += chance * p
        waiting = reached
    return votes, disputed
