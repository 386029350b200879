"""Tell captions that English rules cannot work on: of another language, or in another script."""

import re
from collections.abc import Mapping
from typing import Any

LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
LETTERS = re.compile(r"[^\W\d_]")
# A caption in English letters may have names in others: "Иван opens the door".
MIN_LATIN = 1 / 3


def not_english(text: str, facts: Mapping[str, Any]) -> str:
    """Return why English rules skip the caption, or "". The fact "language" is a code or a name: "en-GB", "English"."""
    language = facts.get("language")
    if isinstance(language, str) and language.strip() and not language.strip().lower().startswith("en"):
        return f"the rules of this method are for English, and the caption's language is '{language.strip()}'"
    if not text.isascii() and len(LATIN.findall(text)) < MIN_LATIN * len(LETTERS.findall(text)):
        return "the rules of this method are for English, and the caption is in another script"
    return ""
