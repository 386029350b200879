"""Name the script of a text as the `lang` of a page: nobody says in which language a caption is. Pure."""

from collections import Counter
from functools import lru_cache

import regex

# ISO 15924, Latin left out: most captions are in it, and it chooses no font.
SCRIPTS = (
    "Arab",
    "Armn",
    "Beng",
    "Cyrl",
    "Deva",
    "Ethi",
    "Geor",
    "Grek",
    "Hang",
    "Hani",
    "Hebr",
    "Kana",
    "Taml",
    "Thai",
)
_LETTERS = regex.compile("|".join(rf"(?P<{code}>\p{{Script={code}}})" for code in (*SCRIPTS, "Hira", "Latn")))


@lru_cache(maxsize=4096)
def language_tag(text: str) -> str:
    """Return a tag of BCP 47 without a language, such as `und-Arab`; `und` for Latin or no letters."""
    counts = Counter(match.lastgroup for match in _LETTERS.finditer(text))
    if counts["Hira"] or counts["Kana"]:
        # Chinese characters among kana are Japanese.
        return "und-Jpan"
    code = max(counts, key=counts.__getitem__, default="Latn")
    return "und" if code == "Latn" else f"und-{code}"
