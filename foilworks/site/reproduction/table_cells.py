"""A cell of a paper's table beside ours, and the result of one paper. No tables of the database, no models."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

State = Literal["equal", "differs", "not public", "simulated", "tiny model"]
STATES: tuple[State, ...] = get_args(State)
# Half a unit of the last digit, and what binary fractions lose.
HALF, TOLERANCE = 0.5, 1e-9
NO_NUMBER = "the paper gives no number"
NOT_GIVEN = "source not given: {}"


class Source(NamedTuple):
    """A public file: its published name (a pattern of `Path.glob`), where it is published, the tables it feeds."""

    name: str
    where: str
    feeds: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """One number of a paper beside ours. `table`: such as "ViLMA, Table 6". `why`: why it differs or is missing."""

    table: str
    row: str
    column: str
    paper: float | None
    ours: float | None
    state: State
    why: str = ""


@dataclass(frozen=True)
class Result:
    """All cells of one paper. `notes`: misprints and choices; `missing`: one line per source that was not given."""

    paper: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...]


def compare(
    table: str, row: str, column: str, paper: float | None, reproduced: float | None, *, digits: int, why: str = ""
) -> Cell:
    """Return the cell: equal if `reproduced` rounds to `paper` at `digits` decimals, not public if it is None."""
    state: State = "differs"
    if reproduced is None:
        state = "not public"
    elif paper is None:
        why = why or NO_NUMBER
    elif abs(reproduced - paper) <= HALF * 10**-digits + TOLERANCE:
        state, why = "equal", ""
    return Cell(table, row, column, paper, reproduced, state, why)


def missing_lines(sources: Sequence[Source], available: Mapping[str, object]) -> tuple[str, ...]:
    """Return one line per source whose name is not a key of `available`."""
    return tuple(
        f"{source.name}: not found, so {', '.join(source.feeds)} stay empty; it is published at {source.where}"
        for source in sources
        if source.name not in available
    )


def count_states(cells: Sequence[Cell]) -> dict[State, int]:
    """Return the number of cells per state, in the order of `STATES`, without empty ones."""
    counted = Counter(cell.state for cell in cells)
    return {state: counted[state] for state in STATES if counted[state]}
