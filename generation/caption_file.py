"""Captions from a JSON Lines file, to try a method on without a project."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generation.errors import GenerationError
from generation.records import CaptionInput
from text.quoting import quoted


class CaptionFile:
    """Iterable more than once, a line at a time: `{"caption": …, "id"?, "video"?, "facts"?, "count"?}`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[CaptionInput]:
        """Yield the captions; GenerationError names the line and field that is wrong.

        A record without an id gets one made of its text, so that its foils do not depend on its place in the file.
        """
        seen: dict[str, int] = {}
        try:
            with self.path.open(encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        yield self._caption(line, number, seen)
        except OSError as error:
            raise GenerationError(f"{self.path}: cannot be read ({error.strerror}); check the path") from error
        except UnicodeDecodeError as error:
            raise GenerationError(f"{self.path}: is not UTF-8 at byte {error.start}; save it as UTF-8") from error

    def _caption(self, line: str, number: int, seen: dict[str, int]) -> CaptionInput:
        record = self._record(line, number)
        text = record.get("caption")
        if not isinstance(text, str) or not text.strip():
            raise self._wrong(number, "caption", "is missing or empty", "give the caption as text")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self._wrong(number, "caption", "holds half a character", "repair the \\u escapes") from error
        facts = record.get("facts", {})
        if not isinstance(facts, dict):
            raise self._wrong(number, "facts", "is no JSON object", 'write it as {"count": 3}')
        if "count" in record:
            facts = {**facts, "count": record["count"]}
        given = record.get("id")
        key = text if given is None else str(given)
        seen[key] = seen.get(key, 0) + 1
        if given is not None and seen[key] > 1:
            raise self._wrong(number, "id", f"{quoted(key)} stands twice", "give each caption its own id or none")
        name = key if seen[key] == 1 else f"{key}#{seen[key]}"
        return CaptionInput(name, text, video=str(record.get("video", "")), facts=facts)

    def _record(self, line: str, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._wrong(number, "record", "is no JSON", "write one JSON object a line") from error
        if not isinstance(record, dict):
            raise self._wrong(number, "record", "is no JSON object", 'write {"caption": "…"} a line')
        return record

    def _wrong(self, number: int, field: str, problem: str, fix: str) -> GenerationError:
        return GenerationError(f"{self.path}:{number}: {field}: {problem}; {fix}")
