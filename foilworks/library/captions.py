"""Make foils of captions: what `foilworks foil --file` does."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foilworks.core.corpus.import_formats.parsing.raw_records import raw_records
from foilworks.library.inputs import Data, opened_files, rows_of
from foilworks.library.results import Result, Row
from generation.errors import GenerationError


@dataclass(frozen=True, repr=False)
class Foils(Result):
    """The result of `foils`. Tables: `foils`, `skipped` with reasons, `blanks` for people to fill.

    >>> import foilworks
    >>> foilworks.foils(["A dog jumps."], method="number").tables()["skipped"][0]["caption"]
    'A dog jumps.'
    """

    def summary(self) -> str:
        """Return how many foils were made, and how many captions have none."""
        n_foils, n_skipped = len(self.document["candidates"]), len(self.document["skipped"])
        return f"{n_foils:,} foils, {n_skipped:,} reasons why captions have none"

    def tables(self) -> Mapping[str, Sequence[Row]]:
        """Return the foils, the skipped captions and the blanks."""
        return {"foils": self.document["candidates"], **{name: self.document[name] for name in ("skipped", "blanks")}}


def foils(
    captions: Data,
    *,
    method: str,
    mode: str = "corrected",
    seed: int = 0,
    draw: bool = True,
    **params: Any,
) -> Foils:
    """Make foils of captions by a method (docs/reference/methods.md).

    `captions`: n texts, or records with `caption` and optional `id`, `video`, `facts` and `count`, or a file of them in
    JSON Lines. `mode`: `corrected`, or `paper` as published. `draw`: at most one foil per caption, drawn as balanced
    runs draw; False: all. `params`: of the method. The same seed makes the same foils.

    RegistryError: an unknown method or parameter. GenerationError: a caption cannot be read, or the method queries an
    instruction model, which needs the settings of an installation.

    >>> import foilworks
    >>> made = foilworks.foils(["A man claps exactly three times."], method="number", draw=False, seed=1)
    >>> made.to_json() == foilworks.foils([{"caption": "A man claps exactly three times."}],
    ...                                   method="number", draw=False, seed=1).to_json()
    True
    >>> made["candidates"][0]["source"]
    'three'
    """
    from generation.caption_file import CaptionFile
    from generation.default_filters import default_filters
    from generation.filters.registry import DRAW
    from generation.trial import try_method

    is_drawn = draw and DRAW in default_filters(method, mode)
    with opened_files(_records_of(captions), "captions") as files:
        if len(files) != 1:
            raise GenerationError(f"captions: {len(files)} files; give the captions, or one file of them")
        source = CaptionFile(files[0].path)
        document = try_method(method, source, mode=mode, seed=seed, raw_params=params, is_drawn=is_drawn)
    return Foils(document)


def _records_of(captions: Data) -> Data:
    """Return a file of JSON lines as it is, and of anything else the records: a text becomes `{"caption": text}`."""
    if isinstance(captions, str | os.PathLike):
        path = Path(captions)
        if path.suffix.lower() not in {".csv", ".tsv", ".parquet"}:
            return path
        return [raw.value for raw in raw_records(path)]
    return [{"caption": row} if isinstance(row, str) else row for row in rows_of(captions)]
