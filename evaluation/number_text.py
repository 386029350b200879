"""Translate texts and format numbers in the reader's language; in English if Django's settings are not loaded.

A notebook or a script has no settings, so nothing here imports Django by itself.
"""

import sys

DASH = "–"
MINUS = "−"
# Number marks of English, by the names of Django's formats.
ENGLISH_MARKS = {"DECIMAL_SEPARATOR": ".", "THOUSAND_SEPARATOR": ","}


def has_settings() -> bool:
    """Report whether Django's settings are loaded in this process."""
    conf = sys.modules.get("django.conf")
    return conf is not None and bool(conf.settings.configured)


def gettext(text: str) -> str:
    """Return the text in the reader's language."""
    if not has_settings():
        return text
    from django.utils import translation

    return str(translation.gettext(text))


def number_mark(name: str) -> str:
    """Return DECIMAL_SEPARATOR or THOUSAND_SEPARATOR of the reader's language."""
    if not has_settings():
        return ENGLISH_MARKS[name]
    from django.utils import formats

    return str(formats.get_format(name))


def written(number: str) -> str:
    """Format a Python number in the reader's language: -1,234.5 is −1.234,5 in German."""
    marks = {"-": MINUS, ".": number_mark("DECIMAL_SEPARATOR"), ",": number_mark("THOUSAND_SEPARATOR")}
    return "".join(marks.get(character, character) for character in number)


def share(value: float | None, digits: int = 1) -> str:
    """Format 0.9731 as 97.3 %."""
    return DASH if value is None else written(f"{100 * value:.{digits}f} %")


def count(value: int | None) -> str:
    """Format 1234 as 1,234."""
    return DASH if value is None else written(f"{value:,}")
