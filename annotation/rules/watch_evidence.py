"""Read watch evidence from browsers: keep valid numbers, drop the rest. Pure."""

import math
from collections.abc import Mapping

_TOP = {"seconds": 86_400.0, "loops": 10_000.0, "covered": 1.0}


def watch_evidence(sent: object) -> dict[str, float]:
    """Return {"seconds", "loops", "covered"} cut to (0..86400, 0..10000, 0..1); drops anything else."""
    if not isinstance(sent, Mapping):
        return {}
    numbers = {name: _number(sent.get(name), top) for name, top in _TOP.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def seconds_spent(sent: object, most: float = _TOP["seconds"]) -> float | None:
    """Return seconds in 0..86400, cut to `most`; None for an unusable value."""
    return _number(sent, max(0.0, min(most, _TOP["seconds"])))


def shown_seconds(start: float | None, end: float | None, unit: str, duration: float | None) -> float | None:
    """Return the length of a clip as shown, if known: of its trim, or of the whole file (`duration`)."""
    start = start or 0.0
    end = duration if end is None else end
    if end is None or unit != "sec" or end <= start:
        return duration
    return end - start


def _number(sent: object, top: float) -> float | None:
    if isinstance(sent, bool) or not isinstance(sent, int | float) or not math.isfinite(sent) or sent < 0:
        return None
    return min(float(sent), top)
