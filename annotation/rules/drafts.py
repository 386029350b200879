"""What may be kept as a draft: the fields of a form, each with its texts, and the form as it was first shown. Pure."""

import json
import re
from typing import Any

# Ten foils at their longest, in characters of JSON, and the form that they were begun on.
MAX_CHARACTERS = 100_000
# PostgreSQL's JSON takes neither; a whole surrogate pair has become one character by then.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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
    texts = [base, *values, *(one for several in values.values() for one in several)]
    return None if any(map(UNSTORABLE.search, texts)) else {"base": base, "values": values}
