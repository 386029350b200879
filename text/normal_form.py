"""When two texts count as the same text."""

import unicodedata


def normal_form(text: str) -> str:
    """Folded case, one blank between words, no punctuation, compatible characters unified.

    Symbols (emoji too) and combining marks stay; a text of punctuation only stays as it is.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(" " if unicodedata.category(char)[0] in "PZC" else char for char in folded)
    # Joined, not blank-separated: "push-up", "push up" and "pushup" are one text.
    return "".join(kept.split()) or folded
