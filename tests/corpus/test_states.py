"""Every state with every move. The expected tables are written out here and in docs/workflow.md#states, not read from
the code."""

from itertools import product

import pytest

from foilworks.core.corpus.rules.states import (
    CANDIDATE_MOVES,
    ITEM_MOVES,
    TERMINAL_CANDIDATE_STATES,
    CandidateState,
    FoilVerdict,
    IllegalMove,
    ItemState,
    drops_out,
    first_item_state,
    is_left_out,
    next_candidate_state,
    next_item_state,
)
from tests.rows import for_each

CANDIDATE = {
    ("generated", "reject"): "filtered_out",
    ("generated", "queue"): "queued",
    ("generated", "skip_editing"): "in_review",
    ("filtered_out", "readmit"): "queued",
    ("filtered_out", "readmit_to_review"): "in_review",
    ("queued", "hold_back"): "filtered_out",
    ("in_review", "hold_back"): "filtered_out",
    ("queued", "claim"): "editing",
    ("returned", "claim"): "editing",
    ("editing", "release"): "queued",
    ("editing", "release_returned"): "returned",
    ("editing", "submit"): "in_review",
    ("editing", "supersede"): "superseded",
    ("in_review", "undo_submit"): "editing",
    ("in_review", "accept"): "accepted",
    ("in_review", "send_back"): "returned",
    ("in_review", "drop"): "dropped",
    ("in_review", "supersede"): "superseded",
    ("accepted", "undo_review"): "in_review",
    ("returned", "undo_review"): "in_review",
    ("dropped", "undo_review"): "in_review",
    ("superseded", "undo_review"): "in_review",
    ("accepted", "withdraw"): "superseded",
    ("in_review", "pass_unreviewed"): "accepted",
    ("accepted", "undo_pass"): "editing",
    ("queued", "recaption"): "superseded",
    ("editing", "recaption"): "superseded",
    ("in_review", "recaption"): "superseded",
    ("returned", "recaption"): "superseded",
    ("accepted", "recaption"): "superseded",
    ("queued", "drop_with_video"): "dropped",
    ("editing", "drop_with_video"): "dropped",
    ("in_review", "drop_with_video"): "dropped",
    ("returned", "drop_with_video"): "dropped",
    ("accepted", "drop_with_video"): "dropped",
}
ITEM = {
    ("in_validation", "vote"): {"in_validation", "valid", "invalid", "disputed"},
    ("disputed", "adjudicate"): {"valid", "invalid"},
    ("in_validation", "take_publishers_word"): {"valid"},
    ("valid", "collect_votes"): {"in_validation"},
    ("valid", "ask_again"): {"in_validation"},
    ("invalid", "ask_again"): {"in_validation"},
    ("disputed", "ask_again"): {"in_validation"},
    ("valid", "recount"): {"in_validation"},
    ("invalid", "recount"): {"in_validation"},
    ("disputed", "recount"): {"in_validation"},
    ("invalid", "requeue"): {"requeued"},
    ("valid", "retract"): {"retracted"},
    ("in_validation", "retract"): {"retracted"},
    ("retracted", "restore"): {"valid", "in_validation"},
    ("valid", "undo_adjudicate"): {"disputed"},
    ("invalid", "undo_adjudicate"): {"disputed"},
    ("requeued", "undo_requeue"): {"invalid"},
    ("retracted", "undo_retract"): {"valid", "in_validation"},
    ("valid", "undo_restore"): {"retracted"},
    ("in_validation", "recaption"): {"requeued"},
    ("valid", "recaption"): {"requeued"},
    ("invalid", "recaption"): {"requeued"},
    ("disputed", "recaption"): {"requeued"},
    ("in_validation", "drop_with_video"): {"retracted"},
    ("valid", "drop_with_video"): {"retracted"},
    ("invalid", "drop_with_video"): {"retracted"},
    ("disputed", "drop_with_video"): {"retracted"},
}


def test_the_tables_name_no_move_that_this_file_does_not_know():
    assert set(CANDIDATE_MOVES) == {move for _, move in CANDIDATE}
    assert set(ITEM_MOVES) == {move for _, move in ITEM}


@for_each("state, move", product(CandidateState, sorted(CANDIDATE_MOVES)))
def test_a_candidate_moves_as_written_and_in_no_other_way(state, move):
    if (state.value, move) in CANDIDATE:
        assert next_candidate_state(state, move) == CANDIDATE[state.value, move]
    else:
        with pytest.raises(IllegalMove, match=f"^this candidate is {state}, so '{move}' is not possible; reload"):
            next_candidate_state(state, move)


@for_each("state, move, outcome", product(ItemState, sorted(ITEM_MOVES), ItemState))
def test_an_item_moves_as_written_and_in_no_other_way(state, move, outcome):
    if outcome.value in ITEM.get((state.value, move), ()):
        assert next_item_state(state, move, outcome) == outcome
    else:
        with pytest.raises(IllegalMove):
            next_item_state(state, move, outcome)


def test_a_move_with_one_target_needs_no_outcome_and_one_with_several_does():
    assert next_item_state("invalid", "requeue") == ItemState.REQUEUED
    with pytest.raises(IllegalMove, match=r"^an item cannot go from disputed to None by 'adjudicate'; reload"):
        next_item_state("disputed", "adjudicate")


def test_an_unknown_move_names_those_there_are():
    with pytest.raises(IllegalMove, match=r"^there is no move 'teleport' for candidates; choose one of: reject, queue"):
        next_candidate_state("queued", "teleport")
    with pytest.raises(IllegalMove, match=r"^there is no move 'teleport' for items; choose one of: vote, adjudicate"):
        next_item_state("valid", "teleport")


def test_only_an_undo_or_a_false_caption_moves_a_row_out_of_a_terminal_state():
    undos = {"undo_review", "withdraw", "undo_pass", "recaption", "drop_with_video"}
    for state in TERMINAL_CANDIDATE_STATES:
        assert {move for origin, move in CANDIDATE if origin == state} <= undos
    assert [move for origin, move in ITEM if origin in ("requeued", "retracted")] == [
        "restore",
        "undo_requeue",
        "undo_retract",
    ]


def test_an_item_waits_for_votes_only_where_some_are_wanted():
    assert first_item_state(3) == ItemState.IN_VALIDATION
    assert first_item_state(1) == ItemState.IN_VALIDATION
    assert first_item_state(0) == ItemState.VALID


DROPS_OUT = {("disputed", "valid"), *(("invalid", state) for state in ItemState)}


@for_each("verdict, state", product(FoilVerdict, ItemState))
def test_a_foil_drops_out_where_it_was_refused_or_its_item_is_valid_without_it(verdict, state):
    assert drops_out(verdict, state) is ((verdict, state) in DROPS_OUT)


@for_each("verdict, state", product(FoilVerdict, ItemState))
def test_only_a_valid_item_is_reported_without_its_dropped_foils(verdict, state):
    assert is_left_out(verdict, state) is (state == "valid" and verdict in ("invalid", "disputed"))


def test_no_state_of_an_item_lacks_an_exit_that_a_person_can_take():
    """Votes and jobs may never come: each state but `requeued`, the record of other work, has a move of a person."""
    of_people = {"adjudicate", "collect_votes", "ask_again", "requeue", "retract", "restore", "recaption"}
    exits = {state: {name for name, move in ITEM_MOVES.items() if state in move.origins} for state in ItemState}
    assert [state for state in ItemState if not exits[state] & of_people] == ["requeued"]
