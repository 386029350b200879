"""Measure what the file of a clip gives away: how it was made and encoded, crossed with the words of its texts.

No frame is looked at. If clips of "closes" come from another encoder than clips of "opens", or are always the reversed
ones, the file answers the item. As in `solve`, the value is that of a model that learns from other videos.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from foilworks.core.solver.choice_model import fit_choices
from foilworks.core.solver.folds import BALANCED_P, folds_of, is_balanced, joined, largest_group_share, structure_of
from foilworks.core.solver.inference import block_interval, verdict_of
from foilworks.core.solver.keys import key_matrix
from foilworks.core.solver.layout import Layout
from foilworks.core.solver.learner import N_FOLDS
from foilworks.core.solver.questions import Answers, Question
from foilworks.core.solver.solution import Interval, Verdict

Codes = NDArray[np.int64]
Facts = Mapping[str, str | float]
# How a clip is played, if its benchmark says so: sets balance it over their texts.
PLAYED = "played"
PENALTY = 2.0
# A number with more values is cut into quarters of the items.
MAX_VALUES = 6
QUARTERS = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class ClipSide:
    """The share of n items that the facts of their clips answer, with 95 % interval and verdict.

    Each fold is answered by all facts or by one, whichever answers most items of the other folds.
    `texts`: the share by the words alone; `alone`: fact -> the share by this fact with the words.
    """

    value: float
    interval: Interval
    chance: float
    n: int
    verdict: Verdict
    texts: float
    alone: Mapping[str, float]


def clip_side(
    questions: Sequence[Question], answers: Answers, facts: Sequence[Facts], seed: int = 0
) -> ClipSide | None:
    """Return what the facts of n clips give away; None with fewer than `N_FOLDS` groups of videos.

    `facts`: of each item, name -> a word or a number; an item may lack some. A fact that all clips share says nothing.
    """
    layout = Layout.of(questions)
    words = _differing(layout)
    values = _as_words(facts)
    structure = structure_of(questions, answers)
    groups = joined(structure.groups, _twins(layout, words, values, answers, structure.groups))
    if len(np.unique(groups)) < N_FOLDS:
        return None
    folds = folds_of(groups, np.zeros(len(groups), dtype=np.int64), N_FOLDS, seed)
    names = dict.fromkeys(name for row in values for name in row)
    crossed = {name: _crossed(layout, words, values, [name]) for name in names}
    together = [[*own, *keys] for own, keys in zip(words, _crossed(layout, words, values, list(names)), strict=True)]
    answered = {name: _held_out(layout, answers, folds, keys) for name, keys in {**crossed, "": together}.items()}
    held_out = _best_elsewhere(list(answered.values()), folds)
    value, interval = block_interval(held_out, structure.blocks)
    chance = float((1 / layout.sizes).mean())
    verdict = verdict_of(value, interval, chance, len(questions), largest_group_share(structure), is_certified=False)[0]
    texts = float(_held_out(layout, answers, folds, words).credits.mean())
    alone = {name: float(answered[name].credits.mean()) for name in names}
    return ClipSide(value, interval, chance, len(questions), verdict, texts, alone)


def _best_elsewhere(answered: "Sequence[_HeldOut]", folds: Codes) -> NDArray[np.float64]:
    """Return (n,) the credits of the facts that are best in the other folds, for each fold."""
    best = np.argmax([row.elsewhere for row in answered], axis=0)
    return np.array([answered[best[fold]].credits[item] for item, fold in enumerate(folds)])


def _differing(layout: Layout) -> list[list[str]]:
    """Return, of R options, the words that not all options of their item have; of equal words, the pairs of words.

    Of a labelled statement, each label has all words of the statement.
    """
    rows: list[list[str]] = []
    for item, start in enumerate(layout.starts):
        if layout.is_label[item]:
            rows += [
                [f"{label}: {word}" for word in layout.question_words[item]] for label in layout.questions[item].options
            ]
            continue
        options = layout.option_words[start : start + layout.sizes[item]]
        if len(set(map(frozenset, options))) == 1:
            options = [list(map(" ".join, pairwise(words))) for words in options]
        shared = set.intersection(*map(set, options))
        rows += [[word for word in dict.fromkeys(words) if word not in shared] for words in options]
    return rows


def _as_words(facts: Sequence[Facts]) -> list[dict[str, str]]:
    """Return the facts with numbers as their quarter, or as they are if they have few values."""
    edges: dict[str, NDArray[np.float64]] = {}
    for name in dict.fromkeys(key for row in facts for key in row):
        numbers = [value for row in facts if isinstance(value := row.get(name), float)]
        if len(set(numbers)) > MAX_VALUES:
            edges[name] = np.quantile(numbers, QUARTERS)
    return [
        {name: str(np.searchsorted(edges[name], value)) if name in edges else str(value) for name, value in row.items()}
        for row in facts
    ]


def _crossed(
    layout: Layout, words: Sequence[Sequence[str]], values: Sequence[Mapping[str, str]], names: Sequence[str]
) -> list[list[str]]:
    """Return the keys of R options: each fact of their clip with each of their words."""
    return [
        [f"{name}={values[item][name]}|{word}" for name in names if name in values[item] for word in own]
        for item, own in zip(layout.item, words, strict=True)
    ]


def _twins(
    layout: Layout, words: Sequence[Sequence[str]], values: Sequence[Mapping[str, str]], answers: Answers, groups: Codes
) -> list[list[int]]:
    """Return pairs of items with equally played clips, the same words and opposite answers, if a set balances those.

    Both must be in one fold: if a fold lacks one of them, its opposite is learned, and a balanced set reads below
    chance.
    """
    rows = []
    for item, (start, size) in enumerate(zip(layout.starts, layout.sizes, strict=True)):
        options = [" ".join(own) for own in words[start : start + size]]
        rows.append(((values[item].get(PLAYED, ""), tuple(sorted(options))), options[answers[item]], int(size)))
    if not is_balanced(rows, BALANCED_P):
        return []
    by_answer: dict[Hashable, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    # By video, so that the clips of two videos, played in both ways, make one pair and not a chain.
    for item in np.argsort(groups, kind="stable").tolist():
        group, right, _ = rows[item]
        by_answer[group][right].append(item)
    return [list(items) for answered in by_answer.values() for items in zip(*answered.values(), strict=False)]


@dataclass(frozen=True)
class _HeldOut:
    """(n,) `credits` of items by a model of the other folds; (folds,) `elsewhere`: those of the other folds' items, by
    models that know neither the fold nor their own."""

    credits: NDArray[np.float64]
    elsewhere: NDArray[np.float64]


def _held_out(layout: Layout, answers: Answers, folds: Codes, keys: Sequence[Sequence[str]]) -> _HeldOut:
    matrix, right = key_matrix(keys), layout.right_rows(answers)

    def credits_without(left_out: tuple[int, ...]) -> NDArray[np.float64]:
        is_used = ~np.isin(folds, left_out)
        rows = is_used[layout.item]
        return layout.credits(matrix @ fit_choices(matrix[rows], layout.sizes[is_used], right[rows], PENALTY), answers)

    credits = np.zeros(len(folds))
    sums = np.zeros(N_FOLDS)
    for fold in range(N_FOLDS):
        credits[folds == fold] = credits_without((fold,))[folds == fold]
    for first, second in combinations(range(N_FOLDS), 2):
        both = credits_without((first, second))
        sums[first] += both[folds == second].sum()
        sums[second] += both[folds == first].sum()
    return _HeldOut(credits, sums / (len(folds) - np.bincount(folds, minlength=N_FOLDS)))
