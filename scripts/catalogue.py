"""Extract the interface texts from the source, merge them into the catalogues of foilworks/site/locale/, compile these.

    .venv/bin/python scripts/catalogue.py update          update foilworks/site/locale/*/LC_MESSAGES/django.po and .mo
    .venv/bin/python scripts/catalogue.py update fr       also start a catalogue for a new language
    .venv/bin/python scripts/catalogue.py missing fr      list the messages that a language lacks, one per line

GNU gettext is not needed: Babel (of the extra [dev]) reads Python, and Django turns its templates into text that reads
as Python. The compiled files are in the repository, so that an installation compiles nothing.
tests/foilworks/test_catalogues.py compares them with the source. CONTRIBUTING.md says how to add a language.
"""

import io
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LOCALE = ROOT / "foilworks" / "site" / "locale"
PACKAGES = ("annotation", "evaluation", "foilworks", "generation")
KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    # Raised by modules without Django; pages translate them when they show them.
    "EvaluationError": None,
    "need": (2,),
}
# Their rows are texts, or have labels, summaries, parameters and deviations.
TABLES = (
    "generation.methods.registry:METHODS",
    "generation.filters.registry:FILTERS",
    "generation.captioning.registry:CAPTIONERS",
    "generation.tuning.parameters:TUNING",
    "foilworks.core.corpus.import_formats.registry:IMPORTERS",
    "foilworks.core.corpus.export_formats.registry:EXPORTERS",
    "foilworks.core.hub.catalogue.registry:EVERY",
    "evaluation.analyses.divergence:NOTE",
    "evaluation.analyses.registry:REPORTS",
    "foilworks.site.dashboard.planning:PLAN",
    "evaluation.scoring.protocols:PROTOCOLS",
    "evaluation.score_files.score_readers:FORMS",
    "evaluation.score_files.score_writers:WRITERS",
    "foilworks.site.teacher.plan:TEACHING",
    "evaluation.utd.recipes:RECIPES",
)
# A compiled catalogue contains dates; with constant ones, equal translations are equal bytes.
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


def source() -> Catalog:
    """Return every message of the source, without line numbers."""
    found = Catalog(charset="utf-8")
    for path, code in _files():
        name = path.relative_to(ROOT).as_posix()
        for _line, text, _comments, context in extract("python", io.BytesIO(code.encode()), KEYWORDS):
            # Without a line, a moved message changes no catalogue. Babel accepts that, although its types do not.
            place: Any = (name, None)
            found.add(text, locations=[place], context=context, flags=_flags(text))
    for name, text in _texts_of_tables():
        place = (name, None)
        found.add(text, locations=[place])
    return found


def stored(language: str) -> Catalog:
    path = _path(language)
    if not path.exists():
        return Catalog(locale=language, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language, charset="utf-8")


def updated(language: str) -> Catalog:
    """Return the source's messages with their stored translations. Drops removed messages and guesses nothing."""
    old, new = stored(language), Catalog(locale=language, charset="utf-8", fuzzy=False)
    for message in sorted(source(), key=lambda one: (str(one.id), one.context or "")):
        if message.id:
            known = old.get(_key(message), message.context)
            text = known.string if known and bool(message.pluralizable) == bool(known.pluralizable) else None
            new.add(message.id, text, locations=message.locations, flags=message.flags, context=message.context)
    return new


def lacking(catalogue: Catalog) -> Iterator[Message]:
    """Yield the messages without a translation, or without one of their plurals."""
    for message in catalogue:
        texts = message.string if isinstance(message.string, list | tuple) else [message.string]
        if message.id and not all(texts):
            yield message


def as_po(catalogue: Catalog) -> bytes:
    file = io.BytesIO()
    # Without dates, equal catalogues are equal bytes.
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
    """List the language codes that have a catalogue; none while the interface is in English only."""
    return sorted(path.parent.name for path in LOCALE.glob("*/LC_MESSAGES"))


def update(*new: str) -> None:
    """Write django.po and django.mo of every language that has a catalogue, and of the languages `new`."""
    for language in sorted({*languages(), *new}):
        po = as_po(updated(language))
        _path(language).parent.mkdir(parents=True, exist_ok=True)
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
    for path in sorted(path for kind in ("*.html", "*.txt") for path in (ROOT / "templates").rglob(kind)):
        # A template's indentation has no meaning, but Python's has.
        yield path, _INDENT.sub("", templatize(path.read_text(encoding="utf-8"), origin=path.name))


def _texts_of_tables() -> Iterator[tuple[str, str]]:
    """Yield (file, text) of what menus and forms show of the code's tables; pages translate it when they show it."""
    from foilworks.core.projects.forms.registry_entry import param_label

    for name in TABLES:
        module, _, attribute = name.partition(":")
        value = getattr(import_module(module), attribute)
        path = f"{module.replace('.', '/')}.py"
        for row in value.values() if isinstance(value, Mapping) else [value]:
            if isinstance(row, str | tuple):
                yield path, row if isinstance(row, str) else row[0]
                continue
            params = getattr(row, "params", ())
            own = (row.label, getattr(row, "summary", ""), *getattr(row, "deviations", ()))
            texts = *own, *(text for param in params for text in (param_label(param), param.help))
            # Those of plug-ins are not ours to translate.
            yield from ((path, text) for text in texts if text and not getattr(row, "origin", ""))


def _flags(text: str | tuple[str, ...]) -> set[str]:
    parts = text if isinstance(text, tuple) else (text,)
    return {"python-format"} if any(re.search(r"%\(\w+\)[sd.]", part or "") for part in parts) else set()


def _key(message: Message) -> str:
    return str(message.id[0] if message.pluralizable else message.id)


def _path(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "django.po"


if __name__ == "__main__":
    if sys.argv[1:2] == ["update"]:
        update(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "missing":
        print("\n".join(str(message.id) for message in lacking(updated(sys.argv[2]))))
    else:
        sys.exit(__doc__)
