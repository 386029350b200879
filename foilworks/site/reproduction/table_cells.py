"""A cell of a paper's table beside ours, and the result of one paper. No tables of the database, no models."""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, get_args

State = Literal[
    "equal",
    "differs",
    "simulated",
    "tiny model",
    "other data",
    "not given",
    "needs weights",
    "not published",
    "no number in the paper",
]
STATES: tuple[State, ...] = get_args(State)
# Half a unit of the last digit, and what binary fractions lose.
HALF, TOLERANCE = 0.5, 1e-9
NO_NUMBER = "the paper prints no number here"
NOT_GIVEN = "source not given: {}; it is published at {}"
NOT_FOUND = "{}: not found, so {} stay empty; it is published at {}"
CONTRADICTION = "The paper contradicts itself: {}"
OTHER_HASH = "{} is not the published file: its SHA-256 is another"


class Source(NamedTuple):
    """A public file: its published name (a pattern of `Path.glob`), where and under which terms, and its tables."""

    name: str
    where: str
    feeds: tuple[str, ...]


class Caveat(NamedTuple):
    """What keeps a number from being compared: the state of its cell, and why."""

    state: State
    why: str


def not_given(name: str, where: str) -> Caveat:
    """Return the caveat of cells whose source is not in the folder."""
    return Caveat("not given", NOT_GIVEN.format(name, where))


def other_hash(path: Path, published: Collection[str]) -> Caveat | None:
    """Return the caveat of a file whose SHA-256 is not among the published ones; None for the published file."""
    with path.open("rb") as file:
        is_published = hashlib.file_digest(file, "sha256").hexdigest() in published
    return None if is_published else Caveat("other data", OTHER_HASH.format(path.name))


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
    table: str,
    row: str,
    column: str,
    paper: float | None,
    reproduced: float | None,
    *,
    digits: int,
    why: str = "",
    caveat: Caveat | None = None,
) -> Cell:
    """Return the cell of a number: equal if `reproduced` rounds to `paper` at `digits` decimals, otherwise it differs.

    A `caveat` comes first, whatever the numbers are. `why`: the reason if it differs; ValueError without one.
    """
    if paper is None:
        caveat = Caveat("no number in the paper", why or NO_NUMBER)
    if caveat is not None:
        return Cell(table, row, column, paper, reproduced, *caveat)
    if paper is not None and reproduced is not None and abs(reproduced - paper) <= HALF * 10**-digits + TOLERANCE:
        return Cell(table, row, column, paper, reproduced, "equal")
    if reproduced is None or not why:
        raise ValueError(f"{table}, {row}, {column}: give the reason why there is no equal number")
    return Cell(table, row, column, paper, reproduced, "differs", why)


def missing_lines(sources: Sequence[Source], available: Mapping[str, object]) -> tuple[str, ...]:
    """Return one line per source whose name is not a key of `available`."""
    return tuple(
        NOT_FOUND.format(source.name, ", ".join(source.feeds), source.where)
        for source in sources
        if source.name not in available
    )


def count_states(cells: Sequence[Cell]) -> dict[State, int]:
    """Return the number of cells per state, in the order of `STATES`, without empty ones."""
    counted = Counter(cell.state for cell in cells)
    return {state: counted[state] for state in STATES if counted[state]}
