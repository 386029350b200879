"""Catalogues of translations: what the pages say is read out of the source, merged into foilworks/locale/*/, compiled.

    .venv/bin/python scripts/catalogue.py update     source -> foilworks/locale/*/LC_MESSAGES/django.po, and .mo from it
    .venv/bin/python scripts/catalogue.py missing de    what a language still lacks, one message a line

GNU gettext is not needed: Babel (of the extra [dev]) reads Python, Django itself turns its templates into something
that reads as Python. The compiled files are kept in the repository, so that nothing is compiled where Foilworks is
installed; tests/foilworks/test_catalogues.py holds them to the source.
"""

import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "foilworks" / "locale"
PACKAGES = ("annotation", "corpus", "evaluation", "foilworks", "generation", "hub", "jobs", "media", "projects", "text")
KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
# A compiled catalogue has dates in it: always the same, so that equal translations are equal bytes.
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


def source() -> Catalog:
    """Every message of the source, sorted by what it says: a moved line changes no catalogue."""
    found = Catalog(charset="utf-8")
    for path, code in _files():
        name = path.relative_to(ROOT).as_posix()
        for _line, text, _comments, context in extract("python", io.BytesIO(code.encode()), KEYWORDS):
            # No line: a message that has only moved changes no catalogue. Babel takes it, its types know it not.
            place: Any = (name, None)
            found.add(text, locations=[place], context=context, flags=_flags(text))
    return found


def stored(language: str) -> Catalog:
    path = _path(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language, charset="utf-8")


def updated(language: str) -> Catalog:
    """The stored translations for the messages of now; what is said no more is gone, nothing is guessed."""
    old, new = stored(language), Catalog(locale=language, charset="utf-8", fuzzy=False)
    for message in sorted(source(), key=lambda one: (str(one.id), one.context or "")):
        if message.id:
            known = old.get(_key(message), message.context)
            text = known.string if known and bool(message.pluralizable) == bool(known.pluralizable) else None
            new.add(message.id, text, locations=message.locations, flags=message.flags, context=message.context)
    return new


def lacking(catalogue: Catalog) -> Iterator[Message]:
    """Messages without a translation, or without one of its plurals."""
    for message in catalogue:
        texts = message.string if isinstance(message.string, list | tuple) else [message.string]
        if message.id and not all(texts):
            yield message


def as_po(catalogue: Catalog) -> bytes:
    file = io.BytesIO()
    # No dates in it: the same catalogue is the same bytes.
    write_po(file, catalogue, width=120, omit_header=False, include_previous=False, ignore_obsolete=True)
    return re.sub(
        rb'^"(POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Translator|Report-Msgid-Bugs-To|'
        rb"Language-Team|Project-Id-Version).*\n",
        b"",
        file.getvalue(),
        flags=re.MULTILINE,
    )


def as_mo(catalogue: Catalog) -> bytes:
    catalogue.creation_date = catalogue.revision_date = NO_DATE
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def languages() -> list[str]:
    return sorted(path.name for path in LOCALE.iterdir() if (path / "LC_MESSAGES").is_dir())


def update() -> None:
    for language in languages():
        po = as_po(updated(language))
        _path(language).write_bytes(po)
        catalogue = read_po(io.BytesIO(po), locale=language, charset="utf-8")
        _path(language).with_suffix(".mo").write_bytes(as_mo(catalogue))
        print(f"{language}: {len(catalogue)} messages, {len(list(lacking(catalogue)))} without a translation")


def _files() -> Iterator[tuple[Path, str]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path, path.read_text(encoding="utf-8")
    # Mails are templates, too.
    for path in sorted(path for kind in ("*.html", "*.txt") for path in (ROOT / "foilworks" / "templates").rglob(kind)):
        # Indentation means nothing in a template, and something to who reads Python.
        yield path, _INDENT.sub("", templatize(path.read_text(encoding="utf-8"), origin=path.name))


def _flags(text: str | tuple[str, ...]) -> set[str]:
    parts = text if isinstance(text, tuple) else (text,)
    return {"python-format"} if any(re.search(r"%\(\w+\)[sd.]", part or "") for part in parts) else set()


def _key(message: Message) -> str:
    return str(message.id[0] if message.pluralizable else message.id)


def _path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


if __name__ == "__main__":
    if sys.argv[1:] == ["update"]:
        update()
    elif len(sys.argv) == 3 and sys.argv[1] == "missing":
        print("\n".join(str(message.id) for message in lacking(updated(sys.argv[2]))))
    else:
        sys.exit(__doc__)
