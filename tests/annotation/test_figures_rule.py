"""Figures of people by hand: agreement leaves the person out, places count one-sided answers alone."""

import pytest

from annotation.rules.activity import Judgement, Piece, Share, agreement, figures, places


def votes(unit, **said):
    return [Judgement(unit, ord(name), choice) for name, choice in said.items()]


def test_agreement_is_with_more_than_half_of_the_others():
    # a says caption where both others do: right. c says foil where both others say caption: wrong.
    found = agreement(votes(1, a="caption", b="caption", c="foil"))
    assert found[ord("c")] == Share(0, 1)
    # The others of a are one caption and one foil: nothing to agree with.
    assert ord("a") not in found


def test_a_single_vote_has_no_agreement():
    assert agreement(votes(1, a="caption")) == {}


def test_votes_of_files_count_as_others_and_are_nobody():
    found = agreement([Judgement(1, None, "caption"), Judgement(1, None, "caption"), Judgement(1, 7, "caption")])
    assert found == {7: Share(1, 1)}


def test_places_leave_out_answers_for_neither_text():
    said = [Judgement(n, 1, "caption", first) for n, first in enumerate([True, True, False, None])]
    assert places(said) == {1: Share(2, 3)}


def test_times_come_from_tasks_that_have_them():
    pieces = [Piece(1, "edit", 10.0, 5.0), Piece(1, "edit", 20.0, 0.0), Piece(1, "review", None, 5.0)]
    own = figures(pieces, [], {1: (3, 4)})[1]
    assert own.pieces == {"edit": 2, "review": 1}
    assert own.seconds == 15.0
    # Two measured pieces in 30 s: 240 an hour. Only the first has both times: 10 / 5.
    assert (own.pace, own.time_to_watch) == (240.0, 2.0)
    assert own.gold.value == 0.75
    assert own.first.interval is None


def test_a_person_has_their_own_figures_of_all_kinds():
    pieces = [Piece(1, "validation", 4.0), Piece(2, "validation", 6.0), Piece(3, "edit")]
    judgements = [Judgement(unit, person, "caption", person == 1) for unit in (1, 2) for person in (1, 2)]
    judgements += [Judgement(3, 1, "foil", False), Judgement(3, 2, "caption", True)]
    found = figures(pieces, judgements, {2: (1, 2)})
    # Of three pairs two agree; person 1 chose the first text twice of three times, person 2 once.
    assert (found[1].agreement, found[1].first, found[1].gold) == (Share(2, 3), Share(2, 3), Share(0, 0))
    assert (found[2].agreement, found[2].first, found[2].gold) == (Share(2, 3), Share(1, 3), Share(1, 2))
    assert (found[3].agreement, found[3].first, found[3].gold) == (Share(), Share(), Share())
    assert (found[3].seconds, found[3].pace, found[3].time_to_watch) == (None, None, None)
    assert (found[1].n_pieces, found[1].pace) == (1, 900.0)


def test_time_without_length_gives_no_pace():
    own = figures([Piece(1, "edit", 0.0, 5.0)], [], {})[1]
    assert (own.seconds, own.pace, own.time_to_watch) == (0.0, None, 0.0)


def test_a_share_has_its_interval_and_nothing_seen_has_none():
    assert Share(8, 10).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert (Share(8, 10).value, Share().value, Share().interval) == (0.8, None, None)
