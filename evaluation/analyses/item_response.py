"""Report which items tell models apart and which are noise, and how able models or people are.

A two-parameter model of item response theory (docs/reference/formulas.md#metric-item-response). `models`: a model is
right on an item if its caption scores above the foils. `people`: a vote is right if it agrees with the majority of the
other votes of its pair. Their "items" are the subtests, because a pair has too few votes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.analysis_inputs import NOBODY, OTHER, Votes, coded, tallied
from evaluation.errors import EvaluationError
from evaluation.metrics.item_response import DRAWS, SEED, Fit, fit, respondents_needed

VERSION = "1"
INPUT = "responses"
MODELS, PEOPLE = "models", "people"
# Below this slope, an item hardly separates respondents: at 0.3, ability from -1 to 1 moves the chance by 15 points.
HARDLY = 0.3
MIN_RESPONDENTS = 3
# A page and a JSON list at most this many items; the rest is only counted.
MAX_ITEMS = 2_000
# Words for what an item's slope shows; stored in reports.
SEPARATES, REVERSED, NOISE, UNCLEAR = "separates", "reversed", "noise", "unclear"
ORDER = (REVERSED, NOISE, SEPARATES, UNCLEAR)


@dataclass(frozen=True)
class ResponseFacts:
    """`credits`: (models, items) 1 right, 0 wrong, NaN no score; ties count a half. `votes` with the subtest of each
    unit.
    """

    models: Sequence[str] = ()
    items: Sequence[str] = ()
    credits: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    votes: Votes | None = None
    subtests: Sequence[str] = ()

    @property
    def is_empty(self) -> bool:
        return not len(self.models) and (self.votes is None or not len(self.votes.choice))


def shortfall(facts: ResponseFacts, *, respondents: str = MODELS, **_others: Any) -> tuple[str, int, int] | None:
    """Return (whose answers, how many are needed, how many there are) if they are too few to compute anything."""
    n = len(_answers_of(facts, respondents)[0])
    return (respondents, MIN_RESPONDENTS, n) if n < MIN_RESPONDENTS else None


def compute(facts: ResponseFacts, *, respondents: str = MODELS, draws: int = DRAWS, seed: int = SEED) -> dict[str, Any]:
    """Compute discrimination and difficulty per item and ability per respondent, with 95 % intervals.

    EvaluationError if there are fewer than three respondents.
    """
    of = respondents
    names, items, right, n_answers = _answers_of(facts, of)
    if len(names) < MIN_RESPONDENTS:
        raise EvaluationError(
            f"item response needs {MIN_RESPONDENTS} or more {of} with answers, and there are {len(names)}; "
            + ("score more models" if of == MODELS else "let more people judge")
        )
    model_fit = fit(right, n_answers, draws=draws, seed=seed)
    needed = respondents_needed()
    rows = _items(items, right, n_answers, model_fit)
    return {
        "respondents": of,
        "n_respondents": len(names),
        "n_items": len(items),
        "n_answers": int(n_answers.sum()),
        "needed": needed,
        "needed_to_compare": respondents_needed(1.0, 0.5),
        "too_few": len(names) < needed,
        "reliability": model_fit.reliability,
        "kinds": {kind: sum(row["kind"] == kind for row in rows) for kind in ORDER},
        "n_all_right": int((right == n_answers).all(axis=0).sum()),
        "n_all_wrong": int((right == 0).all(axis=0).sum()),
        ("models" if of == MODELS else "annotators"): _respondents(names, right, n_answers, model_fit, of),
        "items": rows[:MAX_ITEMS],
    }


def kind_of(low: float, high: float) -> str:
    """Return what the interval of a slope shows."""
    if low > HARDLY:
        return SEPARATES
    if high < 0.0:
        return REVERSED
    return NOISE if high < HARDLY else UNCLEAR


Table = tuple[list[str], list[str], NDArray[np.float64], NDArray[np.float64]]


def _answers_of(facts: ResponseFacts, of: str) -> Table:
    return _of_models(facts) if of == MODELS else _of_people(facts)


def _of_models(facts: ResponseFacts) -> Table:
    is_answered = ~np.isnan(facts.credits)
    is_used = is_answered.any(axis=0) if len(facts.models) else np.zeros(0, dtype=bool)
    right = np.where(is_answered, facts.credits, 0.0)[:, is_used]
    return (
        list(facts.models),
        [facts.items[k] for k in np.flatnonzero(is_used).tolist()],
        right,
        is_answered[:, is_used].astype(float),
    )


def _of_people(facts: ResponseFacts) -> Table:
    """Count by person and subtest the votes that agree with the majority of the other votes of their pair."""
    votes = facts.votes
    if votes is None or not len(votes.choice):
        return [], [], np.zeros((0, 0)), np.zeros((0, 0))
    codes, categories = coded(votes, "truth3" if (votes.choice == OTHER).any() else "truth")
    other_votes = tallied(votes, codes, len(categories))[votes.unit]
    other_votes[np.arange(len(codes)), codes] -= 1
    decided = (other_votes.max(axis=1) * 2 > other_votes.sum(axis=1)) & (votes.annotator != NOBODY)
    subtests = list(dict.fromkeys(facts.subtests))
    subtest_index = np.array([subtests.index(name) for name in facts.subtests])[votes.unit]
    shape = (len(votes.annotator_names), len(subtests))
    right, n_answers = np.zeros(shape), np.zeros(shape)
    np.add.at(n_answers, (votes.annotator[decided], subtest_index[decided]), 1.0)
    agreed = decided & (other_votes.argmax(axis=1) == codes)
    np.add.at(right, (votes.annotator[agreed], subtest_index[agreed]), 1.0)
    people, is_used = n_answers.any(axis=1), n_answers.any(axis=0)
    names = [votes.annotator_names[k] for k in np.flatnonzero(people).tolist()]
    return (
        names,
        [subtests[k] for k in np.flatnonzero(is_used).tolist()],
        right[people][:, is_used],
        n_answers[people][:, is_used],
    )


def _items(
    items: Sequence[str], right: NDArray[np.float64], n_answers: NDArray[np.float64], model_fit: Fit
) -> list[dict[str, Any]]:
    """Return a row per item: suspicious ones first, then noise, then those that separate best."""
    slope, easiness, n = model_fit.slope, model_fit.easiness, n_answers.sum(axis=0)
    rows = [
        {
            "item": name,
            "n": int(n[k]),
            "share_right": float(right[:, k].sum() / n[k]),
            "slope": float(slope.value[k]),
            "slope_ci": [float(slope.low[k]), float(slope.high[k])],
            "difficulty": -float(easiness.value[k]),
            "difficulty_ci": [-float(easiness.high[k]), -float(easiness.low[k])],
            "kind": kind_of(slope.low[k], slope.high[k]),
        }
        for k, name in enumerate(items)
    ]
    return sorted(rows, key=lambda row: (ORDER.index(row["kind"]), -abs(row["slope"]), row["item"]))


def _respondents(
    names: Sequence[str], right: NDArray[np.float64], n_answers: NDArray[np.float64], model_fit: Fit, of: str
) -> list[dict[str, Any]]:
    """Return a row per model or person, most able first; `annotator` is shown under a pseudonym."""
    name_of = "model" if of == MODELS else "annotator"
    ability, n = model_fit.ability, n_answers.sum(axis=1)
    rows = [
        {
            name_of: name,
            "n": int(n[k]),
            "share_right": float(right[k].sum() / n[k]) if n[k] else None,
            "ability": float(ability.value[k]),
            "ability_ci": [float(ability.low[k]), float(ability.high[k])],
        }
        for k, name in enumerate(names)
    ]
    return sorted(rows, key=lambda row: (-row["ability"], row[name_of]))
