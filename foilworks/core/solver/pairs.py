"""Solve pairs of a caption and a foil, and return a row of JSON values for each subtest and for all pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from foilworks.core.solver.inference import verdict_of
from foilworks.core.solver.questions import Question, Row, separate_answers
from foilworks.core.solver.solution import HEADLINE, Interval, KindResult, Solution, Verdict
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
    questions, answers = separate_answers(rows)
    solved = solved_rows(first_view(questions, answers, seed=seed), questions)
    return {name: {key: value for key, value in row.items() if key != "chance"} for name, row in solved.items()}


def solved_rows(solution: Solution, questions: Sequence[Question]) -> dict[str, SolvedRow]:
    """Return the rows of a solution with the `chance` of each; empty with fewer than five videos."""
    whole = solution.headline
    if solution.tiers[HEADLINE].why == "few":
        return {}
    row = _solved_row(whole.value, whole.interval, whole.verdict, whole.chance)
    videos: dict[str, Counter[str]] = {}
    for index, question in enumerate(questions):
        videos.setdefault(question.kind, Counter())[question.video or f"item {index}"] += 1
    of_kinds = {
        kind.kind: _solved_row(kind.value, kind.interval, _verdict_of_kind(kind, videos[kind.kind]), kind.chance)
        for kind in solution.kinds
    }
    return {OVERALL: row, **(of_kinds or {questions[0].kind: row})}


def _verdict_of_kind(result: KindResult, videos: Counter[str]) -> Verdict:
    largest = max(videos.values()) / result.n
    return verdict_of(result.value, result.interval, result.chance, result.n, largest, False)[0]


def _solved_row(value: float, interval: Interval, verdict: Verdict, chance: float) -> SolvedRow:
    return {"solver_accuracy": value, "ci": list(interval), "verdict": verdict, "reason": None, "chance": chance}
