"""Count each person's work, its time and the share of the clip played (docs/reference/formulas.md#metric-watch)."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

VERSION = "1"
INPUT = "people"


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """One task that a person did.

    `seconds` and `covered` (share of the clip that was played, 0..1) are None if unknown.
    """

    person: str
    stage: str
    seconds: float | None = None
    covered: float | None = None
    late: bool = False
    counted: bool = True
    simulated: bool = False


def compute(work: Sequence[WorkFacts]) -> dict[str, Any]:
    """Return one row per person and stage, most work first.

    A row has the number of tasks, the counted and the late ones, and the medians of time and share played.
    """
    groups: dict[tuple[str, str], list[WorkFacts]] = {}
    for piece in work:
        groups.setdefault((piece.person, piece.stage), []).append(piece)
    rows = [_row(person, stage, pieces) for (person, stage), pieces in groups.items()]
    return {
        "people": sorted(rows, key=lambda row: (row["stage"], -row["n"], row["person"])),
        "n_people": len({person for person, _ in groups}),
        "n_pieces": len(work),
    }


def _row(person: str, stage: str, pieces: Sequence[WorkFacts]) -> dict[str, Any]:
    seconds = [piece.seconds for piece in pieces if piece.seconds is not None]
    covered = [piece.covered for piece in pieces if piece.covered is not None]
    return {
        "person": person,
        "stage": stage,
        "simulated": any(piece.simulated for piece in pieces),
        "n": len(pieces),
        "n_counted": sum(piece.counted for piece in pieces),
        "n_late": sum(piece.late for piece in pieces),
        "median_seconds": median(seconds) if seconds else None,
        "median_covered": median(covered) if covered else None,
    }
