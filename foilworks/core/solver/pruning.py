"""Select items whose answers the texts do not tell: remove items at random, with chances that the solver decides.

An item stays with the chance that its right option has by the solver, capped: options that it favours stay less often.
So the right option of a kept item is as if drawn at random: a cue is removed, not reversed (rejection sampling).
Items are chosen by the families `SELECTING`; those of `RESERVED` never choose, and certify the remaining items.
"""

import hashlib
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.design import SELECTING, Design
from foilworks.core.solver.folds import Structure, joined, sets_of, structure_of
from foilworks.core.solver.inference import FAIR_MARGIN, block_interval
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.passes import answer_tiers, spread_folds
from foilworks.core.solver.questions import Answers, Question
from foilworks.core.solver.solution import HEADLINE, Interval, Selection, Solution
from foilworks.core.solver.solve import first_view

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]
# A selection stops where the solver is at most this far above chance. If the certificate is then too far above chance,
# the next target is tried; if it is too far below, the next one of `HIGHER`: too many items have left.
TARGETS, HIGHER = (0.02, 0.0, -0.02), (0.05, 0.08)
# Half of the interval of a certified selection.
MAX_HALF_WIDTH = 0.06
# With a smaller share left, the rest no longer represents the set.
MIN_SHARE = 0.2
MIN_PER_KIND = 10
MAX_STEPS = 10
# How far above chance the most probable option may stay, per step. After the last, probabilities are sharpened.
MARGINS = (0.02, 0.01, 0.0)
SHARPENING, MIN_PROGRESS = 1.25, 0.03
# Folds of the selection are none of those of the audit. One draw of them decides too much about a small set.
FOLD_SEED, SEED_STEP = 10_000, 100
MIN_ITEMS_OF_ONE_DRAW, N_DRAWS = 1_000, 3
N_SEEDS = 5

Verdict = Literal["fair", "too_few", "no_fair_subset"]


@dataclass(frozen=True)
class CurvePoint:
    """How many items are left, and what the families that choose answer of them, trained again."""

    n: int
    value: float
    interval: Interval
    chance: float


@dataclass(frozen=True)
class Pruned:
    """`is_kept`: (n,). `bound`: no more items can be kept while the answers of the item tier, which know no answer of
    their item, are at most `FAIR_MARGIN` above chance. `before`, `certificate`: solutions of all and of the kept items,
    None if there is nothing to certify. `at_minimum`: kinds with restored items. `overlap`: mean Jaccard index
    of the kept sets of several seeds.
    """

    is_kept: Flags
    verdict: Verdict
    bound: int
    before: Solution
    curve: list[CurvePoint] = field(default_factory=list)
    certificate: Solution | None = None
    at_minimum: list[str] = field(default_factory=list)
    overlap: float | None = None


def prune(
    questions: Sequence[Question],
    answers: Answers,
    seed: int = 0,
    units: Sequence[Hashable] | None = None,
    n_seeds: int = N_SEEDS,
) -> Pruned:
    """Return a subset of n items whose texts do not tell the answers, or why there is none.

    `units`: n names; items of one name stay or leave together, as do declared pairs and groups. Mirrored sets of which
    each option is right equally often stay. `n_seeds`: selections whose overlap is measured (1: none).
    ValueError: as in `first_view`.
    """
    before = first_view(questions, answers)
    bound = before.largest_fair
    pruner = Pruner(questions, answers, units)
    everything = np.ones(len(questions), dtype=bool)
    if bound < MIN_SHARE * len(questions):
        return Pruned(everything, "no_fair_subset", bound, before)
    lower, higher = iter(TARGETS), iter(HIGHER)
    following: float | None = next(lower)
    while following is not None:
        target = following
        is_kept, curve, at_minimum = pruner.select(target, seed)
        if is_kept.sum() < MIN_SHARE * len(questions):
            return Pruned(is_kept, "no_fair_subset", bound, before, curve)
        certificate = pruner.certify(is_kept, seed)
        verdict = verdict_of_selection(certificate)
        if verdict != "no_fair_subset":
            break
        following = next(higher if certificate.headline.value < certificate.headline.chance else lower, None)
    overlap = pruner.overlap(target, [seed + row for row in range(n_seeds)]) if n_seeds > 1 else None
    return Pruned(is_kept, verdict, bound, before, curve, certificate, at_minimum, overlap)


def verdict_of_selection(certificate: Solution) -> Verdict:
    """Return whether families that chose no item are near chance, and those that chose do not fail."""
    row = certificate.headline
    if row.verdict == "fail":
        return "no_fair_subset"
    if row.interval[1] - row.interval[0] > 2 * MAX_HALF_WIDTH:
        return "too_few"
    return "fair" if abs(row.value - row.chance) <= FAIR_MARGIN else "no_fair_subset"


class Pruner:
    """The questions, the units that stay or leave together, and the items that stay in any case."""

    def __init__(
        self, questions: Sequence[Question], answers: Answers, units: Sequence[Hashable] | None = None
    ) -> None:
        self.questions, self.answers = questions, answers
        structure = structure_of(questions, answers)
        declared = sets_of(question.group or ("item", row) for row, question in enumerate(questions))
        of_file = [] if units is None else sets_of(units)
        self.units = joined(structure.sets, [*declared, *of_file])
        self.stays = _is_balanced(structure, questions, answers)
        self.first: tuple[Layout, Floats, CurvePoint] | None = None

    def select(self, target: float, seed: int) -> tuple[Flags, list[CurvePoint], list[str]]:
        """Return the kept items, the curve, and the kinds for which items were restored."""
        is_kept, chances = np.ones(len(self.questions), dtype=bool), np.ones(len(self.questions))
        curve: list[CurvePoint] = []
        power = 1.0
        for step in range(MAX_STEPS):
            layout, probabilities, point = self._solved(is_kept, step)
            curve.append(point)
            if point.value <= point.chance + target or point.n < MIN_SHARE * len(is_kept):
                break
            of_step = np.ones(len(is_kept))
            # With a higher target, fewer items leave.
            margin = MARGINS[min(step, len(MARGINS) - 1)] + max(0.0, target - TARGETS[0])
            of_step[is_kept] = keep_chances(layout, probabilities, self.answers[is_kept], margin, power)
            of_step[self.stays] = 1.0
            chances *= of_step
            is_left = is_kept & self._is_drawn(of_step, f"{seed} {step}")
            if is_left.sum() > (1 - MIN_PROGRESS) * is_kept.sum():
                power *= SHARPENING
            is_kept = is_left
        return is_kept, curve, self._put_back(is_kept, chances)

    def certify(self, is_kept: Flags, seed: int) -> Solution:
        """Return the solution of the kept items, with the families that chose none of them."""
        removed = tuple(question.id for question, kept in zip(self.questions, is_kept, strict=True) if not kept)
        questions = [question for question, kept in zip(self.questions, is_kept, strict=True) if kept]
        return first_view(questions, self.answers[is_kept], selection=Selection(removed, SELECTING, seed))

    def overlap(self, target: float, seeds: Sequence[int]) -> float:
        """Return the mean Jaccard index of the sets that pairs of seeds keep."""
        sets = [self.select(target, seed)[0] for seed in seeds]
        return float(np.mean([(a & b).sum() / max(1, (a | b).sum()) for a, b in combinations(sets, 2)]))

    def _solved(self, is_kept: Flags, step: int) -> tuple[Layout, Floats, CurvePoint]:
        """Return the layout of the kept items, (R,) probabilities of their options, and how many are answered."""
        if is_kept.all() and self.first is not None:
            return self.first
        questions = [question for question, kept in zip(self.questions, is_kept, strict=True) if kept]
        answers, structure = self.answers[is_kept], structure_of(questions, self.answers[is_kept])
        design = Design.of(questions)
        layout, credits, probabilities = design.layout, [], []
        for draw in range(N_DRAWS if len(self.questions) < MIN_ITEMS_OF_ONE_DRAW else 1):
            fold_seed = FOLD_SEED + step + SEED_STEP * draw
            folds = spread_folds(design, answers, structure.groups, fold_seed)
            scores = answer_tiers(design, answers, folds, (HEADLINE,), fold_seed).scores[HEADLINE]
            credits.append(layout.credits(scores, answers))
            probabilities.append(layout.probabilities(scores))
        value, interval = block_interval(np.mean(credits, axis=0), structure.blocks)
        point = CurvePoint(len(questions), value, interval, float((1 / layout.sizes).mean()))
        result = layout, np.mean(probabilities, axis=0), point
        if is_kept.all():
            self.first = result
        return result

    def _is_drawn(self, chances: Floats, draw: str) -> Flags:
        """Report which items stay: a unit with the product of its chances. The draw depends on ids, not on an order."""
        logarithms = np.bincount(self.units, weights=np.log(np.maximum(chances, 1e-12)))
        names: dict[int, str] = {}
        for unit, question in zip(self.units.tolist(), self.questions, strict=True):
            names[unit] = min(names.get(unit, question.id), question.id)
        drawn = np.array([_uniform(f"{draw} {names[unit]}") for unit in range(len(logarithms))])
        return (drawn < np.exp(logarithms))[self.units]

    def _put_back(self, is_kept: Flags, chances: Floats) -> list[str]:
        """Put units back until each kind has `MIN_PER_KIND` items, or all of its own, and return the kinds."""
        kinds = [question.kind for question in self.questions]
        n_kept = Counter(kind for kind, kept in zip(kinds, is_kept, strict=True) if kept)
        totals = Counter(kinds)
        small = [kind for kind, n in totals.items() if n_kept[kind] < min(MIN_PER_KIND, n)] if len(totals) > 1 else []
        for kind in small:
            rows = [row for row, name in enumerate(kinds) if name == kind and not is_kept[row]]
            for row in sorted(rows, key=lambda row: (-chances[row], self.questions[row].id)):
                if np.array([name == kind for name in kinds])[is_kept].sum() < MIN_PER_KIND:
                    is_kept[self.units == self.units[row]] = True
        return small


def keep_chances(layout: Layout, probabilities: Floats, answers: Answers, margin: float, power: float) -> Floats:
    """Return (n,) the chance by which each item stays: cap / probability of its right option, at most 1.

    With caps c, an option of probability p is right in a share of min(p, c) / sum of min(p, c) of the kept items that
    look alike. `margin`: how far above chance the largest share may be. `power` sharpens the probabilities.
    """
    sharp = probabilities**power
    sharp = sharp / np.add.reduceat(sharp, layout.starts)[layout.item]
    caps = np.ones(len(answers))
    for size in np.unique(layout.sizes):
        items = np.flatnonzero(layout.sizes == size)
        ordered = -np.sort(-sharp[layout.starts[items][:, None] + np.arange(size)], axis=1)
        inverse = 1 / (1 / size + margin)
        cap = ordered[:, -1].copy()
        for n_capped in range(int(size) - 1, 0, -1):
            rest = ordered[:, n_capped:].sum(axis=1) / (inverse - n_capped) if inverse > n_capped else cap
            is_level = (ordered[:, n_capped] <= rest) & (rest <= ordered[:, n_capped - 1])
            cap = np.where(is_level, rest, cap)
        caps[items] = np.where(ordered[:, 0] * inverse <= 1, 1.0, cap)
    right = sharp[layout.starts + answers]
    return np.minimum(1.0, caps / np.maximum(right, 1e-12))


def _is_balanced(structure: Structure, questions: Sequence[Question], answers: Answers) -> Flags:
    """Report which items are in a mirrored set of equal texts in which each option is right equally often: no text can
    tell their answers."""
    is_balanced = np.zeros(len(questions), dtype=bool)
    for rows in sets_of(code if code >= 0 else ("none", row) for row, code in enumerate(structure.mirrored.tolist())):
        right = Counter(questions[row].options[answers[row]] for row in rows)
        texts = {(questions[row].text, tuple(sorted(questions[row].options))) for row in rows}
        first = questions[rows[0]].options
        is_balanced[rows] = len(texts) == 1 and right.keys() == set(first) and len(set(right.values())) == 1
    return is_balanced


def _uniform(name: str) -> float:
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:7]) / 256**7
