"""Split options from a model's name: `NAME?frames=8&pooling=logits`. Imports no torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted


@dataclass(frozen=True)
class Decimal:
    """An option that takes a number from `low` to `high`."""

    low: float
    high: float


OptionType = type | range | tuple[str, ...] | Decimal


def split_options(argument: str, option_types: Mapping[str, OptionType]) -> tuple[str, dict[str, Any]]:
    """Return ("a/b", {"frames": 4}) for "a/b?frames=4". A range allows whole numbers in it, int those from 1 to 1024.

    A tuple lists the words that an option takes; dict means a JSON object. HubError lists the known options, or what an
    option takes.
    """
    name, _, tail = argument.partition("?")
    values: dict[str, Any] = {}
    for option in filter(None, tail.split("&")):
        key, _, value = option.partition("=")
        if key not in option_types:
            raise HubError(f"{quoted(argument)}: option {quoted(key)} is unknown; it takes: {', '.join(option_types)}")
        if key in values:
            raise HubError(f"{quoted(argument)}: option {quoted(key)} is given twice; give it once")
        try:
            values[key] = _parsed(value, option_types[key])
        except ValueError as error:
            raise HubError(f"{quoted(argument)}: {key} is {quoted(value)}; {error}") from error
    return name, values


def _parsed(text: str, kind: OptionType) -> Any:
    """Return the value of an option. ValueError says what it takes."""
    if kind is str:
        return text
    if isinstance(kind, tuple):
        return _checked(text, text in kind, f"choose one of: {', '.join(kind)}")
    if isinstance(kind, Decimal):
        expected = f"give a number from {kind.low:g} to {kind.high:g}"
        number = float(text) if text.replace(".", "", 1).isdecimal() else kind.low - 1
        return _checked(number, kind.low <= number <= kind.high, expected)
    if kind is dict:
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            content = None
        return _checked(content, isinstance(content, dict), 'give a JSON object, such as {"thinking": true}')
    allowed = kind if isinstance(kind, range) else range(1, 1025)
    is_allowed = text.isdecimal() and int(text) in allowed
    return _checked(
        int(text) if is_allowed else 0, is_allowed, f"give a whole number from {allowed[0]} to {allowed[-1]}"
    )


def _checked(value: Any, is_allowed: bool, expected: str) -> Any:
    if not is_allowed:
        raise ValueError(expected)
    return value
