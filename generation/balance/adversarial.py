"""Adversarial refinement (SugarCrepe, Alg. 1): equalize mirrored cells of two score gaps.

Each pair has two gaps, caption minus foil under two text-only models. The plane [-1, 1] x [-1, 1] is divided into
grid x grid cells; a cell and its mirror image through the origin keep as many pairs as the smaller of the two, so that
no rule on the two scores is right more often than wrong.
"""

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from generation.balance.balanced_pairs import PairSelection
from generation.errors import GenerationError

GRID = 50

Cell = tuple[int, int]


def refine(ids: Sequence[str], gaps: NDArray[np.float64], *, grid: int = GRID, seed: int = 0) -> PairSelection:
    """Choose pairs by `gaps` (n, 2). Gaps beyond 1 (log-likelihoods) are divided by the largest of their column.

    A gap of 0 belongs to neither half: such a cell mirrors itself in that coordinate, while the published code
    puts it into the upper half. GenerationError: an odd or non-positive grid, or gaps that are not numbers.
    """
    if grid < 2 or grid % 2:
        raise GenerationError(f"the grid is {grid}; give an even number of cells per side")
    if gaps.shape != (len(ids), 2) or not np.isfinite(gaps).all():
        raise GenerationError("adversarial refinement needs two scores per foil; score the foils first")
    cells: dict[Cell, list[str]] = {}
    for name, row in sorted(zip(ids, _scaled(gaps), strict=True), key=lambda pair: pair[0]):
        cells.setdefault(_cell(row, grid), []).append(name)
    selected_ids: set[str] = set()
    generator = random.Random(seed)
    for cell in sorted(cells):
        selected_ids.update(generator.sample(cells[cell], min(len(cells[cell]), len(cells.get(_mirror(cell), ())))))
    most = len(selected_ids)
    return PairSelection(
        tuple(name for name in ids if name in selected_ids),
        tuple(name for name in ids if name not in selected_ids),
        most,
    )


def _scaled(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = np.abs(gaps).max(axis=0, initial=0.0)
    return gaps / np.maximum(largest, 1.0)


def _cell(row: NDArray[np.float64], grid: int) -> Cell:
    """Number the cells outwards from the axes, so that the mirror image of a cell is its negative."""
    half_grid = grid // 2
    first, second = (int(np.sign(gap)) * (1 + min(half_grid - 1, int(abs(gap) * half_grid))) for gap in row)
    return first, second


def _mirror(cell: Cell) -> Cell:
    return -cell[0], -cell[1]
