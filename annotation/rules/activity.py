"""How one person works: pace, agreement with others, gold, text positions, time per second watched. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from annotation.rules.pausing import wilson


@dataclass(frozen=True)
class Share:
    """`right` of `seen`, with Wilson's 95 % interval."""

    right: int = 0
    seen: int = 0

    @property
    def value(self) -> float | None:
        return self.right / self.seen if self.seen else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.right, self.seen) if self.seen else None


class Piece(NamedTuple):
    """One edit, review or judgement that was not undone. Seconds are None if nobody measured them."""

    person: int
    stage: str
    seconds: float | None = None
    watched: float | None = None


class Judgement(NamedTuple):
    """A counted vote of validation: `unit` is the judged pair, `first` whether the first text was chosen."""

    unit: object
    person: int | None
    choice: str
    first: bool | None = None


@dataclass(frozen=True)
class Figures:
    """The figures of one person.

    `pace`: tasks per hour of measured time. `time_to_watch`: measured seconds over seconds played, of the tasks that
    have both: 1 means that people decide while the clip plays.
    """

    pieces: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    pace: float | None = None
    time_to_watch: float | None = None
    agreement: Share = Share()
    gold: Share = Share()
    first: Share = Share()

    @property
    def n_pieces(self) -> int:
        return sum(self.pieces.values())


def figures(
    pieces: Iterable[Piece], judgements: Iterable[Judgement], gold: Mapping[int, tuple[int, int]]
) -> dict[int, Figures]:
    """Return figures by person. `gold`: right and seen by person."""
    by_person: dict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        by_person[piece.person].append(piece)
    votes, none = list(judgements), Share()
    agreed, placed = agreement(votes), places(votes)
    return {
        person: _figures(own, agreed.get(person, none), placed.get(person, none), Share(*gold.get(person, (0, 0))))
        for person, own in by_person.items()
    }


def agreement(judgements: Iterable[Judgement]) -> dict[int, Share]:
    """Return by person: of votes on pairs with a majority among the OTHER votes, those that agree with it."""
    units: dict[object, list[Judgement]] = defaultdict(list)
    for vote in judgements:
        units[vote.unit].append(vote)
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for votes in units.values():
        choice_counts = Counter(vote.choice for vote in votes)
        for vote in votes:
            most = None if vote.person is None else _majority_of_others(choice_counts, vote.choice)
            if vote.person is not None and most is not None:
                counts[vote.person][0] += most == vote.choice
                counts[vote.person][1] += 1
    return {person: Share(right, n_compared) for person, (right, n_compared) in counts.items()}


def _majority_of_others(choice_counts: Mapping[str, int], own: str) -> str | None:
    """Return what more than half of the others chose. Counts without a copy: a project has a million votes."""
    n_others = sum(choice_counts.values()) - 1
    return next((choice for choice, n in choice_counts.items() if 2 * (n - (choice == own)) > n_others), None)


def places(judgements: Iterable[Judgement]) -> dict[int, Share]:
    """Return by person: of votes for one of the two texts, those for the first. Half means no bias."""
    counts: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for vote in judgements:
        if vote.person is not None and vote.first is not None:
            counts[vote.person][0] += vote.first
            counts[vote.person][1] += 1
    return {person: Share(first, n_compared) for person, (first, n_compared) in counts.items()}


def _figures(pieces: list[Piece], agreed: Share, first: Share, gold: Share) -> Figures:
    spent = [piece.seconds for piece in pieces if piece.seconds is not None]
    timed_and_watched = [
        (piece.seconds, piece.watched) for piece in pieces if piece.seconds is not None and piece.watched
    ]
    total, watched = sum(spent), sum(watched_seconds for _seconds, watched_seconds in timed_and_watched)
    return Figures(
        pieces=Counter(piece.stage for piece in pieces),
        seconds=median(spent) if spent else None,
        pace=3600 * len(spent) / total if total else None,
        time_to_watch=sum(seconds for seconds, _seen in timed_and_watched) / watched if watched else None,
        agreement=agreed,
        gold=gold,
        first=first,
    )
