"""Balanced selection: the largest set of pairs in which each word is replaced as often as it is inserted.

A pair is a step from the words it replaces to the words it inserts. If all pairs change one word, this is a maximum
balanced circulation, and its linear programme has integer vertices. Pairs that change several words make it an
integer programme over word counts, which HiGHS solves by the same call. Balance is exact, word by word: the training
labels of a bag-of-words classifier are then uncorrelated with every word, so that the one fitted on all kept pairs has
no weight but zero (its penalised likelihood is strictly concave and its gradient vanishes there) and answers .5.
Ours (docs/explanation/balance.md#balanced-selection); frequency matching (ViLMA, Sec. C.6) is
generation/balance/frequency.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from generation.balance.balanced_pairs import Change, Pair, PairSelection, change
from generation.errors import GenerationError

# A limit of work instead of time: the same pairs give the same answer on every machine. `at_most` is the proved bound.
NODES = 2_000


def select(
    pairs: Sequence[Pair], *, per_group: int | None = 1, fixed: Sequence[Pair] = (), nodes: int = NODES
) -> PairSelection:
    """Choose the most `pairs`, at most `per_group` per group, such that every word is balanced.

    `per_group` None: a group stays or leaves as a whole (items that are judged already), and as many groups as
    possible stay. `fixed` pairs always stay (people have worked on them) and count in their
    group: their imbalance is minimized first, then the number of pairs is maximized.
    Among equally large choices the result is always the same, whatever the order of the pairs.
    GenerationError: two pairs of one id, or `per_group` below 1.
    """
    if per_group is not None and per_group < 1:
        raise GenerationError(f"per_group is {per_group}; keep at least one foil per group")
    if len({pair.id for pair in pairs}) != len(pairs):
        raise GenerationError("two pairs have the same id; give each pair its own id")
    if not pairs:
        return PairSelection((), (), 0)
    units = _units(pairs, by_group=per_group is None)
    is_taken, bound = _solve(units, per_group, fixed, nodes)
    selected_ids = {name for unit, is_kept in zip(units, is_taken, strict=True) if is_kept for name in unit.ids}
    return PairSelection(
        tuple(pair.id for pair in pairs if pair.id in selected_ids),
        tuple(pair.id for pair in pairs if pair.id not in selected_ids),
        bound,
    )


@dataclass(frozen=True)
class _Unit:
    """Pairs that stay or leave together, with the sum of their changes."""

    ids: tuple[str, ...]
    group: str
    change: Change


def _units(pairs: Sequence[Pair], *, by_group: bool) -> list[_Unit]:
    ordered = sorted(pairs, key=lambda pair: pair.id)
    if not by_group:
        return [_Unit((pair.id,), pair.group, change(pair.caption, pair.foil)) for pair in ordered]
    members: dict[str, list[Pair]] = {}
    for pair in ordered:
        members.setdefault(pair.group, []).append(pair)
    return [
        _Unit(tuple(pair.id for pair in group_pairs), name, _sum(group_pairs))
        for name, group_pairs in sorted(members.items())
    ]


def _sum(pairs: Sequence[Pair]) -> Change:
    total: Change = {}
    for pair in pairs:
        for word, times in change(pair.caption, pair.foil).items():
            total[word] = total.get(word, 0) + times
    return {word: times for word, times in total.items() if times}


def _solve(
    units: list[_Unit], per_group: int | None, fixed: Sequence[Pair], nodes: int
) -> tuple[NDArray[np.bool_], int]:
    """Return (n,) which units stay, and an upper bound of the pairs.

    Columns: the units, then two for every word of fixed pairs, one for the excess on either side, so expensive that no
    number of units pays for one.
    """
    changes = [unit.change for unit in units]
    fixed_change = _sum(fixed)
    vocabulary = sorted({word for row in [*changes, fixed_change] for word in row})
    slack = sorted(fixed_change)
    words = _word_matrix(changes, vocabulary, slack)
    goal = np.array([-fixed_change.get(word, 0) for word in vocabulary], dtype=np.float64)
    groups, room = _group_matrix(units, per_group, fixed, words.shape[1])
    cost = np.concatenate([np.full(len(units), -1.0), np.full(2 * len(slack), len(units) + 1.0)])
    upper = np.concatenate([np.ones(len(units)), np.full(2 * len(slack), np.inf)])
    solution = scipy.optimize.milp(
        cost,
        constraints=[
            scipy.optimize.LinearConstraint(words, goal, goal),
            scipy.optimize.LinearConstraint(groups, -np.inf, room),
        ],
        integrality=np.ones(len(cost)),
        bounds=scipy.optimize.Bounds(0, upper),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )
    if solution.x is None:
        # No solution within the limit of work: the empty choice is always balanced.
        return np.zeros(len(units), dtype=np.bool_), len(units)
    is_taken = solution.x[: len(units)] > 0.5
    if solution.status == 0:
        return is_taken, int(is_taken.sum())
    # The cost of unbalanced words is not a unit: a choice with fewer of them costs less.
    paid = cost[len(units) :] @ solution.x[len(units) :]
    return is_taken, int(min(len(units), np.floor(1e-6 + paid - solution.mip_dual_bound)))


def _word_matrix(changes: list[dict[str, int]], vocabulary: list[str], slack: list[str]) -> "scipy.sparse.csr_array":
    row_of = {word: row for row, word in enumerate(vocabulary)}
    rows = [row_of[word] for unit_change in changes for word in unit_change]
    columns = [column for column, unit_change in enumerate(changes) for _ in unit_change]
    values = [float(times) for unit_change in changes for times in unit_change.values()]
    for index, word in enumerate(slack):
        rows += [row_of[word]] * 2
        columns += [len(changes) + 2 * index, len(changes) + 2 * index + 1]
        values += [1.0, -1.0]
    shape = (len(vocabulary), len(changes) + 2 * len(slack))
    return scipy.sparse.csr_array((values, (rows, columns)), shape=shape)


def _group_matrix(
    units: list[_Unit], per_group: int | None, fixed: Sequence[Pair], width: int
) -> tuple["scipy.sparse.csr_array", NDArray[np.float64]]:
    """Return a row per group, and how many of its pairs may still stay; groups that cannot overflow have no row."""
    if per_group is None:
        return scipy.sparse.csr_array((1, width)), np.zeros(1)
    members: dict[str, list[int]] = {}
    for column, unit in enumerate(units):
        members.setdefault(unit.group, []).append(column)
    fixed_counts: dict[str, int] = {}
    for pair in fixed:
        fixed_counts[pair.group] = fixed_counts.get(pair.group, 0) + 1
    remaining_room = {name: max(0, per_group - fixed_counts.get(name, 0)) for name in members}
    tight = [name for name in members if len(members[name]) > remaining_room[name]]
    rows = [row for row, name in enumerate(tight) for _ in members[name]]
    columns = [column for name in tight for column in members[name]]
    matrix = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(tight), width))
    return matrix, np.array([float(remaining_room[name]) for name in tight])
