"""Train on some folds and answer the others: linear models and rates of keys, then a choice model and trees over them.

Everything that reads answers reads those of training folds only. Scores of linear models and rates are themselves out
of fold (stacking, Wolpert 1992): for outer fold k, an item of fold j has scores of models that know neither k nor j.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.choice_model import fit_choices
from foilworks.core.solver.design import CHARACTERS, CROSSED, FORM_BY_TYPE, RATE_FAMILIES, WORDS, Design
from foilworks.core.solver.encoding import KeyCounts
from foilworks.core.solver.layout import spread_of_one
from foilworks.core.solver.questions import Answers
from foilworks.core.solver.solution import TIERS, Tier

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
N_FOLDS = 5
PENALTIES = {WORDS: 2.0, CROSSED: 2.0, FORM_BY_TYPE: 20.0, CHARACTERS: 4.0}
STACK_PENALTY = 30.0
# Options that the last models learn from; linear models and rates learn from all.
MAX_STACKED_ROWS = 14_000
N_TREES, LEARNING_RATE, MAX_LEAVES = 40, 0.15, 8
# Known answers this many rows away in the file.
ROW_DISTANCES = (-2, -1, 1, 2)
NEAR_ROWS = "answers of near rows"
# Factors of scores.
SCALES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
LEARNERS = ("linear and trees", "linear", "trees")


@dataclass
class Answered:
    """Held-out scores of one pass of folds.

    `scores`: tier -> (R,); `learners`: that of each fold. Of the explained tier: `alone`: family -> (R,) scores by that
    family alone; `features`: family -> n names of its strongest feature for the option that the scores choose.
    """

    scores: dict[Tier, Floats]
    learners: list[str] = field(default_factory=list)
    alone: dict[str, Floats] = field(default_factory=dict)
    features: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Columns:
    """(R, F) columns of one outer fold, with F families, names and tiers.

    `is_learned`: scores of models and rates. More of them must not make an option less likely: if the answers to a text
    are balanced, its other answers point away from each held-out one, which no solver of single items knows.
    """

    values: Floats
    families: NDArray[np.str_]
    names: Sequence[str]
    tiers: NDArray[np.str_]
    is_learned: NDArray[np.bool_]

    def of_tier(self, tier: Tier) -> NDArray[np.bool_]:
        return np.isin(self.tiers, TIERS[: TIERS.index(tier) + 1])


class Stack:
    """The scores of linear models, of rates, and of known answers near a row, for every pair of folds left out."""

    def __init__(self, design: Design, answers: Answers, folds: Codes, has_file: bool = True) -> None:
        self.design, self.answers, self.folds = design, answers, folds
        self.has_file = has_file
        layout = design.layout
        self.n_folds = int(folds.max()) + 1
        self.fold_of_row = folds[layout.item]
        self.right = layout.right_rows(answers)
        self.counts = {
            family: KeyCounts(keys, self.right - 1 / layout.sizes[layout.item], self.fold_of_row, self.n_folds)
            for family, keys in design.rates.items()
            if has_file or RATE_FAMILIES[family][0] != "file"
        }
        self.weights: dict[tuple[str, frozenset[int]], Floats] = {}

    def linear_weights(self, family: str, left_out: frozenset[int]) -> Floats:
        """Return the weights of a linear model that knows no answer of the folds left out."""
        key = family, left_out
        if key not in self.weights:
            is_used = ~np.isin(self.folds, list(left_out))
            rows = is_used[self.design.layout.item]
            # A model that knows less may start one that knows more, never the other way.
            starts = (row for (name, folds), row in self.weights.items() if name == family and left_out < folds)
            self.weights[key] = fit_choices(
                self.design.linear[family][rows],
                self.design.layout.sizes[is_used],
                self.right[rows],
                PENALTIES[family],
                next(starts, None),
            )
        return self.weights[key]

    def columns(self, outer: int) -> Columns:
        """Return all columns for an outer fold: without its answers, and of other folds also without their own."""
        layout = self.design.layout
        families = list(self.design.linear) + list(self.counts) + ([NEAR_ROWS] if self.has_file else [])
        widths = [1] * len(self.design.linear) + [4] * len(self.counts) + [2 * len(ROW_DISTANCES)] * self.has_file
        values = np.zeros((layout.n_rows, sum(widths)))
        for fold in range(self.n_folds):
            rows = np.flatnonzero(self.fold_of_row == fold)
            left_out = frozenset({outer, fold})
            known = [other for other in range(self.n_folds) if other not in left_out]
            blocks = [
                (matrix[rows] @ self.linear_weights(family, left_out))[:, None]
                for family, matrix in self.design.linear.items()
            ]
            blocks += [counts.score(rows, known) for counts in self.counts.values()]
            if self.has_file:
                blocks.append(self._near_answers(np.isin(self.folds, known))[rows])
            values[rows] = np.hstack(blocks)
        values = layout.centred(values)
        values = spread_of_one(values)
        names = [family for family, width in zip(families, widths, strict=True) for _ in range(width)]
        file_families = {family for family, (tier, _) in RATE_FAMILIES.items() if tier == "file"} | {NEAR_ROWS}
        set_families = {family for family, (tier, _) in RATE_FAMILIES.items() if tier == "set"}
        tiers = ["file" if name in file_families else "set" if name in set_families else "item" for name in names]
        return Columns(
            np.hstack([self.design.numbers, values]),
            np.concatenate([self.design.families, names]),
            [*self.design.names, *names],
            np.concatenate([self.design.tiers, tiers]),
            np.concatenate([np.zeros(len(self.design.names), bool), [name != NEAR_ROWS for name in names]]),
        )

    def _near_answers(self, is_known: NDArray[np.bool_]) -> Floats:
        """Return (R, 2 D) whether a known answer D rows away has the index or the text of each option."""
        layout = self.design.layout
        order = np.argsort([question.order for question in layout.questions], kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        texts = np.array(layout.texts, dtype=object)
        values = np.zeros((layout.n_rows, 2 * len(ROW_DISTANCES)))
        has_order = np.array([question.is_ordered or question.is_label for question in layout.questions])
        for at, distance in enumerate(ROW_DISTANCES):
            target = place + distance
            is_inside = (target >= 0) & (target < len(order))
            near = order[np.clip(target, 0, len(order) - 1)]
            is_used = (is_inside & is_known[near])[layout.item]
            answer = self.answers[near][layout.item]
            values[:, 2 * at] = is_used & has_order[layout.item] & (layout.position == answer)
            values[:, 2 * at + 1] = is_used & (texts == texts[layout.starts[near] + self.answers[near]][layout.item])
        return values


def answer_held_out(
    stack: Stack,
    tiers: Sequence[Tier],
    seed: int,
    explain: Tier | None = None,
    outer_folds: Sequence[int] | None = None,
) -> Answered:
    """Answer folds with models that know the others; of the tier `explain`, also with each family alone.

    `outer_folds`: all by default.
    """
    answered = Answered({tier: np.zeros(stack.design.layout.n_rows) for tier in tiers})
    for outer in range(stack.n_folds) if outer_folds is None else outer_folds:
        _answer_fold(stack, outer, answered, seed, explain)
    return answered


def _answer_fold(stack: Stack, outer: int, answered: Answered, seed: int, explain: Tier | None) -> None:
    """Answer one fold; its columns and models leave memory before those of the next."""
    columns = stack.columns(outer)
    is_held_out = stack.fold_of_row == outer
    learner, scale = _select(stack, columns, outer, seed)
    answered.learners.append(learner)
    for tier, scores in answered.scores.items():
        used = columns.of_tier(tier)
        models = Models(stack, columns, used, stack.folds != outer, learner, seed + outer)
        scores[is_held_out] = scale * models.scores(is_held_out)
        if tier == explain:
            _explain(answered, models, np.flatnonzero(stack.folds == outer))


def _select(stack: Stack, columns: Columns, outer: int, seed: int) -> tuple[str, float]:
    """Return the learner that answers most items of one training fold, trained on the other training folds.

    Also return the factor that makes its scores log-probabilities there (Guo et al. 2017).
    """
    inner = (outer + 1) % stack.n_folds
    is_held_out = stack.fold_of_row == inner
    used = columns.of_tier("set")
    layout = stack.design.layout
    models = Models(stack, columns, used, ~np.isin(stack.folds, [outer, inner]), LEARNERS[0], seed + outer)
    shares, scored = [], []
    for learner in LEARNERS:
        scores = np.zeros(layout.n_rows)
        scores[is_held_out] = models.scores(is_held_out, learner)
        scored.append(scores)
        shares.append(layout.credits(scores, stack.answers)[stack.folds == inner].mean())
    best = int(np.argmax(shares))
    right = is_held_out & (stack.right > 0)
    likelihoods = [np.log(layout.probabilities(scale * scored[best])[right]).sum() for scale in SCALES]
    return LEARNERS[best], SCALES[int(np.argmax(likelihoods))]


class Models:
    """A choice model and trees, trained on some items."""

    def __init__(
        self,
        stack: Stack,
        columns: Columns,
        used: NDArray[np.bool_],
        is_training: NDArray[np.bool_],
        learner: str,
        seed: int,
    ) -> None:
        self.layout, self.types, self.columns, self.used, self.learner = (
            stack.design.layout,
            stack.design.types,
            columns,
            used,
            learner,
        )
        items = np.flatnonzero(is_training)
        n_most = int(MAX_STACKED_ROWS / self.layout.sizes[items].mean())
        if len(items) > n_most:
            items = np.random.default_rng(seed).choice(items, n_most, replace=False)
        is_training = np.isin(np.arange(len(is_training)), items)
        rows = is_training[self.layout.item]
        sizes, right = self.layout.sizes[is_training], stack.right[rows]
        self.weights = np.zeros(columns.values.shape[1])
        # Also if only trees answer: explanations read them.
        data, is_learned = columns.values[np.ix_(rows, used)], columns.is_learned[used]
        self.weights[used] = fit_choices(data, sizes, right, STACK_PENALTY, is_positive=is_learned)
        if learner != "linear":
            # Only here: its libraries occupy 60 MB, also in processes that load the solver and never run it.
            from foilworks.core.solver.scikit_learn import HistGradientBoostingClassifier

            n_types = self.types.shape[1]
            self.trees = HistGradientBoostingClassifier(
                max_iter=N_TREES,
                learning_rate=LEARNING_RATE,
                max_leaf_nodes=MAX_LEAVES,
                min_samples_leaf=10,
                l2_regularization=2.0,
                max_bins=63,
                early_stopping=False,
                monotonic_cst=[0] * n_types + is_learned.astype(int).tolist(),
                random_state=seed,
            ).fit(np.hstack([self.types[rows], data], dtype=np.float32, casting="same_kind"), right)

    def scores(self, rows: NDArray[np.bool_], learner: str = "", without: NDArray[np.bool_] | None = None) -> Floats:
        """Return the scores of rows of whole items, centred within items. `without`: (F,) columns that say nothing."""
        learner = learner or self.learner
        values = self.columns.values[rows]
        if without is not None:
            values[:, without] = 0.0
        total = np.zeros(len(values))
        if learner != "trees":
            total += values @ self.weights
        if learner != "linear":
            data = np.hstack([self.types[rows], values[:, self.used]], dtype=np.float32, casting="same_kind")
            total += self.trees.decision_function(data)
        return total


def _explain(answered: Answered, models: Models, items: Codes) -> None:
    layout, columns = models.layout, models.columns
    rows = np.isin(layout.item, items)
    scores = np.full(layout.n_rows, -np.inf)
    scores[rows] = models.scores(rows)
    is_best = scores >= np.maximum.reduceat(scores, layout.starts)[layout.item]
    best = np.array([layout.starts[item] + np.argmax(is_best[layout.starts[item] :]) for item in items])
    for family in dict.fromkeys(columns.families[models.used].tolist()):
        is_family = columns.families == family
        alone = answered.alone.setdefault(family, np.zeros(layout.n_rows))
        alone[rows] = models.scores(rows, without=~is_family)
        names = answered.features.setdefault(family, [""] * len(layout.questions))
        of_family = np.flatnonzero(is_family)
        strongest = np.argmax(columns.values[np.ix_(best, of_family)] * models.weights[of_family], axis=1)
        for item, column in zip(items, of_family[strongest], strict=True):
            names[item] = columns.names[column]
