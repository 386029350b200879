"""Both state machines (docs/reference/states.md#state-machines). Pure: no Django, no clock, no database.

A move is a name; `*_MOVES` says from which states it may start and where it may lead. Actions ask
`next_candidate_state` / `next_item_state` and then compare-and-swap the row from the old state to the answer.
"""

from dataclasses import dataclass
from enum import StrEnum

from foilworks.core.text.errors import ActionableError
from foilworks.core.text.quoting import quoted


class IllegalMove(ActionableError):
    """The move is not allowed from the row's present state."""


# Word before 0.3.0 -> word now, of item states and verdicts. Audit rows and exports of that time keep the old one.
RENAMED = {"split": "disputed"}


def current_word(word: str) -> str:
    """Return the current name of an item's state or a pair's verdict; other words stay as they are."""
    return RENAMED.get(word, word)


class CandidateState(StrEnum):
    GENERATED = "generated"
    FILTERED_OUT = "filtered_out"
    QUEUED = "queued"
    EDITING = "editing"
    IN_REVIEW = "in_review"
    RETURNED = "returned"
    ACCEPTED = "accepted"
    DROPPED = "dropped"
    SUPERSEDED = "superseded"


class ItemState(StrEnum):
    IN_VALIDATION = "in_validation"
    VALID = "valid"
    INVALID = "invalid"
    DISPUTED = "disputed"
    REQUEUED = "requeued"
    RETRACTED = "retracted"

    @classmethod
    def _missing_(cls, value: object) -> "ItemState | None":
        """Read an old word: a process of the version before can still store one during an update."""
        return cls(RENAMED[value]) if isinstance(value, str) and value in RENAMED else None


class FoilVerdict(StrEnum):
    """The verdict of validators on one caption-foil pair; the item's state follows from its pairs."""

    PENDING = "pending"
    VALID = "valid"
    INVALID = "invalid"
    DISPUTED = "disputed"


@dataclass(frozen=True)
class Move:
    """`to` holds one state, or several where votes decide which."""

    origins: frozenset[str]
    to: frozenset[str]


def _move(origins: tuple[str, ...], *to: str) -> Move:
    return Move(frozenset(origins), frozenset(to))


C = CandidateState
CANDIDATE_MOVES: dict[str, Move] = {
    "reject": _move((C.GENERATED,), C.FILTERED_OUT),
    "queue": _move((C.GENERATED,), C.QUEUED),
    "skip_editing": _move((C.GENERATED,), C.IN_REVIEW),
    "readmit": _move((C.FILTERED_OUT,), C.QUEUED),
    # Where the project edits nothing, what comes back waits for review, as it would have from the start.
    "readmit_to_review": _move((C.FILTERED_OUT,), C.IN_REVIEW),
    # A changed threshold, or a balanced selection without it. In review only until a review task exists.
    "hold_back": _move((C.QUEUED, C.IN_REVIEW), C.FILTERED_OUT),
    "claim": _move((C.QUEUED, C.RETURNED), C.EDITING),
    "release": _move((C.EDITING,), C.QUEUED),
    "release_returned": _move((C.EDITING,), C.RETURNED),
    "submit": _move((C.EDITING,), C.IN_REVIEW),
    "undo_submit": _move((C.IN_REVIEW,), C.EDITING),
    "accept": _move((C.IN_REVIEW,), C.ACCEPTED),
    "send_back": _move((C.IN_REVIEW,), C.RETURNED),
    "drop": _move((C.IN_REVIEW,), C.DROPPED),
    # A person's rewording, or the reviewer's own fix, lives on as a child; the text it came from is superseded.
    "supersede": _move((C.EDITING, C.IN_REVIEW), C.SUPERSEDED),
    # A review undone while nothing has followed from it; what a fix had made is withdrawn with it.
    "undo_review": _move((C.ACCEPTED, C.RETURNED, C.DROPPED, C.SUPERSEDED), C.IN_REVIEW),
    "withdraw": _move((C.ACCEPTED,), C.SUPERSEDED),
    # Not drawn into the share that reviewers see: accepted by rule, and back with its author where they undo it.
    "pass_unreviewed": _move((C.IN_REVIEW,), C.ACCEPTED),
    "undo_pass": _move((C.ACCEPTED,), C.EDITING),
    # Its caption was false: the text goes on under the corrected one as a child, or ends with the video's items.
    "recaption": _move((C.QUEUED, C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED), C.SUPERSEDED),
    "drop_with_video": _move((C.QUEUED, C.EDITING, C.IN_REVIEW, C.RETURNED, C.ACCEPTED), C.DROPPED),
}

I = ItemState  # noqa: E741
ITEM_MOVES: dict[str, Move] = {
    "vote": _move((I.IN_VALIDATION,), I.IN_VALIDATION, I.VALID, I.INVALID, I.DISPUTED),
    "adjudicate": _move((I.DISPUTED,), I.VALID, I.INVALID),
    # Imported as published: valid until collected votes decide.
    "take_publishers_word": _move((I.IN_VALIDATION,), I.VALID),
    "collect_votes": _move((I.VALID,), I.IN_VALIDATION),
    "recount": _move((I.VALID, I.INVALID, I.DISPUTED), I.IN_VALIDATION),
    # Reported after its release: others judge it again, and no earlier vote counts.
    "ask_again": _move((I.VALID, I.INVALID, I.DISPUTED), I.IN_VALIDATION),
    "requeue": _move((I.INVALID,), I.REQUEUED),
    "retract": _move((I.VALID, I.IN_VALIDATION), I.RETRACTED),
    # Only what `retract` took out, to where it was: what its video or its caption took out stays out.
    "restore": _move((I.RETRACTED,), I.VALID, I.IN_VALIDATION),
    # A decision undone by the person who made it, while nothing depends on it.
    "undo_adjudicate": _move((I.VALID, I.INVALID), I.DISPUTED),
    "undo_requeue": _move((I.REQUEUED,), I.INVALID),
    "undo_retract": _move((I.RETRACTED,), I.VALID, I.IN_VALIDATION),
    "undo_restore": _move((I.VALID,), I.RETRACTED),
    # Repair of a false caption: the item stays as the record of its votes, whatever they had come to.
    "recaption": _move((I.IN_VALIDATION, I.VALID, I.INVALID, I.DISPUTED), I.REQUEUED),
    "drop_with_video": _move((I.IN_VALIDATION, I.VALID, I.INVALID, I.DISPUTED), I.RETRACTED),
}

# Nothing leads on from these but an undo within the project's seconds, and the repair of a caption found false.
TERMINAL_CANDIDATE_STATES = frozenset({C.ACCEPTED, C.DROPPED, C.SUPERSEDED})
# Retracted: no more tasks, and they stay as the record of the decision.
WITHDRAWN = frozenset({I.REQUEUED, I.RETRACTED})


def next_candidate_state(state: str, move: str) -> CandidateState:
    """Return where `move` takes a candidate in `state`; IllegalMove if it may not start there."""
    (target,) = _checked(CANDIDATE_MOVES, "candidate", state, move).to
    return CandidateState(target)


def next_item_state(state: str, move: str, outcome: str | None = None) -> ItemState:
    """Return where `move` takes an item; `outcome` chooses among several targets."""
    allowed = _checked(ITEM_MOVES, "item", state, move).to
    if outcome is None and len(allowed) == 1:
        (outcome,) = allowed
    if outcome not in allowed:
        raise IllegalMove(f"an item cannot go from {state} to {outcome} by {quoted(move)}; reload to see its state now")
    return ItemState(outcome)


def first_item_state(votes_wanted: int) -> ItemState:
    """Return the first state of an assembled item: valid at once if the subtest requires no votes."""
    return ItemState.IN_VALIDATION if votes_wanted > 0 else ItemState.VALID


def drops_out(verdict: str, item_state: str) -> bool:
    """Return whether a foil no longer belongs to its item; foilworks.core.corpus.models.DROPPED_OUT is the same for
    rows.

    It was found invalid, or stayed disputed in an item that is valid without it, because enough of its pairs were. A
    valid item keeps its valid foils, or all of them if no votes were collected. In an undecided item, a disputed pair
    can still become valid.
    """
    return verdict == FoilVerdict.INVALID or (verdict == FoilVerdict.DISPUTED and item_state == ItemState.VALID)


def is_left_out(verdict: str, item_state: str) -> bool:
    """Return whether an item, or its proficiency pair, is frozen and reported without this foil.

    Only valid foils are included. An item rejected as a whole is reported with all its texts.
    """
    return item_state == ItemState.VALID and drops_out(verdict, item_state)


def _checked(moves: dict[str, Move], kind: str, state: str, move: str) -> Move:
    allowed_move = moves.get(move)
    if allowed_move is None:
        raise IllegalMove(f"there is no move {quoted(move)} for {kind}s; choose one of: {', '.join(moves)}")
    if state not in allowed_move.origins:
        raise IllegalMove(f"this {kind} is {state}, so {quoted(move)} is not possible; reload to see its state now")
    return allowed_move
