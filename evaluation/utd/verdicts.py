"""Conclude from the cells of a bias run: is a concept above chance, by how much, and what to do. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluation.utd.concepts import ACTIVITIES, DESCRIPTION, MIDDLE, OBJECTS, SEQUENCE, VERBS

ABOVE, AT, BELOW, UNKNOWN, MISSING = "above", "at", "below", "unknown", "missing"
# Excess over chance, as shades: a cell with an interval that contains chance has none.
SHADES = ((0.15, 3), (0.05, 2), (0.0, 1))
MARKS = {ABOVE: "▲", AT: "≈", BELOW: "▼", UNKNOWN: "?", MISSING: ""}
WORDS: dict[str, str | Promise] = {
    ABOVE: _("above chance"),
    AT: _("at chance"),
    BELOW: _("below chance"),
    UNKNOWN: _("uncertain"),
    MISSING: _("not measured"),
}
ADVICE: dict[tuple[str, str], str | Promise] = {
    (OBJECTS, ABOVE): _("Naming objects solves a part of the test set. Report models on the debiased split, too."),
    (OBJECTS, AT): _("Naming objects does not solve this test set. Results on the full set are enough."),
    (DESCRIPTION, ABOVE): _(
        "Descriptions of frames solve a part of the test set. Show this number beside the results of video models."
    ),
    (DESCRIPTION, AT): _("Descriptions of frames do not solve this test set."),
    (ACTIVITIES, ABOVE): _("Named activities solve a part of the test set. This is expected if classes are actions."),
    (ACTIVITIES, AT): _("Named activities do not solve this test set."),
    (VERBS, ABOVE): _("Verbs alone solve a part of the test set. This is expected if classes are actions."),
    (VERBS, AT): _("Verbs alone do not solve this test set."),
}
GENERAL: dict[str, str | Promise] = {
    BELOW: _("The texts mislead the model. Read some descriptions before you use this number."),
    UNKNOWN: _("The interval needs more source videos. Describe more videos, then measure again."),
    MISSING: _("The descriptions lack the texts of this concept. Add them, then measure again."),
}


def state_of(cell: Mapping[str, Any] | None, chance: float) -> str:
    """Return whether the interval of a cell is above chance, contains it, or is below it."""
    if cell is None or cell["value"] is None:
        return MISSING
    if cell["ci"] is None:
        return UNKNOWN
    low, high = cell["ci"]
    return ABOVE if low > chance else BELOW if high < chance else AT


def beside_chance(cell: Mapping[str, Any], chance: float) -> dict[str, Any]:
    """Return the distance of a cell from chance, with the mark, the words and the shade that show it."""
    state = state_of(cell, chance)
    over = None if state == MISSING else cell["value"] - chance
    shade = ""
    if over is not None and state in {ABOVE, BELOW}:
        size = next(step for least, step in SHADES if abs(over) >= least)
        shade = f"over-{size}" if state == ABOVE else "under"
    return {"state": state, "over": over, "mark": MARKS[state], "words": WORDS[state], "chance_shade": shade}


def guess_of(result: Mapping[str, Any]) -> float:
    """Return what a trained model reaches without the texts: the largest class, if that is more than an equal guess."""
    return max(result.get("chance") or 0.0, result.get("largest_class") or 0.0)


def conclusions(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one verdict per concept, from the sequence of frames.

    Common sense is compared with an equal guess among all classes or videos. A trained model also knows how frequent
    the classes are, so dataset bias is compared with always the largest class, if that is more.
    """
    learnt = _sequences(result.get("dataset"))
    rows = []
    for concept, common in _sequences(result.get("common")).items():
        cells = [(common, result["chance"])]
        if concept in learnt:
            cells.append((learnt[concept], guess_of(result)))
        judged_cells = [{**(cell or {}), "chance": chance, **_beside(cell, chance)} for cell, chance in cells]
        state = _strongest([cell["state"] for cell in judged_cells])
        row = {
            "concept": concept,
            "common": judged_cells[0],
            "dataset": judged_cells[1] if len(judged_cells) > 1 else None,
        }
        advice = ADVICE.get((concept, state)) or GENERAL[state]
        row["needs_training"] = judged_cells[0]["state"] != ABOVE and state == ABOVE
        rows.append({**row, "state": state, "mark": MARKS[state], "words": WORDS[state], "advice": advice})
    return rows


def order_matters(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the difference of the middle frame from the sequence, for whole descriptions; None if it is unknown.

    `state`: below, at or above, by its interval.
    """
    rows = {row["concept"]: row["cells"] for row in result.get("common") or ()}
    cells = {cell["temporal"]: cell for cell in rows.get(DESCRIPTION, ())}
    cell = cells.get(MIDDLE)
    if cell is None or cell.get("difference") is None or cell.get("difference_ci") is None:
        return None
    low, high = cell["difference_ci"]
    state = BELOW if high < 0 else ABOVE if low > 0 else AT
    return {"difference": cell["difference"], "ci": cell["difference_ci"], "state": state}


def _beside(cell: Mapping[str, Any] | None, chance: float) -> dict[str, Any]:
    return beside_chance(cell or {"value": None, "ci": None}, chance)


def _strongest(states: Sequence[str]) -> str:
    return next(state for state in (ABOVE, AT, BELOW, UNKNOWN, MISSING) if state in states)


def _sequences(table: Sequence[Mapping[str, Any]] | None) -> dict[str, Mapping[str, Any] | None]:
    return {
        row["concept"]: next((cell for cell in row["cells"] if cell["temporal"] == SEQUENCE), None)
        for row in table or ()
    }
