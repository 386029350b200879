"""A pseudo-locale: every text of the interface in accents, 40 % longer and in brackets, made from the source.

"Sign in" becomes "⟦Ŝíĝń íń ~~~⟧". Placeholders and tags stay. A visible text without accents is therefore one that no
language could translate, and a text without its closing bracket is cut off.
"""

import io
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import django
import django.contrib.auth
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from scripts import catalogue
from tests.visible_text import visible_texts

# The code that Android and ICU use for English in accents.
CODE, NAME = "en-xa", "Pseudo"
LONGER = 0.4
_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ACCENTS = "ÅƁÇĐÉƑĜĤÎĴĶĻṀÑÖÞǪŔŜŢÛṼŴẊÝŽåƀçđéƒĝĥîĵķļɱñöþǫŕšţûṽŵẋýž"
ACCENTED = str.maketrans(_PLAIN, _ACCENTS)
# Placeholders of Python and of scripts, tags and entities.
_KEPT = re.compile(r"%%|%\(\w+\)[\d.]*[a-zA-Z]|%[\d.]*[sd]|\{\w*\}|<[^>]+>|&#?\w+;")
_WORD = re.compile(r"[A-Za-z]{2}")
# What is the same in every language.
_SAME_IN_ALL = re.compile(
    # Names.
    r"\b(Foilworks|foilworks|ViLMA|RCAD|UTD|Feint6K|MTurk|NumPy|CSV|JSON|SVG|LaTeX|Markdown|DOI)\b"
    # Abbreviations and units; pp: percentage points.
    r"|\b(JS|UTC|EUR|pp)\b|[\d.,…)\]] ?(min|kB|MB|GB|fps|px|ms)\b"
    # Addresses, placeholders that the reader fills, models and hashes by name.
    r"|https?://\S+|/api/\S*|\{[^}]*\}|<\w+>|\b[\w.-]+/[\w.-]+|\b[0-9a-f]{8,}\b"
    # Codes that only a program can send wrongly, and file endings.
    r"|: \w+(, \w+)+\.|\.npy\b"
    # Splits of data sets, as files spell them.
    r"|^(train|val|test)$"
)
# Django's own messages, of forms and of sign-in, are on the pages as well.
_OF_DJANGO = [
    Path(module.__file__).parent / folder / "LC_MESSAGES" / "django.po"
    for module, folder in ((django, "conf/locale/en"), (django.contrib.auth, "locale/en"))
]


def pseudo(text: str) -> str:
    """Return `text` in the pseudo-locale; surrounding white space stays outside the brackets."""
    core = text.strip()
    if not core:
        return text
    kept, end, parts = _KEPT.finditer(core), 0, []
    for match in kept:
        parts += [core[end : match.start()].translate(ACCENTED), match.group()]
        end = match.end()
    parts.append(core[end:].translate(ACCENTED))
    letters = sum(len(part) for part in parts[::2])
    start = len(text) - len(text.lstrip())
    return f"{text[:start]}⟦{''.join(parts)} {_padding(letters)}⟧{text[start + len(core) :]}"


def untranslated(page: str, data: re.Pattern[str]) -> list[str]:
    """Return the visible texts of an HTML page in the pseudo-locale that have words in plain letters.

    `data`: words of people and projects, which no language translates.
    """
    return [text for text in visible_texts(page) if _WORD.search(data.sub("", _SAME_IN_ALL.sub("", text)))]


def _padding(letters: int) -> str:
    """Return words of at most seven letters, so that long texts can break in them."""
    count = max(1, round(LONGER * letters) - 3)
    return " ".join("~" * min(7, count - start) for start in range(0, count, 8))


@cache
def compiled() -> bytes:
    """Return the pseudo-locale as a compiled catalogue (.mo), of our messages and of Django's."""
    made = Catalog(locale="en", charset="utf-8", fuzzy=False)
    django_own = [read_po(io.BytesIO(path.read_bytes())) for path in _OF_DJANGO]
    for messages in (*django_own, catalogue.source()):
        for message in messages:
            if message.id:
                forms = message.id if message.pluralizable else [message.id]
                texts = tuple(pseudo(form) for form in forms)
                made.add(message.id, texts if message.pluralizable else texts[0], context=message.context)
    file = io.BytesIO()
    write_mo(file, made)
    return file.getvalue()


def install(settings: object, folder: Path) -> None:
    """Offer the pseudo-locale beside English, through the `settings` fixture of pytest-django."""
    for name, value in offered(folder).items():
        setattr(settings, name, value)


def offered(folder: Path) -> dict[str, Any]:
    """Write the pseudo-locale into `folder`, and return the settings that offer it beside English."""
    place = folder / "locale" / "en_XA" / "LC_MESSAGES"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (place / "django.mo").write_bytes(compiled())
    return {"LOCALE_PATHS": [folder / "locale"], "LANGUAGES": [("en", "English"), (CODE, NAME)]}
