"""Flesch Reading Ease and Flesch-Kincaid grade, with the arithmetic beside each number."""

import pytest

from text.readability import Readability, readability, readability_of, syllables

# Counted by hand, as captions use them.
COUNTED = {
    1: "man men folds a the smiled jumps makes red dog jumped stove knife walks cooked hands dressed rolled called "
    "house leaves gloves times clothes splashed laughed are",
    2: "woman table water boxes playing running kitchen children picture bottle painted lifted apple towel chases "
    "races horses matches dishes handles juggles handled settled opened climbing football lonely careful basement "
    "seeing sofa onion",
    3: "bicycle potato elegant beautiful umbrella basketball animal violin radio video microphone carefully",
    4: "television helicopter radiator watermelon graduation reality motorcycle supermarket competition",
}


@pytest.mark.parametrize(("count", "words"), COUNTED.items(), ids=map(str, COUNTED))
def test_syllables_are_counted_as_by_ear(count, words):
    assert {word: syllables(word) for word in words.split()} == dict.fromkeys(words.split(), count)


def test_signs_and_numbers_are_one_syllable_and_possessives_add_none():
    assert [syllables(word) for word in ("3", "man's", "Woman’s", "ß", "TV")] == [1, 1, 2, 1, 1]


def test_the_scores_are_the_published_formulas():
    """Two sentences, eight words, ten syllables (o-pens, ket-tle):
    206.835 - 1.015 * 8/2 - 84.6 * 10/8 = 97.025; .39 * 4 + 11.8 * 1.25 - 15.59 = .72."""
    found = readability("A man opens the box. The kettle boils.")
    assert found == Readability(2, 8, 10)
    assert found.ease == pytest.approx(97.025)
    assert found.grade == pytest.approx(0.72)


def test_a_text_without_a_full_stop_is_one_sentence_and_decimals_end_none():
    assert readability("a man runs").sentences == 1
    assert readability("It takes 3.5 hours! Does it? Yes").sentences == 3
    assert readability("He waits...").sentences == 1


def test_texts_together_count_as_one_text():
    texts = ["A man runs.", "a woman sings", ""]
    assert readability_of(texts) == readability("A man runs. A woman sings.")


def test_no_words_have_no_score():
    assert (readability("…").ease, readability_of([]).grade) == (None, None)
