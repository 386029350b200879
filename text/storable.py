"""Text and JSON that every database takes: PostgreSQL holds no NUL, and half of a character pair is no UTF-8. Pure."""

import math
import re
from typing import Any

HALF = re.compile(r"[\ud800-\udfff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def storable(text: str) -> str:
    """The text as any database keeps it: half characters become “?”, control characters go, line ends and tabs stay."""
    whole = text.encode("utf-8", "replace").decode("utf-8") if HALF.search(text) else text
    return _CONTROLS.sub("", whole)


def is_storable(value: Any) -> bool:
    """Whether a value of JSON, however deep, holds no NUL, no half of a character pair, no infinity and no NaN."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                waiting += [*fields, *fields.values()]
            case list() | tuple() as several:
                waiting += several
            case str() as text if "\x00" in text or HALF.search(text):
                return False
            case float() as number if not math.isfinite(number):
                return False
    return True
