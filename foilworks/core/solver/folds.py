"""Find the items that must not teach each other, and spread the rest over folds.

Groups are videos, never texts: a text used with many clips is a template, which a solver learns. Mirrored sets (the
same texts with different clips and different answers) stay in one fold.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from foilworks.core.solver.questions import Answers, Question

Codes = NDArray[np.int64]
MAX_MIRRORED = 4
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
    text_sets = _sets_of((question.text, tuple(sorted(question.options))) for question in questions)
    small_sets = [
        rows for rows in text_sets if 2 <= len({questions[row].clip or str(row) for row in rows}) <= MAX_MIRRORED
    ]
    small_sets = [rows for rows in small_sets if len(rows) <= MAX_MIRRORED]
    declared = _sets_of((question.pair or ("item", row)) for row, question in enumerate(questions))
    declared = [rows for rows in declared if len(rows) > 1]
    same_texts = small_sets if _is_contrasting(questions, answers, small_sets) else []
    mirrored = declared + [rows for rows in same_texts if _n_answers(questions, answers, rows) > 1]
    by_video = _codes(videos)
    sets = _joined(np.arange(n), declared + same_texts)
    groups = _joined(by_video, declared + same_texts)
    # Sets that link most videos: to keep the sets together matters more, because they would be answered wrongly.
    if _largest_share(groups) > MAX_GROUP_SHARE >= _largest_share(by_video):
        groups = sets
    blocks = _joined(by_video, declared + small_sets)
    if _largest_share(blocks) > MAX_GROUP_SHARE:
        blocks = by_video
    copies = _sets_of(
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


def folds_of(groups: Codes, n_folds: int, seed: int) -> Codes:
    """Return (n,) the fold of each item: whole groups in random order, each to the fold with the fewest items."""
    generator = np.random.default_rng(seed)
    sizes = np.bincount(groups)
    order = generator.permutation(len(sizes))
    # Large groups first, so that the folds become equal; groups of one size stay in random order.
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_sizes = np.zeros(n_folds)
    fold_of_group = np.zeros(len(sizes), dtype=np.int64)
    for group in order:
        fold = int(np.argmin(fold_sizes))
        fold_of_group[group] = fold
        fold_sizes[fold] += sizes[group]
    return fold_of_group[groups]


def largest_group_share(structure: Structure) -> float:
    """Return the share of the items in the largest group."""
    return _largest_share(structure.groups)


def _sets_of(keys: Iterable[Hashable]) -> list[list[int]]:
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


def _joined(codes: Codes, sets: Sequence[Sequence[int]]) -> Codes:
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
