"""Split options from a model's name: `NAME?frames=8&pooling=logits`. Imports no torch."""

from typing import Any

from foilworks.core.hub.errors import HubError
from foilworks.core.text.quoting import quoted


def split_options(argument: str, option_types: dict[str, type | range]) -> tuple[str, dict[str, Any]]:
    """Return ("a/b", {"frames": 4}) for "a/b?frames=4". A range allows whole numbers in it, int those from 1 to 1024.

    HubError lists the known options, or what an option takes.
    """
    name, _, tail = argument.partition("?")
    values: dict[str, Any] = {}
    for option in filter(None, tail.split("&")):
        key, _, value = option.partition("=")
        if key not in option_types:
            raise HubError(f"{quoted(argument)}: option {quoted(key)} is unknown; it takes: {', '.join(option_types)}")
        kind = option_types[key]
        if kind is str:
            values[key] = value
            continue
        allowed = kind if isinstance(kind, range) else range(1, 1025)
        if not value.isdecimal() or int(value) not in allowed:
            raise HubError(
                f"{quoted(argument)}: {key} is {quoted(value)}; give a whole number from {allowed[0]} to {allowed[-1]}"
            )
        values[key] = int(value)
    return name, values
