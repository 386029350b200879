"""`utd`: what belongs to UTD, about videos and samples that are there: descriptions of frames
(`{video: {concept: [a text a frame]}}`), splits (`{"full": [ids], "debiased": [ids], …}`), or the predictions of nine
models (`sample,class,correct_1 … correct_9,confidence`). The file itself says which; evaluation/bias reads it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.import_formats.parsing.json_records import MEND, read_text

YIELDS = "utd"


@dataclass(frozen=True)
class UtdFile:
    """What a file holds, and of how many videos or samples."""

    holds: Literal["descriptions", "splits", "predictions"]
    n: int


def read(path: Path, *, params: Mapping[str, Any]) -> Iterator[UtdFile]:
    """One outcome. CorpusError when the file is none of the three."""
    if path.suffix.lower() in {".pickle", ".pkl"}:
        raise CorpusError(f"{path}: file: a pickle can run a program and is not opened; save it as JSON")
    text = read_text(path)
    if text.lstrip()[:1] != "{":
        header = [name.strip().lower() for name in text.partition("\n")[0].split(",")]
        if "sample" not in header or "correct_1" not in header:
            raise CorpusError(f"{path}:1: header: has no columns sample, correct_1; give predictions, or JSON")
        yield UtdFile("predictions", text.count("\n"))
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise CorpusError(f"{path}:{line}: JSON: {str(error)[:120]}; {MEND}") from error
    splits = {"full", "debiased"} <= data.keys()
    yield UtdFile("splits", len(data["full"])) if splits else UtdFile("descriptions", len(data))
