"""Read watch evidence from browsers: keep valid numbers, drop the rest. Pure."""

import math
from collections.abc import Mapping

# `changed`: how often the browser changed a sentence. `translated`, `filtered`: 1 if it translated the page or changed
# the colours of the clip.
TOP = {"seconds": 86_400.0, "loops": 10_000.0, "covered": 1.0, "changed": 1_000.0, "translated": 1.0, "filtered": 1.0}


def watch_evidence(sent: object) -> dict[str, float]:
    """Return the numbers of `TOP` that were sent, each cut to 0..its top; drops anything else."""
    if not isinstance(sent, Mapping):
        return {}
    numbers = {name: _number(sent.get(name), top) for name, top in TOP.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def seconds_spent(sent: object, most: float = TOP["seconds"]) -> float | None:
    """Return seconds in 0..86400, cut to `most`; None for an unusable value."""
    return _number(sent, max(0.0, min(most, TOP["seconds"])))


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
