"""Compare texts as people read them. Pure."""

import unicodedata


def comparable(text: str) -> str:
    """Return a text in the form in which equal texts are equal: composed characters, single blanks."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
