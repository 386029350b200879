"""Read answers to questions with options as models write them: `B`, `(B) a text`, `The answer is B.`, `Yes, it is.`

The options and their order are those of the item's `facts`, as the publisher has them. The words are read by
`foilworks.core.text.model_answers`; a number alone counts options from 0. An unreadable answer gives no score.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.score_files.json_records import Row
from foilworks.core.text.model_answers import NO_OPTION, ModelAnswer, read_answer
from foilworks.core.text.quoting import quoted


def option_scores(row: Row, record: Mapping[str, Any], *, may_count: bool) -> list[float] | str:
    """Return 1 for the chosen text of the item and 0 for the others, the caption first; or why nothing can be read.

    `may_count`: numbers are places of options; otherwise they are refused, since they could also be places of the
    item's texts. The row is bad if its `right` is another option.
    """
    options, right = record["facts"].get("options"), record["facts"].get("answer")
    if not isinstance(options, list) or not isinstance(right, int):
        row.fail("id", f"the item {quoted(record['id'])} has no options", "choose mc, with the position of the text")
    if row.fields.get("right") not in (None, "") and _read(row, "right", options, may_count=may_count).option != right:
        file_answer = quoted(str(row.fields["right"]))
        fix = "give the answers to the questions of this release, with the options in their published order"
        row.fail("right", f"is {file_answer}, but the release has {quoted(options[right])}", fix)
    answer = _read(row, "prediction", options, may_count=may_count)
    return answer.reason if answer.option is None else _winner(answer.option, right, record["foil_positions"])


def _winner(answer_index: int, right: int, positions: Sequence[int]) -> list[float]:
    """Return the scores of the texts. A wrong answer whose foil is not in the release counts for the first foil."""
    if answer_index == right:
        return [1.0, *[0.0] * len(positions)]
    foil = answer_index - (answer_index > right)
    at = positions.index(foil) if foil in positions else 0
    return [0.0, *[float(index == at) for index in range(len(positions))]]


def _read(row: Row, field: str, options: Sequence[str], *, may_count: bool) -> ModelAnswer:
    value = row.fields.get(field)
    text = "" if value is None else str(value).strip()
    if not re.fullmatch(r"-?\d+", text) or isinstance(value, bool):
        return read_answer(text, options, finish_reason=str(row.fields.get("finish_reason") or ""))
    if not may_count:
        problem = f"is {text}, which may be the place of a published option or of a text of the item"
        row.fail(field, problem, "choose letters for the option, counted from 0, or mc for the text")
    if isinstance(value, str) and text in options:
        row.fail(field, f"is {text}, which may be an option or its place", "give the letter of the option")
    number = int(text)
    if number >= len(options):
        row.fail(field, f"is {text}", f"give the place of an option, 0 to {len(options) - 1}")
    return ModelAnswer(number) if number >= 0 else ModelAnswer(None, NO_OPTION)
