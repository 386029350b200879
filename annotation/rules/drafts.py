"""What a draft may contain: the fields of a form, each with its texts, and the form as first shown. Pure."""

import json
from typing import Any

from foilworks.core.text.storable import is_storable

# Ten foils of maximum length, in characters of JSON, and the form that they belong to.
MAX_CHARACTERS = 100_000


def parse_draft(text: str) -> dict[str, Any] | None:
    """Parse a page's JSON into {"base": text, "values": {field: [text, ...]}}; None for anything else."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        draft = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(draft, dict) or set(draft) != {"base", "values"}:
        return None
    base, values = draft["base"], draft["values"]
    if not isinstance(base, str) or not isinstance(values, dict):
        return None
    if not all(isinstance(texts, list) and all(isinstance(text, str) for text in texts) for texts in values.values()):
        return None
    return {"base": base, "values": values} if is_storable(draft) else None
