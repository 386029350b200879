"""Reversals, and two trims in both orders."""

from collections import Counter

import pytest

from generation.pairs.orders import joined, orders
from generation.pairs.proposals import PairCaption
from generation.pairs.reversals import LONG, MOVES_BACKWARDS, SEVERAL_EVENTS, reversals


def one(text, **fields):
    return PairCaption(1, text, "clip", "source", **fields)


def other(text):
    return PairCaption(2, text, "other clip", "other source")


@pytest.mark.parametrize(
    ("text", "reverse"),
    [
        ("Someone folds the paper.", "Someone unfolds the paper."),
        ("a man opens a box", "a man closes a box"),
        ("pushing scissors from left to right", "pushing scissors from right to left"),
        ("a man is taking something out of a bin", "a man is putting something into a bin"),
    ],
)
def test_a_caption_with_a_direction_is_reversed(text, reverse):
    pair, counterpart = reversals([one(text), other(reverse)])
    assert (pair.texts, pair.warning) == ((text, reverse), "")
    assert (counterpart.texts, counterpart.played) == ((reverse, text), pair.played)


@pytest.mark.parametrize(
    "text",
    [
        "a man is singing",
        "a woman washes the car",
        "a man is wearing a hat",
        "pretending to put a coin into a cup",
        "a ball on the left of the box",
    ],
)
def test_other_captions_have_no_reversal(text):
    assert not list(reversals([one(text), other(text)]))


def test_as_many_clips_of_each_direction_are_reversed():
    texts = ["a man opens a box"] * 5 + ["a girl closes a door"] * 3 + ["a boy folds a shirt"] * 2
    captions = [PairCaption(n, text, f"clip{n}", f"s{n}") for n, text in enumerate(texts)]
    changes = Counter(pair.words for pair in reversals(captions))
    assert changes == {("opens", "closes"): 3, ("closes", "opens"): 3}
    assert Counter(pair.words for pair in reversals(captions, limit=4)) == {
        ("opens", "closes"): 2,
        ("closes", "opens"): 2,
    }


@pytest.mark.parametrize(
    ("text", "duration", "warning"),
    [
        ("a man opens a box and kicks a ball", 4.0, SEVERAL_EVENTS),
        ("a man opens a box", 90.0, LONG),
        ("a man enters the room", 4.0, MOVES_BACKWARDS),
    ],
)
def test_a_doubtful_reversal_has_a_warning(text, duration, warning):
    counterpart = {"enters": "a man leaves the room"}.get(text.split()[2], "a man closes a box")
    warnings = [pair.warning for pair in reversals([one(text, duration=duration), other(counterpart)])]
    assert warning in warnings[0]


def test_reversals_without_a_warning_come_first():
    captions = [
        PairCaption(n, text, f"clip{n}", "s")
        for n, text in enumerate(["a man enters it", "a man leaves it", "a man opens a door", "a man closes a box"])
    ]
    assert [pair.texts[0] for pair in reversals(captions, limit=2)] == ["a man opens a door", "a man closes a box"]


def trims(*rows):
    return [
        PairCaption(n, text, f"clip{n}", source, start=start, end=end)
        for n, (source, text, start, end) in enumerate(rows)
    ]


def test_two_events_of_one_video_are_joined_in_both_orders():
    (pair,) = orders(trims(("s", "A dog barks.", 5.0, 8.0), ("s", "A man sits down.", 1.0, 4.0)))
    assert pair.texts == ("A man sits down, then a dog barks.", "A dog barks, then a man sits down.")
    assert [caption.start for caption in pair.captions] == [1.0, 5.0]


@pytest.mark.parametrize(
    "rows",
    [
        [("s", "A dog barks.", 1.0, 5.0), ("s", "A man sits down.", 4.0, 8.0)],
        [("s", "A dog barks.", 1.0, 5.0), ("t", "A man sits down.", 6.0, 8.0)],
        [("s", "A dog barks.", 1.0, 5.0), ("s", "A dog barks again.", 6.0, 8.0)],
        [("s", "A dog barks.", 1.0, 5.0), ("s", "The dog barks loudly.", 6.0, 8.0)],
        [("s", "A dog barks.", 1.0, 5.0), ("s", "A man sits. He eats.", 6.0, 8.0)],
        [("s", "A dog barks.", 1.0, 5.0), ("s", "A man sits down.", 6.0, 90.0)],
    ],
)
def test_other_trims_are_not_joined(rows):
    assert not list(orders(trims(*rows)))


def test_each_clip_is_in_one_order():
    rows = [
        ("s", text, start, start + 1)
        for start, text in enumerate(["A dog barks", "A man sits", "A cat eats", "A boy jumps"])
    ]
    found = list(orders(trims(*rows)))
    assert [[caption.clip for caption in pair.captions] for pair in found] == [["clip0", "clip1"], ["clip2", "clip3"]]
    assert len(list(orders(trims(*rows), limit=1, seed=3))) == 1


def test_a_name_stays_capital_in_the_joined_caption():
    assert joined("A dog barks.", "Peter sits down.") == "A dog barks, then Peter sits down."
