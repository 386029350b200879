"""Choose rows of a table by conditions such as `annotation=1`, `split in train, val` or `score>0.5`. Pure."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.row_values import Row, as_number, value_at
from foilworks.core.text.quoting import quoted

OPERATORS = ("=", "!=", "in", "not in", ">", ">=", "<", "<=")
_SIGN = re.compile(r"!=|>=|<=|==|=|>|<| not in | in ")
_ORDERS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda value, limit: value > limit,
    ">=": lambda value, limit: value >= limit,
    "<": lambda value, limit: value < limit,
    "<=": lambda value, limit: value <= limit,
}


class Condition(NamedTuple):
    """A column, an operator and what the value is compared with."""

    name: str
    operator: str
    value: str

    def holds(self, row: Row) -> bool:
        """Whether the row is chosen. `=` and `in` compare as text, and as numbers if both are numbers."""
        cell = value_at(row, self.name)
        if self.operator in _ORDERS:
            number, limit = as_number(cell), as_number(self.value)
            return number is not None and limit is not None and _ORDERS[self.operator](number, limit)
        operands = self.value.split(",") if self.operator.endswith("in") else [self.value]
        return any(_equal(cell, operand.strip()) for operand in operands) != (self.operator in {"!=", "not in"})


def parse_condition(text: str) -> Condition:
    """CorpusError: not a condition, or an order of something that is not a number."""
    match = _SIGN.search(text)
    name = text[: match.start()].strip() if match else ""
    if match is None or not name:
        raise CorpusError(f"where: {quoted(text)} is not a condition; write it as column=value, such as annotation=1")
    sign = match[0].strip()
    condition = Condition(name, "=" if sign == "==" else sign, text[match.end() :].strip())
    if condition.operator in _ORDERS and as_number(condition.value) is None:
        raise CorpusError(f"where: {quoted(condition.value)} is not a number; give one after {condition.operator}")
    return condition


def _equal(cell: Any, expected: str) -> bool:
    if cell is None:
        return expected == ""
    number, expected_number = as_number(cell), as_number(expected)
    if number is not None and expected_number is not None:
        return number == expected_number
    return (str(cell).lower() if isinstance(cell, bool) else str(cell)) == expected
