"""Read the fields of a record: a value is clean, or the record is bad with field and reason."""

import math
import re
from collections.abc import Mapping
from typing import Any

from foilworks.core.corpus.records import MAX_ID, MAX_TEXT, MAX_URL, TIME_UNITS, VoteCounts
from foilworks.core.text.quoting import quoted, shortened
from foilworks.core.text.storable import HALF

MAX_DEPTH = 40
# Beyond this a float no longer counts whole ticks.
MAX_TIME = 2.0**53


class ProblemError(Exception):
    """Why a record cannot be imported; caught by the importer that reads the record."""

    def __init__(self, field: str, problem: str, fix: str):
        # The name of a field comes from the file, too.
        self.field, self.problem, self.fix = shortened(field), problem, fix
        super().__init__(f"{self.field}: {problem}; {fix}")


class Fields:
    """The fields of one JSON object, read by name; null counts as absent. `prefix` names the object it is in."""

    def __init__(self, values: Any, prefix: str = ""):
        if not isinstance(values, Mapping):
            raise ProblemError(prefix or "record", f"is {_kind(values)}", "give an object with named fields")
        self._values = values
        self._prefix = f"{prefix}." if prefix else ""

    def name(self, field: str) -> str:
        """The field as messages call it."""
        return self._prefix + field

    def get(self, field: str) -> Any:
        return self._values.get(field)

    def without(self, known_keys: frozenset[str]) -> dict[str, Any]:
        """The fields that are not among the known ones, in the order of the file."""
        return {key: value for key, value in self._values.items() if key not in known_keys}

    def label(self, field: str, limit: int, default: str = "") -> str:
        """A short text; a whole number counts as its digits."""
        value = self._values.get(field)
        if value is None:
            return default
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        elif not isinstance(value, str):
            raise ProblemError(self.name(field), f"is {_kind(value)}", "give text")
        if len(value) > limit:
            problem = f"has {len(value)} characters, more than {limit}"
            raise ProblemError(self.name(field), problem, "shorten it")
        return value

    def sentence(self, field: str) -> str:
        """A caption or foil: text with something in it, at most MAX_TEXT characters."""
        return check_sentence(self.name(field), self.get(field))

    def foils(self) -> tuple[str, ...]:
        """Foils under either spelling: `foils` (a list, or one text) or `foil`; () when there is none."""
        foils, foil = self.get("foils"), self.get("foil")
        if foils is not None and foil is not None and foil not in (foils if isinstance(foils, list) else [foils]):
            raise ProblemError(self.name("foil"), "is not among the foils", "give one of the two fields")
        value = foil if foils is None else foils
        if value is None:
            return ()
        texts = value if isinstance(value, list) else [value]
        name = self.name("foil" if foils is None else "foils")
        return tuple(check_sentence(f"{name}[{i}]", text) for i, text in enumerate(texts))

    def time(self, field: str) -> float | None:
        """A time from 0 up, or None."""
        value = self.get(field)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_TIME:
            raise ProblemError(self.name(field), f"is {_kind(value)}", "give a number from 0 up, or null")
        return float(value)

    def trim(self) -> tuple[float | None, float | None, str]:
        """(start, end, unit) of the clip; the end is after the start, or None: to the end of the video."""
        if plays_to_the_end(self._values):
            return self.time("start_time") or None, None, self._unit()
        start, end = self.time("start_time"), self.time("end_time")
        unit = self._unit()
        if end is not None and end <= (start or 0.0):
            raise ProblemError(self.name("end_time"), f"is {end:g}, not after start_time", "correct the trim")
        return start, end, unit

    def _unit(self) -> str:
        unit = self.label("time_unit", 10) or "sec"
        if unit not in TIME_UNITS:
            raise ProblemError(self.name("time_unit"), f"is {quoted(unit)}", "give sec, pts or frames")
        return unit

    def mapping(self, field: str) -> dict[str, Any]:
        """An object, {} when absent."""
        value = self.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ProblemError(self.name(field), f"is {_kind(value)}", "give an object, or omit it")
        return value

    def votes(self, field: str) -> VoteCounts | None:
        """`{"caption": n, "foil": n, "other": n}`; a choice left out counts 0."""
        if self.get(field) is None:
            return None
        counts = self.mapping(field)
        for choice, count in counts.items():
            if choice not in {"caption", "foil", "other"}:
                raise ProblemError(self.name(f"{field}.{choice}"), "is not a choice", "use caption, foil and other")
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= 10_000:
                raise ProblemError(self.name(f"{field}.{choice}"), f"is {_kind(count)}", "give a count from 0 up")
        return VoteCounts(**{choice: counts.get(choice, 0) for choice in ("caption", "foil", "other")})

    def url(self, field: str) -> str:
        """An address that a browser may load: http or https, nothing that could run."""
        value = self.label(field, MAX_URL)
        if value and not re.match(r"https?://[^\s/]+\S*$", value):
            raise ProblemError(self.name(field), "is not a web address", "give one that starts with https://")
        return value

    def media_name(self, field: str) -> str:
        """A relative path of a media file that stays below its folder, "" when absent."""
        value = self.label(field, MAX_ID)
        if value.startswith("/") or ".." in value.split("/") or "\\" in value or "\x00" in value:
            raise ProblemError(self.name(field), f"{quoted(value)} leaves the media folder", "give a path below it")
        return value


def plays_to_the_end(values: Mapping[str, Any]) -> bool:
    """Whether a trim says so in the way of published files: an end of -1 (ViLMA's loader), or 0 to 0 (SSv2's)."""
    start, end = values.get("start_time"), values.get("end_time")
    if isinstance(end, bool) or not isinstance(end, int | float):
        return False
    return end == -1 or (end == 0 and start == 0)


def check_sentence(name: str, value: Any) -> str:
    """`value` when it is a caption or foil that can be shown; ProblemError otherwise."""
    if value is None:
        raise ProblemError(name, "is missing", "give the text")
    if not isinstance(value, str):
        raise ProblemError(name, f"is {_kind(value)}", "give text")
    if not value.strip():
        raise ProblemError(name, "is empty", "give the text")
    if len(value) > MAX_TEXT:
        raise ProblemError(name, f"has {len(value)} characters, more than {MAX_TEXT}", "shorten it")
    return value


def check_content(value: Any, name: str = "", depth: int = 0) -> None:
    """ProblemError for what no database, no JSON and no page can hold: NaN, infinity, NUL, half a character pair."""
    if depth > MAX_DEPTH:
        raise ProblemError(name, f"is nested deeper than {MAX_DEPTH} levels", "flatten it")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ProblemError(name, f"is {value}", "give a finite number, or null")
    elif isinstance(value, str):
        if not _is_plain(value):
            _check_text(name, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if not _is_plain(key):
                _check_text(f"a field name in {name or 'the record'}", key)
            # Most of what a file holds is plain text: a call for each value would take a sixth of the reading.
            if not (type(inner) is str and inner.isascii() and "\x00" not in inner):
                check_content(inner, f"{name}.{key}" if name else key, depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if not (type(inner) is str and inner.isascii() and "\x00" not in inner):
                check_content(inner, f"{name}[{index}]", depth + 1)


def _is_plain(text: str) -> bool:
    return text.isascii() and "\x00" not in text


def _check_text(name: str, value: str) -> None:
    if "\x00" in value:
        raise ProblemError(name, "contains a NUL character", "remove it")
    if not value.isascii() and HALF.search(value):
        raise ProblemError(name, "contains half of a surrogate pair", "write the complete character")


def _kind(value: Any) -> str:
    """What a wrong value is, in words short enough for a message."""
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, int):
        return f"the number {value}" if abs(value) < 10**20 else "a very large number"
    return "a list" if isinstance(value, list) else "an object"
