"""Run passes of folds and collect, per tier and item, how often and how surely the right option is chosen."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import folds_of, strata_of
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.learner import N_FOLDS, Answered, Stack, answer_held_out
from foilworks.core.solver.questions import Answers, Question
from foilworks.core.solver.solution import HEADLINE, TIERS, VERSION, Tier

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
DECIMALS = 5


def check_state(state: object) -> None:
    """Raise ValueError if a value is not what `Passes.as_state` returns."""
    if not isinstance(state, dict) or state.keys() != {row.name for row in fields(Passes)}:
        raise ValueError("the value is no state of a certificate; start without a state")


@dataclass
class Passes:
    """Results of passes of folds, as values that JSON has.

    `credits` and `right`: tier -> one row of n per repeat, the credit of each item and the probability of its right
    option; `fold_values`: the headline's value of each fold; `families`: share of right answers by each family alone;
    `reasons`: one per item; `ungrouped`: value with folds of single items; `uniform`, `permuted`: values under answers
    redrawn uniformly, and labels permuted within their kind.
    """

    fingerprint: str
    credits: dict[Tier, list[list[float]]] = field(default_factory=lambda: {tier: [] for tier in TIERS})
    right: dict[Tier, list[list[float]]] = field(default_factory=lambda: {tier: [] for tier in TIERS})
    fold_values: list[float] = field(default_factory=list)
    learners: dict[str, int] = field(default_factory=dict)
    families: dict[str, float] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    ungrouped: float | None = None
    uniform: list[float] = field(default_factory=list)
    permuted: list[float] = field(default_factory=list)

    @property
    def repeats(self) -> int:
        return len(self.credits[HEADLINE])

    def as_state(self) -> dict[str, Any]:
        return asdict(self)

    def mean_credits(self, tier: Tier) -> Floats:
        """Return (n,) credits, mean over repeats."""
        return np.mean(self.credits[tier], axis=0)

    def add_repeat(self, design: Design, answers: Answers, groups: Codes, seed: int) -> None:
        """Run one pass over all tiers; the first one also explains its choices."""
        explain = None if self.repeats else HEADLINE
        folds = spread_folds(design, answers, groups, seed)
        answered = answer_tiers(design, answers, folds, TIERS, seed, explain)
        layout = design.layout
        for tier in TIERS:
            scores = answered.scores[tier]
            self.credits[tier].append(layout.credits(scores, answers).round(DECIMALS).tolist())
            right = layout.probabilities(scores)[layout.starts + answers]
            self.right[tier].append(right.round(DECIMALS).tolist())
        credits = np.array(self.credits[HEADLINE][-1])
        self.fold_values += [float(credits[folds == fold].mean()) for fold in range(N_FOLDS)]
        self.learners = dict(Counter(self.learners) + Counter(answered.learners))
        if explain:
            self.families = {
                family: float(layout.credits(scores, answers).mean()) for family, scores in answered.alone.items()
            }
            self.reasons = _reasons(layout, answered)

    def add_ungrouped(self, design: Design, answers: Answers, sets: Codes, seed: int) -> None:
        """Run one pass of the headline's tier in which items of one video teach each other."""
        self.ungrouped = value_of(design, answers, sets, seed)

    def add_uniform(self, design: Design, redrawn: Answers, groups: Codes, seed: int) -> None:
        """Run one pass of the headline's tier with answers drawn uniformly."""
        self.uniform.append(value_of(design, redrawn, groups, seed))

    def add_permuted(self, design: Design, redrawn: Answers, groups: Codes, seed: int) -> None:
        """Run one pass of the headline's tier with labels permuted within their kind."""
        self.permuted.append(value_of(design, redrawn, groups, seed))


def value_of(design: Design, answers: Answers, groups: Codes, seed: int) -> float:
    """Return the headline's value of one pass."""
    answered = answer_tiers(design, answers, spread_folds(design, answers, groups, seed), (HEADLINE,), seed, None)
    return float(design.layout.credits(answered.scores[HEADLINE], answers).mean())


def spread_folds(design: Design, answers: Answers, groups: Codes, seed: int) -> Codes:
    """Return (n,) the fold of each item; answers that the file balances are spread evenly."""
    return folds_of(groups, strata_of(design.layout.questions, answers), N_FOLDS, seed)


def fingerprint_of(questions: Sequence[Question], answers: Answers, seed: int) -> str:
    """Return a hash of everything that a state must share with the call that resumes it."""
    digest = hashlib.sha256(f"{VERSION} {seed} {answers.tolist()}".encode())
    for question in questions:
        digest.update(repr(question).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def answer_tiers(
    design: Design, answers: Answers, folds: Codes, tiers: Sequence[Tier], seed: int, explain: Tier | None = None
) -> Answered:
    """Answer each fold with models of the others (`learner.answer_held_out`)."""
    # Threads of such small matrices cost more than they save.
    with threadpool_limits(1):
        return answer_held_out(Stack(design, answers, folds, "file" in tiers), tiers, seed, explain)


def _reasons(layout: Layout, answered: Answered) -> list[str]:
    """Return per item the family that alone gives its chosen option the highest probability, with a feature's name."""
    scores = answered.scores[HEADLINE]
    is_best = scores >= np.maximum.reduceat(scores, layout.starts)[layout.item]
    first = np.flatnonzero(is_best)
    chosen = first[np.unique(layout.item[first], return_index=True)[1]]
    families = list(answered.alone)
    surplus = np.column_stack([layout.probabilities(answered.alone[family])[chosen] for family in families])
    strongest = np.argmax(surplus, axis=1)
    reasons = []
    for item, at in enumerate(strongest):
        family = families[at]
        feature = answered.features[family][item]
        reasons.append(family if feature == family else f"{family}: {feature}")
    return reasons
