"""Values of Parquet columns as JSON says them: dates and times as ISO text, decimals as numbers, maps as objects."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any


def is_binary(kind: Any) -> bool:
    """Whether values of the Arrow type are, or hold, bytes, which no JSON can say; UUIDs are text."""
    from pyarrow import types

    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return False
    kind = getattr(kind, "storage_type", kind)
    if types.is_dictionary(kind):
        return is_binary(kind.value_type)
    if types.is_nested(kind):
        return any(is_binary(kind.field(index).type) for index in range(kind.num_fields))
    tests = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(test(kind) for test in tests)


def plain(value: Any) -> Any:
    """The value in JSON's types. Fields that are null are left out of objects, as a line of JSON would."""
    match value:
        case None | bool() | int() | str():
            return value
        case Mapping():
            return {str(name): plain(inner) for name, inner in value.items() if inner is not None}
        case list() | tuple():
            is_map = value and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
            return plain({_name(name): inner for name, inner in value}) if is_map else [plain(inner) for inner in value]
        case Decimal():
            return int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
        case timedelta():
            return value.total_seconds()
        case date() | time():
            return value.isoformat()
        case Real():
            return float(value)
    return str(value)


def _name(value: Any) -> str:
    return value if isinstance(value, str) else str(plain(value))
