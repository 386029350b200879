"""Read captions from a JSON Lines file, to try a method without a project."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from foilworks.core.text.quoting import quoted
from generation.errors import GenerationError
from generation.records import CaptionInput


class CaptionFile:
    """A file of captions, iterable more than once. A line: `{"caption": …, "id"?, "video"?, "facts"?, "count"?}`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[CaptionInput]:
        """Yield the captions. GenerationError names the invalid line and field.

        A record without an id gets one made from its text, so that its foils do not depend on its line.
        """
        key_counts: dict[str, int] = {}
        try:
            with self.path.open(encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines, start=1):
                    if line.strip():
                        yield self._caption(line, number, key_counts)
        except OSError as error:
            raise GenerationError(f"{self.path}: cannot read the file ({error.strerror}); check the path") from error
        except UnicodeDecodeError as error:
            raise GenerationError(f"{self.path}: not UTF-8 at byte {error.start}; save the file as UTF-8") from error

    def _caption(self, line: str, number: int, key_counts: dict[str, int]) -> CaptionInput:
        record = self._record(line, number)
        text = record.get("caption")
        if not isinstance(text, str) or not text.strip():
            raise self._wrong(number, "caption", "is missing or empty", "give the caption as text")
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self._wrong(
                number, "caption", "contains half of a surrogate pair", "repair the \\u escapes"
            ) from error
        facts = record.get("facts", {})
        if not isinstance(facts, dict):
            raise self._wrong(number, "facts", "is not a JSON object", 'write it as {"count": 3}')
        if "count" in record:
            facts = {**facts, "count": record["count"]}
        given_id = record.get("id")
        key = text if given_id is None else str(given_id)
        key_counts[key] = key_counts.get(key, 0) + 1
        if given_id is not None and key_counts[key] > 1:
            raise self._wrong(number, "id", f"{quoted(key)} occurs twice", "give each caption a different id, or none")
        name = key if key_counts[key] == 1 else f"{key}#{key_counts[key]}"
        return CaptionInput(name, text, video=str(record.get("video", "")), facts=facts)

    def _record(self, line: str, number: int) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise self._wrong(number, "record", "is not JSON", "write one JSON object per line") from error
        if not isinstance(record, dict):
            raise self._wrong(
                number, "record", "is not a JSON object", 'write one object per line, such as {"caption": "…"}'
            )
        return record

    def _wrong(self, number: int, field: str, problem: str, fix: str) -> GenerationError:
        return GenerationError(f"{self.path}:{number}: {field}: {problem}; {fix}")
