"""Clips at another speed, and clips that repeat their event."""

from collections import Counter

import pytest

from generation.pairs.paces import repetitions, speeds
from generation.pairs.proposals import AS_RECORDED, FASTER, SLOWER, PairCaption
from generation.pairs.reversals import SEVERAL_EVENTS


def captions(*texts, duration=4.0):
    return [PairCaption(n, text, f"clip{n}", f"s{n}", duration=duration) for n, text in enumerate(texts)]


def test_a_slow_clip_is_sped_up_and_a_quick_one_slowed():
    slow, quick = speeds(captions("Slowly a man turns.", "A girl quickly sits down"))
    assert (slow.texts, slow.played) == (("Slowly a man turns.", "Quickly a man turns."), (AS_RECORDED, FASTER))
    assert (quick.texts[1], quick.played) == ("A girl slowly sits down", (AS_RECORDED, SLOWER))
    assert slow.needs_time


def test_as_many_clips_are_sped_up_as_slowed():
    pairs = speeds(captions(*["a man slowly walks"] * 4, "a man quickly walks", "a dog runs at a fast pace"))
    assert Counter(pair.played[1] for pair in pairs) == {FASTER: 1, SLOWER: 1}


@pytest.mark.parametrize(
    "text",
    [
        "a man does not walk slowly",
        "a man speaks slowly",
        "a man slowly walks and slowly sits",
        "a clip in slow motion",
        "a man is walking",
    ],
)
def test_other_captions_have_no_speed(text):
    assert not list(speeds(captions(text, "a man quickly walks", "a man quickly speaks")))


def test_a_clip_of_several_events_has_a_warning():
    slow, _ = speeds(captions("a man slowly stands up and then leaves", "a man quickly turns"))
    assert slow.warning == SEVERAL_EVENTS


def test_an_event_is_repeated():
    (pair,) = repetitions(captions("A man claps his hands."))
    assert pair.texts == ("A man claps his hands twice.", "A man claps his hands three times.")
    assert (pair.played, pair.needs_time) == (("twice", "three times"), 12)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("a man claps his hands", 20.0),
        ("a man claps his hands", None),
        ("a man claps his hands twice", 4.0),
        ("a man is cooking", 4.0),
        ("a man jumps and falls after a while", 4.0),
        ("a man claps and walks", 4.0),
    ],
)
def test_other_events_are_not_repeated(text, duration):
    assert not list(repetitions(captions(text, duration=duration)))


def test_each_clip_is_in_one_pair():
    same = [PairCaption(n, "a man claps his hands", "clip", "s", duration=4.0) for n in range(2)]
    assert len(list(repetitions(same))) == 1
    assert len(list(repetitions(captions(*["a man claps his hands"] * 3), limit=2, seed=1))) == 2
