"""What a candidate group needs next on its way to an item of k foils. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GroupFacts:
    """Counts of a group's candidates by state.

    `accepted` leaves out those that already belong to an item (a requeued one). `suggestions` counts what a method made
    and the filters let through, whatever happened to it. `by_person`: the run's method is "person".
    """

    wanted: int
    accepted: int = 0
    in_review: int = 0
    claimable: int = 0
    editing: int = 0
    suggestions: int = 0
    by_person: bool = False
    edit_stage: bool = True


@dataclass(frozen=True)
class NextWork:
    """`reviews`: how many candidates in review should have an open review task; `edit`: whether to edit more."""

    assemble: bool = False
    reviews: int = 0
    edit: bool = False


def next_work(facts: GroupFacts) -> NextWork:
    """Assemble if k are accepted; else review as many as are missing, and edit if there are too few."""
    missing = facts.wanted - facts.accepted
    if missing <= 0:
        return NextWork(assemble=True)
    reviews = min(facts.in_review, missing)
    too_few = facts.in_review < missing
    return NextWork(reviews=reviews, edit=too_few and bool(facts.claimable or facts.editing or _blanks(facts)))


def texts_wanted(facts: GroupFacts) -> int:
    """Return how many texts an edit of the group must contain."""
    return max(0, facts.wanted - facts.accepted - facts.in_review)


def _blanks(facts: GroupFacts) -> bool:
    """Return whether people may write foils without a suggestion.

    A group whose suggestions were all filtered out or dropped ends there: its caption did not work for the method.
    """
    if facts.by_person:
        return True
    started = facts.accepted > 0 or facts.suggestions < facts.wanted
    return facts.edit_stage and facts.suggestions > 0 and started
