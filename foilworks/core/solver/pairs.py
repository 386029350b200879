"""Solve pairs of a caption and a foil, and return a row of JSON values for each subtest and for all pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.solver.inference import verdict_of
from foilworks.core.solver.questions import Row, separate_answers
from foilworks.core.solver.solution import Interval, KindResult, Verdict
from foilworks.core.solver.solve import first_view

OVERALL = "overall"
# The row of pairs that the solver cannot learn from.
UNSOLVED = {"solver_accuracy": None, "ci": None, "verdict": None, "reason": "too few videos to learn from"}

SolvedRow = Mapping[str, Any]


def solve_pairs(rows: Sequence[Row], seed: int = 0) -> dict[str, SolvedRow]:
    """Return the solver's value, interval and verdict of each subtest (the `kind` of a row) and of all, `OVERALL`.

    `rows` of one video do not teach each other. Without rows, or with fewer than five videos, the result is empty.
    """
    if not rows:
        return {}
    solution = first_view(*separate_answers(rows), seed=seed)
    whole = solution.headline
    if whole.why == "few":
        return {}
    row = _solved_row(whole.value, whole.interval, whole.verdict)
    of_kinds = {
        kind.kind: _solved_row(kind.value, kind.interval, _verdict_of_kind(kind, rows)) for kind in solution.kinds
    }
    return {OVERALL: row, **(of_kinds or {rows[0].kind: row})}


def _verdict_of_kind(result: KindResult, rows: Sequence[Row]) -> Verdict:
    videos = Counter(row.video for row in rows if row.kind == result.kind)
    largest = max(videos.values()) / result.n
    verdict, _why, _n = verdict_of(result.value, result.interval, result.chance, result.n, largest, False)
    return verdict


def _solved_row(value: float, interval: Interval, verdict: Verdict) -> SolvedRow:
    return {"solver_accuracy": value, "ci": list(interval), "verdict": verdict, "reason": None}
