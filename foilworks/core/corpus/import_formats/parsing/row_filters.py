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
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
}


class Condition(NamedTuple):
    """A column, an operator and what the value is compared with."""

    name: str
    operator: str
    value: str

    def holds(self, row: Row) -> bool:
        """Whether the row is chosen. `=` and `in` compare as text, and as numbers if both are numbers."""
        found = value_at(row, self.name)
        if self.operator in _ORDERS:
            one, other = as_number(found), as_number(self.value)
            return one is not None and other is not None and _ORDERS[self.operator](one, other)
        wanted = self.value.split(",") if self.operator.endswith("in") else [self.value]
        return any(_equal(found, one.strip()) for one in wanted) != (self.operator in {"!=", "not in"})


def parse_condition(given: str) -> Condition:
    """CorpusError: not a condition, or an order of something that is not a number."""
    match = _SIGN.search(given)
    name = given[: match.start()].strip() if match else ""
    if match is None or not name:
        raise CorpusError(f"where: {quoted(given)} is not a condition; write it as column=value, such as annotation=1")
    sign = match[0].strip()
    found = Condition(name, "=" if sign == "==" else sign, given[match.end() :].strip())
    if found.operator in _ORDERS and as_number(found.value) is None:
        raise CorpusError(f"where: {quoted(found.value)} is not a number; give one after {found.operator}")
    return found


def _equal(found: Any, wanted: str) -> bool:
    if found is None:
        return wanted == ""
    one, other = as_number(found), as_number(wanted)
    if one is not None and other is not None:
        return one == other
    return (str(found).lower() if isinstance(found, bool) else str(found)) == wanted
