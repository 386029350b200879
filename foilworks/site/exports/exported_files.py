"""Read the files of an export for its verification."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


class DifferenceError(Exception):
    """The first difference between an export and what its own records give."""


def read_table(folder: Path, name: str) -> Any:
    """Return the contents of a table of results. DifferenceError: it cannot be read."""
    path = folder / "tables" / f"{name}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DifferenceError(f"tables/{name}.json: cannot be read ({error})") from error


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the record of each line. DifferenceError: the file or a line cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise DifferenceError(f"{path.name}: cannot be read ({error})") from error
    for number, line in enumerate(text.split("\n"), start=1):
        if not line:
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DifferenceError(f"{path.name}:{number}: is not JSON ({error})") from error
        if not isinstance(record, dict):
            raise DifferenceError(f"{path.name}:{number}: is not a record")
        yield f"{path.name}:{number}", record


def parse_line(
    what: str, parse: Callable[[Any], Any], dump: Callable[[Any], Any], where: str, line: dict[str, Any]
) -> Any:
    """Return the record of a line. DifferenceError: it is of another form, or would be written differently."""
    try:
        record = parse(line)
    except (KeyError, TypeError) as error:
        raise DifferenceError(f"{where}: is not a {what} ({error})") from error
    if dump(record) != line:
        raise DifferenceError(f"{where}: does not have the format of a {what}")
    return record
