"""What every database takes as text and as JSON."""

import math
import re
from typing import Any

# PostgreSQL holds no NUL, and half a surrogate pair is no UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(value: Any) -> bool:
    """Whether a value of JSON, however deep, holds no NUL, no half of a surrogate pair, no infinity and no NaN."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                waiting += [*fields, *fields.values()]
            case list() | tuple() as several:
                waiting += several
            case str() as text if _UNSTORABLE.search(text):
                return False
            case float() as number if not math.isfinite(number):
                return False
    return True
