"""What a seed has drawn stays drawn: an update that draws otherwise would serve another study than the one begun.

The numbers were written down once; they change with nothing but the seed and what they are drawn for.
"""

import pytest

from annotation.rules import choosing
from annotation.rules.baseline import CAPTION, chosen_text, drawn, order_shown, place_of
from annotation.rules.gold_serving import gold_caption_first, gold_is_due, pick
from annotation.rules.objects import drawn_frames, drawn_time
from annotation.rules.ordering import caption_first, priority, seeded_share
from annotation.rules.quizzes import draw
from annotation.rules.reviewing import drawn_for_a_second, drawn_for_review


def gold_places(secret: int, person: int, rate: float, served: int) -> list[int]:
    """The places (0-based) of gold among the person's pieces."""
    return [place for place in range(served) if gold_is_due(secret, person, place, rate)]


def test_a_share_is_its_parts():
    assert seeded_share("a", 1, "b") == 0.9554482749679012
    assert seeded_share(1, 2) == 0.48217972291836586
    assert seeded_share(12) != seeded_share(1, 2)


def test_the_texts_of_a_baseline_are_the_items_and_the_persons():
    shown = [order_shown(7, item, person, [11, 12, 13]) for item, person in ((5, 3), (6, 3), (5, 4))]
    assert shown == [[0, 12, 11, 13], [11, 13, 0, 12], [11, 12, 0, 13]]
    assert order_shown(8, 5, 3, [11, 12, 13]) != shown[0]


def test_a_key_says_its_place_in_the_order_shown():
    said = [chosen_text([5, CAPTION, 6], key) for key in ("1", 2, "3", "03", "004", 4)]
    assert said == [5, CAPTION, 6, 6, None, None]
    assert chosen_text(list(range(12)), "11") == 10
    assert [place_of([5, CAPTION, 6], foil) for foil in (5, None, 6)] == [1, 2, 3]


def test_one_judgement_of_all_texts_is_a_coded_choice_with_its_place_or_a_word():
    order = [5, CAPTION, 6]
    assert [choosing.parse_choice(order, answer) for answer in ("1", "2", 3)] == [
        ("foil", 1),
        ("caption", 2),
        ("foil", 3),
    ]
    assert [choosing.parse_choice(order, word) for word in choosing.WORDS] == [(word, None) for word in choosing.WORDS]
    assert [choosing.parse_choice(order, wrong) for wrong in ("0", "4", "caption", None)] == [None] * 4


def test_a_sample():
    assert drawn([1, 2, 3, 4, 5], 3, 7) == [5, 3, 2]
    assert drawn([1, 2, 3, 4, 5], None, 7) == [5, 3, 2, 4, 1]


def test_the_secret_decides_which_tasks_are_gold():
    assert gold_places(9, 1, 0.25, 24) == [6, 12, 16, 17, 21, 22, 23]
    assert gold_places(8, 1, 0.25, 24) == [1, 3, 10, 21, 23]
    assert gold_places(9, 2, 0.25, 24) == [0, 4, 5, 7, 13, 15, 21, 22, 23]
    assert gold_places(9, 1, 0.1, 40) == [12, 17, 21, 38]
    assert gold_places(9, 1, 1.0, 3) == [0, 1, 2]


@pytest.mark.parametrize("rate", [0.0, -0.5])
def test_without_a_rate_there_is_no_gold(rate):
    assert gold_places(9, 1, rate, 40) == []


@pytest.mark.parametrize(
    ("person", "firsts"),
    [(1, "fCffCfCfCC"), (2, "fCCfCCCCfC")],
)
def test_the_seed_decides_which_text_of_gold_is_first(person, firsts):
    shown = ["C" if gold_caption_first(9, person, ordinal) else "f" for ordinal in range(10)]
    assert "".join(shown) == firsts


def test_the_seed_decides_which_task_comes_next():
    assert [pick(9, 1, range(6), 2), pick(9, 2, range(6), 2), pick(8, 1, range(6), 1)] == [[1, 5], [4, 3], [3]]


def test_the_seed_decides_which_candidates_get_one_or_two_reviews():
    seen = [candidate for candidate in range(40) if drawn_for_review(3, candidate, 0.2)]
    again = [candidate for candidate in range(40) if drawn_for_a_second(3, candidate, 0.2)]
    assert seen == [0, 4, 5, 9, 13, 17, 25, 26, 27, 31, 32]
    assert again == [12, 14, 15, 20, 23, 35]


def test_the_questions_of_a_test():
    asked = draw(4, 1, 1, range(10), range(10, 16), 6, 0.5)
    assert asked == [1, 7, 12, 10, 13, 5]
    assert draw(4, 1, 2, range(10), range(10, 16), 6, 0.5) == [3, 4, 12, 1, 13, 11]
    assert draw(4, 2, 1, range(10), range(10, 16), 6, 0.5) == [11, 13, 5, 6, 15, 4]
    assert draw(5, 1, 1, range(10), range(10, 16), 6, 0.5) == [13, 10, 2, 12, 9, 1]


def test_frames_and_times_of_an_object_check():
    frames = {1: [10, 11, 12], 2: [20, 21], 3: [30, 31]}
    assert (drawn_frames(frames, 2, 5), drawn_frames(frames, 2, 6)) == ([21, 11], [10, 31])
    assert drawn_time(2.0, 10.0, 5, 1) == pytest.approx(5.9225736342982875)
    assert drawn_time(2.0, 10.0, 5, 2) == pytest.approx(3.03425830001779)


def test_the_queue_and_the_order_of_two_texts():
    assert priority(1.0, 7, "edit", 3) == pytest.approx(1.2596801520977354)
    orders = ["".join("C" if caption_first(7, foil, slot, 3) else "f" for slot in range(3)) for foil in range(6)]
    assert orders == ["fCC", "fCC", "fCf", "fCf", "fCC", "CfC"]


@pytest.mark.parametrize("slot", [-1, 3])
def test_a_place_that_the_task_has_not_is_an_error(slot):
    with pytest.raises(ValueError, match=f"^slot {slot} of a task with 3 slots$"):
        caption_first(7, 1, slot, 3)
