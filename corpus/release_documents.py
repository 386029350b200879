"""What goes out with a release beside its items, votes and scores: plain facts, no table.

Who made it and how it is cited, under which licences its sources are, what people answered to the questions of the
datasheet, what changed since the release before, the candidates that were rejected, the figures.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Citation:
    """How the benchmark is named and reached; what nobody said is empty. `authors`: "Family, Given" each."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""
    year: str = ""
    doi: str = ""
    url: str = ""
    # Of the texts that were made here; videos and captions stand under the licences of their sources.
    licence: str = ""
    licence_url: str = ""
    contact: str = ""


@dataclass(frozen=True)
class SourceTerms:
    """A data set that videos come from ("" where none is named), with the terms it is under."""

    dataset: str
    licence: str = ""
    url: str = ""
    notes: str = ""
    # Whether its terms let a page without sign-in show its videos.
    may_show: bool = False
    n_items: int = 0
    n_videos: int = 0


@dataclass(frozen=True)
class Figure:
    """A drawing with the numbers behind it: `rows` has its header first. Drawn where it is written: few formats do."""

    drawn: Callable[[], bytes]
    rows: tuple[tuple[Any, ...], ...]


def _nothing() -> Iterable[Mapping[str, Any]]:
    return ()


@dataclass(frozen=True)
class ReleaseDocuments:
    """`answers`: by slug of corpus.exporters.parts.datasheet_questions. `known`: numbers for the datasheet.
    `rejected`: asked for once, and read as it comes, since there may be many times more of them than items."""

    citation: Citation = Citation()
    sources: tuple[SourceTerms, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    # As evaluation.releases.changes tells it; None: there is no release before.
    changes: Mapping[str, Any] | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    rejected: Callable[[], Iterable[Mapping[str, Any]]] = _nothing
