"""What may be kept as a draft: the fields of a form, each with its texts, and the form as it was first shown. Pure."""

import json
from typing import Any

from text.storable import is_storable

# Ten foils at their longest, in characters of JSON, and the form that they were begun on.
MAX_CHARACTERS = 100_000


def parse_draft(text: str) -> dict[str, Any] | None:
    """{"base": text, "values": {field: [text, ...]}} of the JSON that a page sends; None for anything else."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"base", "values"}:
        return None
    base, values = found["base"], found["values"]
    if not isinstance(base, str) or not isinstance(values, dict):
        return None
    if not all(isinstance(texts, list) and all(isinstance(one, str) for one in texts) for texts in values.values()):
        return None
    return {"base": base, "values": values} if is_storable(found) else None
