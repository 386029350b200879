"""Measure how far questions can be answered without their videos, from their texts and their file."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.design import Design
from foilworks.core.solver.folds import MAX_GROUP_SHARE, Structure, folds_of, largest_group_share, structure_of
from foilworks.core.solver.inference import block_interval, holm, p_above, verdict_of
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.learner import N_FOLDS, Answered, Stack, answer_held_out
from foilworks.core.solver.questions import Answers, Question, check_questions
from foilworks.core.solver.solution import (
    HEADLINE,
    TIERS,
    FamilyImportance,
    ItemScore,
    KindResult,
    PartResult,
    Solution,
    Tier,
    TierResult,
)

Floats = NDArray[np.float64]
# Steps done, all steps, and the state to store.
Progress = Callable[[int, int, dict[str, Any]], None]
REPEATS = 5
PERMUTATIONS = 100
# Fewer groups leave folds without training items.
MIN_GROUPS = 5


@dataclass
class Measured:
    """What passes of folds give. `scores`: tier -> list over repeats of (R,)."""

    credits: dict[Tier, list[Floats]]
    right: dict[Tier, list[Floats]]
    ungrouped: Floats | None = None


def first_view(questions: Sequence[Question], answers: Answers, seed: int = 0) -> Solution:
    """Return what one pass of folds finds. It never says "nothing_found", only "nothing_found_so_far".

    ValueError: the answers do not fit the questions, or there are no questions.
    """
    check_questions(questions, answers)
    structure = structure_of(questions, answers)
    design = Design.of(questions)
    layout = design.layout
    n_groups = len(np.unique(structure.groups))
    if n_groups < MIN_GROUPS:
        raise NotImplementedError
    folds = folds_of(structure.groups, min(N_FOLDS, n_groups), seed)
    answered = answer_held_out(Stack(design, answers, folds), TIERS, seed, explain=HEADLINE)
    tiers: dict[Tier, TierResult] = {}
    chance = 1 / layout.sizes
    for tier in TIERS:
        credits = layout.credits(answered.scores[tier], answers)
        value, interval = block_interval(credits, structure.blocks)
        verdict, why, n_needed = verdict_of(value, interval, float(chance.mean()), len(credits), largest_group_share(structure), False)
        tiers[tier] = TierResult(tier, value, interval, float(chance.mean()), len(credits), len(np.unique(structure.blocks)), verdict, n_needed, None, None, why)
    credits = layout.credits(answered.scores[HEADLINE], answers)
    families = [FamilyImportance(family, float(credits.mean() - layout.credits(scores, answers).mean())) for family, scores in answered.without.items()]
    return Solution(tiers, [], [], [], sorted(families, key=lambda row: -row.importance), None, dict(Counter(answered.learners)), False, seed, 1, 0)
