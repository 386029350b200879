"""Names of files in an export, made from names that people gave."""

import re


def safe_name(text: str, limit: int = 80) -> str:
    """A file name that says `text` and can do nothing else: letters, digits, dot, dash; never hidden, never empty."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", text)[:limit].strip(".-")
    return name or "unnamed"
