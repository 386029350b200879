"""Define what the analyses compute on: facts about items and arrays of votes, from files or from the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from foilworks.core.corpus.rules.hard_foils import Candidates, hard_foils
from foilworks.core.text.quoting import quoted

# Truth coding; all vote counts use this order.
CHOICES = ("caption", "foil", "neither", "both", "cannot_tell")
# Files often hold three counts only; `other` is neither, both or cannot tell.
CHOICES3 = ("caption", "foil", "other")
SHOWN = ("first", "second", "neither", "both", "cannot_tell")
CODINGS: Mapping[str, tuple[str, ...]] = {"truth": CHOICES, "truth3": CHOICES3, "shown": SHOWN}
# Any answers; the categories are those of the votes.
LABELS = "labels"

CAPTION, FOIL, OTHER = 0, 1, 5
# Who made a foil.
MACHINE, PERSON = "machine", "person"
SOURCES = (MACHINE, PERSON)
NOBODY = -1


@dataclass(frozen=True, slots=True)
class ProficiencyFacts:
    """The simpler item of a main item; if valid, the foils that remain. `valid` is None if nobody judged it."""

    caption: str
    foils: tuple[str, ...]
    valid: bool | None


# One for all items without.
_NO_FIELDS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """One main item. `valid` and `unanimous` are None if unknown.

    `tallies`: one tuple of counts for each judged unit (a caption-foil pair, or the item if votes name no foil), over
    CHOICES (5 long) or CHOICES3 (3 long). `kept`: the foils that remain in a valid item if others were dropped,
    `kept_tallies` their tallies; None = all of them. `as_published`: valid because it was imported as published, not by
    votes.
    """

    id: str
    subtest: str
    caption: str
    foils: tuple[str, ...]
    test: str = ""
    tallies: tuple[tuple[int, ...], ...] = ()
    valid: bool | None = None
    unanimous: bool | None = None
    proficiency: ProficiencyFacts | None = None
    kept: tuple[str, ...] | None = None
    kept_tallies: tuple[tuple[int, ...], ...] | None = None
    as_published: bool = False
    # (whether its foil remains in the item, counts) of each unit, of the votes that agreement is measured on; None: of
    # all votes.
    compared: tuple[tuple[bool, tuple[int, ...]], ...] | None = None
    # The hard foil: its index among the foils (-1: it dropped out), and how it is known; None if all foils count alike.
    hard_foil: int | None = None
    hard_foil_source: str = ""
    # The source video; "" if unknown.
    video: str = ""
    # The fields of its record: of JSON lines all, of an import format those that no other field here has.
    record_fields: Mapping[str, Any] = field(default_factory=lambda: _NO_FIELDS, compare=False)


def with_hard_foils(items: Sequence[ItemFacts], read: Iterable[Candidates]) -> list[ItemFacts]:
    """Return the items with the hard foils that `foilworks.core.corpus.rules.hard_foils` finds in what was read of
    them."""
    return [
        item if hard is None else replace(item, hard_foil=hard.index, hard_foil_source=hard.source)
        for item, hard in zip(items, hard_foils(read), strict=True)
    ]


def hard_part(items: Iterable[ItemFacts]) -> list[ItemFacts]:
    """Return the items with only their hard foil where they have one; an item without any foil left is left out."""
    with_foils = []
    for item in items:
        if item.hard_foil is not None:
            hard_foils_of_item = item.foils[item.hard_foil : item.hard_foil + 1] if item.hard_foil >= 0 else ()
            foils = None if item.kept is None else tuple(foil for foil in hard_foils_of_item if foil in item.kept)
            item = replace(item, foils=hard_foils_of_item, kept=foils, tallies=(), kept_tallies=None, compared=None)
        if item.foils:
            with_foils.append(item)
    return with_foils


def valid_part(items: Iterable[ItemFacts]) -> list[ItemFacts]:
    """Return the valid items as they are released: without dropped foils and the votes on them."""
    return [_as_released(item) for item in items if item.valid]


def _as_released(item: ItemFacts) -> ItemFacts:
    foils = item.foils if item.kept is None else item.kept
    tallies = item.tallies if item.kept_tallies is None else item.kept_tallies
    compared = item.compared and tuple(pair for pair in item.compared if pair[0])
    # Most items are released whole: a copy of each would double what a large project needs.
    is_whole = (foils, tallies, compared) == (item.foils, item.tallies, item.compared)
    return item if is_whole else replace(item, foils=foils, tallies=tallies, compared=compared)


@dataclass(frozen=True)
class EditFacts:
    """A foil and its author. `verb`: the lemma that it inserts, empty if unknown. `source` "": nobody recorded the
    author; then the name of its `subtest` may tell.
    """

    caption: str
    foil: str
    source: str
    verb: str = ""
    subtest: str = ""


@dataclass(frozen=True)
class Votes:
    """v votes. `unit`, `annotator`: (v,) codes into the names; `choice`: (v,) code into CHOICES, OTHER = `other`.

    `unit_items`: (units,) a code of the item of each unit; intervals draw items. `position`: (v,) the position of the
    caption, 1 or 2, 0 if unknown. `annotator` is NOBODY if the vote names no one.
    """

    unit: NDArray[np.int64]
    annotator: NDArray[np.int64]
    choice: NDArray[np.int64]
    position: NDArray[np.int64]
    unit_names: Sequence[str]
    annotator_names: Sequence[str]
    unit_items: NDArray[np.int64]
    # (v,) codes into guideline_names: the version that each voter had; None if unknown.
    guideline: NDArray[np.int64] | None = None
    guideline_names: Sequence[str] = ()
    # (v,) whether agreement is measured on the vote; None: on all.
    compared: NDArray[np.bool_] | None = None
    # The categories that `choice` counts, if they are not CHOICES.
    labels: Sequence[str] = ()

    @property
    def n_items(self) -> int:
        return len(np.unique(self.unit_items[self.unit]))


# What agreement is measured on: all votes; those of pairs judged in full; all, although some pairs stopped early.
ALL_VOTES, IN_FULL, STOPPED_EARLY = "all", "in_full", "stopped_early"


def compared_part(votes: Votes) -> tuple[Votes, str]:
    """Return the votes that agreement is measured on, and how they were chosen.

    If no pair was judged in full, all votes are returned, and agreement is biased.
    """
    if votes.compared is None:
        return votes, ALL_VOTES
    if not votes.compared.any():
        return votes, STOPPED_EARLY
    return _select_votes(votes, votes.compared), IN_FULL


def _select_votes(votes: Votes, selected: NDArray[np.bool_]) -> Votes:
    return replace(
        votes,
        unit=votes.unit[selected],
        annotator=votes.annotator[selected],
        choice=votes.choice[selected],
        position=votes.position[selected],
        guideline=None if votes.guideline is None else votes.guideline[selected],
        compared=None,
    )


def coded(votes: Votes, coding: str) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return (v,) codes of the votes under a named coding, with the coding's categories.

    EvaluationError if the votes do not support it: `truth` from three-way counts, `shown` without positions.
    """
    if votes.labels:
        return votes.choice, tuple(votes.labels)
    if coding not in CODINGS:
        raise EvaluationError(f"unknown coding {quoted(coding)}; choose one of: {', '.join(CODINGS)}")
    if coding == "truth3":
        return np.minimum(votes.choice, 2), CHOICES3
    if (votes.choice == OTHER).any():
        raise EvaluationError("these votes have only caption, foil and other; use coding=truth3")
    if coding == "truth":
        return votes.choice, CHOICES
    sided = votes.choice <= FOIL
    if (sided & (votes.position == 0)).any():
        raise EvaluationError(
            "some votes do not give the position of the caption; give `position`, or use coding=truth"
        )
    # The first text was chosen: the caption at position 1, or the foil with the caption at position 2.
    first_chosen = np.where((votes.choice == CAPTION) == (votes.position == 1), 0, 1)
    return np.where(sided, first_chosen, votes.choice), SHOWN


def tallied(votes: Votes, codes: NDArray[np.int64], categories: int) -> NDArray[np.int64]:
    """Count how often each category was given to each unit, (units, categories)."""
    units = len(votes.unit_names)
    flat = np.bincount(votes.unit * categories + codes, minlength=units * categories)
    return flat.reshape(units, categories)


def collapse_to_three(tally: Sequence[int]) -> tuple[int, int, int]:
    """Collapse counts over CHOICES or CHOICES3 to CHOICES3."""
    return tally[0], tally[1], sum(tally[2:])
