"""The questions of each mode, and the scores that follow from what was answered. Pure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.intervals import exact_binomial
from evaluation.scoring.served.questions import Asking, Shown, questions, verdicts
from evaluation.scoring.served.specs import Mode
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.served.readings import Outcome, Reading


def answered(*shares):
    return Reading(Outcome.ANSWERED, shares)


def asked(mode, texts):
    return [(question.number, question.texts) for question in questions(Asking(mode), texts, Shown((b"x",)))]


def test_every_two_texts_are_asked_in_both_orders():
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    expected = [(number, order) for one, two in pairs for number, order in ((1, (one, two)), (2, (two, one)))]
    assert asked(Mode.PAIRS, ["a", "b", "c"]) == expected


def test_in_a_choice_every_text_is_once_at_every_letter():
    orders = [order for _, order in asked(Mode.CHOICE, ["a", "b", "c"])]
    assert all({order[place] for order in orders} == {"a", "b", "c"} for place in range(3))


def test_a_choice_has_no_more_texts_than_letters():
    with pytest.raises(ClipError, match="a choice takes at most 26 texts, not 27"):
        asked(Mode.CHOICE, [str(n) for n in range(27)])
    assert len(asked(Mode.PAIRS, [str(n) for n in range(2)])) == 2


def judged(how, texts, readings):
    found = questions(how, texts, Shown((b"x",)))
    return verdicts(how, texts, list(zip(found, readings, strict=True)))


def test_a_pair_without_one_of_its_orders_has_no_score():
    """Half of a pair would bring the position bias back."""
    how, refused = Asking(Mode.PAIRS), Reading(Outcome.REFUSED, why="no")
    found = judged(how, ["a", "b"], [answered(0.9, 0.1), refused])
    assert [verdict.value for verdict in found] == [None, None]
    # The second order shows b first.
    found = judged(how, ["a", "b"], [answered(0.9, 0.1), answered(0.6, 0.4)])
    assert [verdict.value for verdict in found] == pytest.approx([(0.9 + 0.4) / 2, (0.1 + 0.6) / 2])


def test_refused_samples_do_not_count_and_a_failed_one_leaves_the_text_open():
    how = Asking(by_probability=False, samples=4)
    yes, no, refused = answered(1.0, 0.0), answered(0.0, 1.0), Reading(Outcome.REFUSED, why="no")
    (verdict,) = judged(how, ["a"], [yes, no, yes, refused])
    assert verdict.value == pytest.approx(2 / 3)
    assert (verdict.components["yes"], verdict.components["n"], verdict.components["asked"]) == (2, 3, 4)
    (verdict,) = judged(how, ["a"], [refused] * 4)
    assert (verdict.value, verdict.outcome) == (None, Outcome.REFUSED)
    (verdict,) = judged(how, ["a"], [yes, no, yes, Reading(Outcome.FAILED, why="500")])
    assert (verdict.value, verdict.outcome, verdict.why) == (None, Outcome.FAILED, "500")


@given(st.integers(1, 60), st.data())
def test_the_interval_of_samples_contains_their_share(n, data):
    hits = data.draw(st.integers(0, n))
    low, high = exact_binomial(hits, n)
    assert 0 <= low <= hits / n <= high <= 1


def test_the_interval_equals_that_of_clopper_and_pearson():
    assert exact_binomial(8, 10) == pytest.approx([0.44390, 0.97479], abs=1e-5)
    assert exact_binomial(0, 10) == pytest.approx([0, 0.30850], abs=1e-5)
    assert exact_binomial(10, 10) == pytest.approx([0.69150, 1], abs=1e-5)
