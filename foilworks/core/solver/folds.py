"""Find the items that must not teach each other, and spread the rest over folds.

Groups are videos, never texts: a text used with many clips is a template, which a solver learns. Mirrored sets (the
same texts with different clips and different answers) stay in one fold.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from foilworks.core.solver.questions import Answers, Question

Codes = NDArray[np.int64]
MAX_MIRRORED = 4
# Items with one text, or one answer, that are spread evenly over the folds.
MIN_FREQUENT = 5
BALANCED_P = 0.05
# Share of the items in one group; with a larger one, little is left to learn from.
MAX_GROUP_SHARE = 0.2
# Standard errors by which answers of equal texts differ more often than by chance.
CONTRAST = 1.64


@dataclass(frozen=True)
class Structure:
    """Codes (n,) of the items.

    `groups` share a fold; `sets` are the groups without videos; `blocks` are the units of intervals; `mirrored` and
    `copies` are sets, -1 for an item of none. `is_grouped`: some items share a video or a declared group.
    """

    groups: Codes
    sets: Codes
    blocks: Codes
    mirrored: Codes
    copies: Codes
    is_grouped: bool


def structure_of(questions: Sequence[Question], answers: Answers) -> Structure:
    """Return the groups, blocks, mirrored sets and copies of n questions.

    Answers decide only whether a file is mirrored; no feature reads them here.
    """
    n = len(questions)
    videos = [question.group or question.video or ("item", index) for index, question in enumerate(questions)]
    text_sets = sets_of((question.text, tuple(sorted(question.options))) for question in questions)
    small_sets = [
        rows for rows in text_sets if 2 <= len({questions[row].clip or str(row) for row in rows}) <= MAX_MIRRORED
    ]
    small_sets = [rows for rows in small_sets if len(rows) <= MAX_MIRRORED]
    declared = sets_of((question.pair or ("item", row)) for row, question in enumerate(questions))
    declared = [rows for rows in declared if len(rows) > 1]
    same_texts = small_sets if _is_contrasting(questions, answers, small_sets) else []
    mirrored = declared + [rows for rows in same_texts if _n_answers(questions, answers, rows) > 1]
    by_video = _codes(videos)
    sets = joined(np.arange(n), declared + same_texts)
    groups = joined(by_video, declared + same_texts)
    # Sets that link most videos: to keep the sets together matters more, because they would be answered wrongly.
    if _largest_share(groups) > MAX_GROUP_SHARE >= _largest_share(by_video):
        groups = sets
    blocks = joined(by_video, declared + small_sets)
    if _largest_share(blocks) > MAX_GROUP_SHARE:
        blocks = by_video
    copies = sets_of(
        (question.clip, question.text, tuple(sorted(question.options))) if question.clip else ("item", row)
        for row, question in enumerate(questions)
    )
    return Structure(
        groups,
        sets,
        blocks,
        _membership(n, mirrored),
        _membership(n, [rows for rows in copies if len(rows) > 1]),
        is_grouped=len(np.unique(groups)) < len(np.unique(sets)),
    )


def folds_of(groups: Codes, strata: Codes, n_folds: int, seed: int) -> Codes:
    """Return (n,) the fold of each item: whole groups, large ones first, each to the fold with fewest of its strata.

    If training folds have fewer of an answer whenever the held-out fold has more, a balanced set reads below chance.
    """
    generator = np.random.default_rng(seed)
    members = sets_of(groups.tolist())
    n_of_stratum = np.zeros((int(strata.max()) + 1, n_folds))
    fold_sizes, folds = np.zeros(n_folds), np.zeros(len(groups), dtype=np.int64)
    for index in sorted(generator.permutation(len(members)), key=lambda index: -len(members[index])):
        rows = members[index]
        near = n_of_stratum[strata[rows]].sum(axis=0)
        fold = int(np.lexsort((fold_sizes, near))[0])
        folds[rows] = fold
        fold_sizes[fold] += len(rows)
        np.add.at(n_of_stratum[:, fold], strata[rows], 1)
    return folds


def strata_of(questions: Sequence[Question], answers: Answers) -> Codes:
    """Return (n,) codes of items with the same answer to the same text, at the same index or with the same label.

    Each of the three counts for a kind of question only if the file balances it there: it varies less than random
    answers (chi-squared, lower tail, by Bonferroni over kinds). Folds that spread random answers evenly would let a
    learner repeat their majority. One skewed kind must not hide that another one is balanced by design.
    """
    texts = Counter((question.text, tuple(sorted(question.options))) for question in questions)
    schemes: list[list[tuple[Hashable, Hashable, int]]] = [[], [], []]
    for question, answer in zip(questions, answers, strict=True):
        n_options, right = len(question.options), question.options[answer]
        text = question.text, tuple(sorted(question.options))
        schemes[0].append((text if texts[text] >= MIN_FREQUENT else "", right, n_options))
        schemes[1].append(((question.kind, n_options) if question.is_ordered else "", int(answer), n_options))
        schemes[2].append(((question.kind,) if question.is_label else "", right, n_options))
    kinds = sets_of(question.kind for question in questions)
    codes: list[list[Hashable]] = [[] for _ in questions]
    for scheme in schemes:
        for rows in kinds:
            counts = is_balanced([scheme[row] for row in rows], BALANCED_P / len(kinds))
            for row in rows:
                group, right, _ = scheme[row]
                codes[row].append((group, right) if counts and group else "")
    return _codes(map(tuple, codes))


def is_balanced(rows: Sequence[tuple[Hashable, Hashable, int]], p: float) -> bool:
    """Report whether the answers of groups, (group, answer, number of options) each, vary less than random ones."""
    counts = Counter((group, right) for group, right, _ in rows if group)
    sizes = {group: n_options for group, _, n_options in rows if group}
    totals = Counter(group for group, _, _ in rows if group)
    # Answers that never occur have a count of 0: sum of c^2 * k / n - n.
    squares = sum(count**2 * sizes[group] / totals[group] for (group, _), count in counts.items())
    freedom = sum(sizes.values()) - len(sizes)
    return freedom > 0 and squares - sum(totals.values()) <= scipy.stats.chi2.ppf(p, freedom)


def largest_group_share(structure: Structure) -> float:
    """Return the share of the items in the largest group."""
    return _largest_share(structure.groups)


def sets_of(keys: Iterable[Hashable]) -> list[list[int]]:
    """Return the rows of each key."""
    rows = defaultdict(list)
    for row, key in enumerate(keys):
        rows[key].append(row)
    return list(rows.values())


def _codes(names: Iterable[Hashable]) -> Codes:
    codes: dict[Hashable, int] = {}
    return np.array([codes.setdefault(name, len(codes)) for name in names], dtype=np.int64)


def _n_answers(questions: Sequence[Question], answers: Answers, rows: Sequence[int]) -> int:
    return len({questions[row].options[answers[row]] for row in rows})


def _is_contrasting(questions: Sequence[Question], answers: Answers, sets: Sequence[Sequence[int]]) -> bool:
    """Report whether the answers of equal texts differ more often than those of a random draw.

    Single sets with different answers prove nothing: to keep only those in one fold would leave the sets with equal
    answers, which are half of a fair file, to be learned.
    """
    n_pairs = n_different = 0
    expected = variance = 0.0
    for rows in sets:
        texts = [questions[row].options[answers[row]] for row in rows]
        pairs = [(first, second) for index, first in enumerate(texts) for second in texts[index + 1 :]]
        n_different += sum(first != second for first, second in pairs)
        n_pairs += len(pairs)
        share = 1 - 1 / len(questions[rows[0]].options)
        expected += share * len(pairs)
        variance += share * (1 - share) * len(pairs)
    return n_pairs > 0 and n_different >= min(n_pairs, expected + CONTRAST * np.sqrt(variance))


def joined(codes: Codes, sets: Sequence[Sequence[int]]) -> Codes:
    """Return the groups in which all items of a code, and all of a set, are together."""
    n, n_codes = len(codes), int(codes.max()) + 1
    rows = [np.arange(n), *(np.asarray(members) for members in sets)]
    columns = [codes, *(np.full(len(members), n_codes + index) for index, members in enumerate(sets))]
    ends = n + np.concatenate(columns)
    size = n + n_codes + len(sets)
    edges = sparse.coo_array((np.ones(len(ends)), (np.concatenate(rows), ends)), shape=(size, size))
    labels = csgraph.connected_components(edges, directed=False)[1]
    return np.unique(labels[:n], return_inverse=True)[1].astype(np.int64)


def _membership(n: int, sets: Sequence[Sequence[int]]) -> Codes:
    codes = np.full(n, -1, dtype=np.int64)
    for index, rows in enumerate(sets):
        codes[list(rows)] = index
    return codes


def _largest_share(codes: Codes) -> float:
    return float(np.bincount(codes).max() / len(codes))
