"""Where the words of a text are. Pure; offsets are Python string offsets (code points)."""

import re
import unicodedata

# The word of every lexical measure (docs/reference/formulas.md#metric-js); a change here changes published numbers.
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")

WordSpan = tuple[int, int, str]


def words(text: str) -> list[str]:
    """The lower-cased words, `[a-z0-9]+(?:'[a-z]+)?`, in order; letters of other scripts are no words here."""
    return WORD.findall(text.lower())


def word_spans(text: str) -> list[WordSpan]:
    """`(start, end, word)` of each of `words(text)`, with offsets into `text` as it was given."""
    lowered = text.lower()
    found = [(match.start(), match.end(), match.group()) for match in WORD.finditer(lowered)]
    if len(lowered) == len(text):
        return found
    # A capital I with a dot grows to two characters when lower-cased, so offsets are mapped back.
    origin = [at for at, char in enumerate(text) for _ in char.lower()]
    return [(origin[start], origin[end - 1] + 1, word) for start, end, word in found]


def normal_form(text: str) -> str:
    """Folded case, one blank between words, no punctuation, compatible characters unified.

    Symbols (emoji too) and combining marks stay; a text of punctuation only stays as it is.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(" " if unicodedata.category(char)[0] in "PZC" else char for char in folded)
    # Joined, not blank-separated: "push-up", "push up" and "pushup" are one text.
    return "".join(kept.split()) or folded
