"""One module per method: what the quality page measures on published files. __main__.py reads them all.

A module has FILES (patterns of file names), METHOD, RECIPE, USES_TAGGER, and `measure(items, tagger)`, which yields a
Sample for each row of the page. `items`: id -> item, in the order of the file.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from generation.records import CaptionInput
from tests.generation.making import outcomes

ARTICLES = re.compile(r"\b(?:an?|the|some)\b")
SEED = 208
Item = Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What a method made of one caption.

    `equal`: whether it is the authors' choice; None if the file has no such choice. `why`: why there is no result.
    """

    caption: str
    made: bool
    equal: bool | None = None
    foils: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Sample:
    """One row of the page: the results of some captions.

    `settings`: parameters that differ from the recipe's. `part`: which captions of the file. `note`: a further measure.
    `judged`: whether readers judge a sample of its foils.
    """

    results: Sequence[Result]
    settings: str = ""
    part: str = ""
    note: str = ""
    judged: bool = True


def without_articles(text: str) -> list[str]:
    """Return the words of a text in lower case, without articles, "some" and punctuation."""
    return ARTICLES.sub("", re.sub(r"[^\w\s]", "", text.lower())).split()


def captions_of(items: Mapping[str, Item], field: str = "caption", video: str = "") -> list[CaptionInput]:
    """Return the captions of the items; `video` is the field of their videos."""
    return [CaptionInput(at, item[field], video=str(item[video]) if video else "") for at, item in items.items()]


def foils_of(
    method: str,
    captions: Sequence[CaptionInput],
    authors: Sequence[Sequence[str]] = (),
    *,
    mode: str = "corrected",
    **params: Any,
) -> list[Result]:
    """Return the foils of each caption with seed 0, compared with `authors`: the foils of the file, if it has any."""
    found = []
    given = authors or [()] * len(captions)
    for caption, theirs, outcome in zip(
        captions, given, outcomes(method, list(captions), mode=mode, **params), strict=True
    ):
        foils = tuple(judged.draft.foil for judged in outcome.foils)
        bare = [without_articles(foil) for foil in theirs]
        equal = any(without_articles(foil) in bare for foil in foils) if authors else None
        found.append(Result(caption.text, bool(foils), equal, foils, tuple(theirs), "; ".join(outcome.skipped)))
    return found


def in_halves(sample: Sample, texts: Sequence[str]) -> Iterator[Sample]:
    """Yield the development half and the held half; results with the same text in `texts` are in the same half."""
    every = sorted(set(texts))
    random.Random(SEED).shuffle(every)
    development = set(every[: len(every) // 2])
    halves: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("development half", lambda text: text in development),
        ("held half", lambda text: text not in development),
    )
    for part, belongs in halves:
        results = [result for result, text in zip(sample.results, texts, strict=True) if belongs(text)]
        yield replace(sample, results=results, part=part)
