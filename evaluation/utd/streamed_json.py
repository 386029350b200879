"""Read a large JSON object member by member: memory grows with one member, not with the file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from evaluation.errors import EvaluationError
from evaluation.score_files.json_records import fail

CHUNK = 2**20
# A video of 64 frames with five texts each of the allowed length, escaped.
MAX_MEMBER = 2**26
SPACE = " \t\n\r"


def members(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of the object in `path`, in order. EvaluationError names the line of a fault."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _Reader(path, file).members()
    except UnicodeDecodeError as error:
        fail(path, None, "file", "is not UTF-8", f"save it as UTF-8 ({error.reason})")
    except OSError as error:
        raise EvaluationError(f"{path}: cannot be read ({error.strerror}); check its name and permissions") from error


class _Reader:
    """A window on the file; what was read is dropped from it."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self.path, self.file, self.text, self.at, self.line, self.is_end = path, file, "", 0, 1, False
        self.decoder = json.JSONDecoder()

    def members(self) -> Iterator[tuple[str, Any]]:
        if self._next() != "{":
            fail(self.path, self.line, "record", "is not an object", "write {video: {concept: [texts]}}")
        self.at += 1
        if self._next() == "}":
            fail(self.path, self.line, "record", "is empty", "write {video: {concept: [texts]}}")
        while True:
            name = self._value()
            if not isinstance(name, str):
                self._broken("a name in double quotes is missing")
            self._take(":")
            yield name, self._value()
            if self._next() == "}":
                break
            self._take(",")
        self.at += 1
        if self._next():
            self._broken("text follows after the end of the object")

    def _value(self) -> Any:
        self._next()
        chunk_size = CHUNK
        while True:
            try:
                value, end = self.decoder.raw_decode(self.text, self.at)
            except (ValueError, RecursionError) as error:
                if self.is_end or len(self.text) - self.at > MAX_MEMBER:
                    self._broken(getattr(error, "msg", "its lists are nested too deeply"), getattr(error, "lineno", 1))
            else:
                # A number could go on in the next chunk.
                if end < len(self.text) or self.is_end:
                    self.at = end
                    return value
            self._read(chunk_size)
            chunk_size *= 2

    def _next(self) -> str:
        """Return the next character that is not a space, "" at the end of the file."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in SPACE:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if self.is_end:
                return ""
            self._read(CHUNK)

    def _take(self, symbol: str) -> None:
        if self._next() != symbol:
            self._broken(f"'{symbol}' is missing")
        self.at += 1

    def _read(self, size: int) -> None:
        more = self.file.read(size)
        self.is_end = not more
        self.line += self.text.count("\n", 0, self.at)
        self.text, self.at = self.text[self.at :] + more, 0

    def _broken(self, problem: str, line: int = 1) -> None:
        # The decoder counts lines from the start of the window.
        first = self.line if line > 1 else self.line + self.text.count("\n", 0, self.at)
        fail(self.path, first + line - 1, "JSON", problem[:200], "fix the file there, or get a complete copy")
