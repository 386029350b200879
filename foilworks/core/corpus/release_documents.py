"""Documents that are published with a release beside its items, votes and scores: plain facts, no table.

Authors and citation, licences of the sources, answers to the datasheet, changes since the last release, rejected
candidates, figures.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Citation:
    """How the benchmark is named and cited; unknown fields are empty. `authors`: "Family, Given" each."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""
    year: str = ""
    doi: str = ""
    url: str = ""
    # Of the texts that were made here; videos and captions keep the licences of their sources.
    licence: str = ""
    licence_url: str = ""
    contact: str = ""


@dataclass(frozen=True)
class SourceTerms:
    """A data set that videos come from ("" if none is named), with its terms."""

    dataset: str
    licence: str = ""
    url: str = ""
    notes: str = ""
    # Whether its terms allow a public page to show its videos.
    may_show: bool = False
    n_items: int = 0
    n_videos: int = 0


@dataclass(frozen=True)
class Figure:
    """A chart with its numbers: `rows` starts with its header.

    It is drawn when it is written, because few formats need it.
    """

    drawn: Callable[[], bytes]
    rows: tuple[tuple[Any, ...], ...]


def _nothing() -> Iterable[Mapping[str, Any]]:
    return ()


@dataclass(frozen=True)
class ReleaseDocuments:
    """Everything beside the items.

    `answers`: by slug of foilworks.core.corpus.export_formats.parts.datasheet_questions. `known`: numbers for the
    datasheet. `rejected`: read once, as a stream, because there may be many times more of them than items.
    """

    citation: Citation = Citation()
    sources: tuple[SourceTerms, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    # From evaluation.releases.changes; None for the first release.
    changes: Mapping[str, Any] | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    rejected: Callable[[], Iterable[Mapping[str, Any]]] = _nothing
