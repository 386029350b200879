"""An import's outcome as a page shows it: counts with words, each complaint with its line."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

# A page of a thousand rows helps nobody; the command line lists them all.
MAX_LINES = 300
_PLACE = re.compile(r"(?P<path>.*?):(?P<line>\d+): (?P<field>.+?): (?P<text>.*)", re.DOTALL)
_WORDS: dict[str, str | Promise] = {
    "items": _("Items"),
    "captions": _("Captions to make foils for"),
    "proficiency_items": _("Proficiency items"),
    "videos": _("Clips"),
    "subtests": _("Subtests"),
    "foils": _("Foils"),
    "votes": _("Votes"),
}


class Line(NamedTuple):
    """`kind` is errors or warnings."""

    kind: str
    line: str
    field: str
    text: str


def counted(outcome: Mapping[str, Any]) -> list[tuple[str | Promise, int, int]]:
    """(what, new, there already) of what occurs."""
    created, unchanged = outcome.get("created", {}), outcome.get("unchanged", {})
    rows = [(label, created.get(kind, 0), unchanged.get(kind, 0)) for kind, label in _WORDS.items()]
    return [row for row in rows if row[1] or row[2]]


def takes_none(outcome: Mapping[str, Any]) -> bool:
    """Whether records were sent and all of them are bad."""
    return bool(outcome.get("errors")) and not any(outcome.get(kind) for kind in ("new", "same", "changed"))


def lines(outcome: Mapping[str, Any], kind: str) -> list[Line]:
    """The complaints of a kind, taken apart into line, field and words."""
    found = []
    for message in outcome.get(kind, [])[:MAX_LINES]:
        match = _PLACE.fullmatch(message)
        place = (match["line"], match["field"], match["text"]) if match else ("", "", message)
        found.append(Line(kind, *place))
    return found


class Change(NamedTuple):
    """A field of a record that is stored otherwise; `stored` and `said` are texts."""

    line: str
    id: str
    field: str
    stored: str
    said: str
    updated: bool


def changes(outcome: Mapping[str, Any]) -> list[Change]:
    """Field by field, what the file says otherwise than what is stored."""
    found = [
        Change(
            change["record"].rpartition(":")[2],
            change["id"],
            name,
            _text(both["stored"]),
            _text(both["file"]),
            change["updated"],
        )
        for change in outcome.get("changes", [])[:MAX_LINES]
        for name, both in change["fields"].items()
    ]
    return found[:MAX_LINES]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "–" if value is None else json.dumps(value, ensure_ascii=False)
