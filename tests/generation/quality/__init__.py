"""One module per method: what the quality page measures on published files. scripts/quality.py reads them all.

A module has FILES (a pattern of file names), METHOD, RECIPE, and `measure(items, tagger) -> Row`.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ARTICLES = re.compile(r"\b(?:a|an|the)\b")
Item = Mapping[str, Any]


@dataclass
class Row:
    """What a method made of a file: how many captions, results, and results equal to the authors' choice.

    `foils`: (caption, foil) of each foil, for the judgements. `refused`: why there is none, with its number.
    """

    captions: int = 0
    made: int = 0
    equal: int = 0
    foils: list[tuple[str, str]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def without_articles(text: str) -> list[str]:
    """Return the words of a text in lower case, without articles and punctuation."""
    return ARTICLES.sub("", re.sub(r"[^\w\s]", "", text.lower())).split()


def made_by(module: Any, captions: Sequence[str], **params: Any) -> list[Any]:
    """Return what a method by rule yields for each caption: a FoilDraft, or a Skip."""
    from generation.records import CaptionInput

    inputs = [CaptionInput(str(at), text) for at, text in enumerate(captions)]
    return list(module.make(inputs, params=params, mode="corrected", seed=0))
