"""Read a list of characters: a tab-separated file with the columns movie, name, gender and optionally aliases.

Aliases are separated by "|".
"""

from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.table_rows import TAB, read_rows

COLUMNS = ("movie", "name", "gender")


def characters_in(text: str, name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the same of a text that was uploaded as a file of this name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "characters.tsv"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            return read_characters(path)
        except CorpusError as error:
            raise CorpusError(str(error).replace(str(path), name)) from error


def read_characters(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return {movie: characters}, each with the fields of the fact `characters`. CorpusError names file and line."""
    by_movie: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(path, list(COLUMNS), TAB, names=COLUMNS):
        cells = row.value
        if row.problem or not all(cells[name] for name in COLUMNS):
            problem = row.problem or "lacks a movie, a name or a gender"
            raise CorpusError(f"{path}:{row.line}: row: {problem}; correct the row")
        movie, name = str(cells["movie"]), str(cells["name"])
        if any(earlier["name"] == name for earlier in by_movie[movie]):
            raise CorpusError(f"{path}:{row.line}: name: repeats a character of its movie; remove the row")
        aliases = [alias.strip() for alias in (cells.get("aliases") or "").split("|") if alias.strip()]
        character = {"name": name, "gender": cells["gender"], "movie": movie, "frequency": 0}
        by_movie[movie].append(character | ({"aliases": aliases} if aliases else {}))
    return dict(by_movie)
