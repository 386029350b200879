"""The template linter: what it drops, what it lets pass, that the caption's own slips are forgiven."""

import pytest

from foilworks.core.text.registry import parse_params
from generation.filters import template_linter
from generation.filters.registry import FILTERS
from generation.records import CaptionInput


def judge(caption, foil, **params):
    filled = parse_params(FILTERS["template_linter"], params)
    return template_linter.judge(CaptionInput("c", caption), foil, others=(), params=filled)


@pytest.mark.parametrize(
    ("caption", "foil", "detail"),
    [
        ("a dog barks", "a owl barks", "'a owl': wrong article"),
        ("an owl sleeps", "an dog sleeps", "'an dog': wrong article"),
        ("the dog barks", "the the dog barks", "'the the': repeated word"),
        ("he does exactly two jumps.", "he does exactly one jumps.", "'exactly one jumps': one with a plural"),
        ("he does exactly one jump.", "he does exactly two jump.", "'exactly two jump': several with a singular"),
        ("there is at least one cup", "there are at least one cup", "'there are at least one': does not agree"),
        ("there are two cups", "there is two cups", "'there is two': does not agree"),
        ("someone is there", "someone are there", "'someone are': does not agree"),
        ("a dog barks.", "a dog sleeps", "its punctuation marks differ from the caption's"),
        ("a dog, barking.", "a dog. barking,", "its punctuation marks differ from the caption's"),
        (
            "Initially, it is open. Then, someone closes it. At the end, it is closed.",
            "Initially, it is open. Then, someone opens it. At the end, it is open.",
            "the states before and after are the same",
        ),
    ],
)
def test_the_template_error_is_named(caption, foil, detail):
    verdict = judge(caption, foil)
    assert (verdict.passed, verdict.score, verdict.detail) == (False, 1.0, detail)


@pytest.mark.parametrize(
    ("caption", "foil"),
    [
        ("a dog barks.", "an owl barks."),
        ("he does exactly two jumps.", "he does exactly one jump."),
        ("he catches exactly one fish", "he catches exactly two fish"),
        ("a man spins exactly two times", "a man spins exactly one time"),
        ("there are some cups", "there are some cars"),
        ("he had had it", "she had had it"),
        # The caption's own slips stay.
        ("a owl sleeps", "a owl eats"),
        ("exactly one times", "exactly two times"),
        ("the the dog", "the the cat"),
        ("", ""),
    ],
)
def test_correct_texts_and_errors_of_the_caption_pass(caption, foil):
    assert judge(caption, foil).passed


def test_punctuation_may_differ_with_the_parameter():
    assert judge("a dog barks.", "a cat, tired, sleeps", punctuation="free").passed


def test_a_long_text_is_not_checked():
    assert judge("x " * 500_000, "a owl").detail == "too long for a template; not checked"


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ("Initially, the door is open. At the end, the door is open.", True),
        ("Initially, the door is open. At the end, the door is shut.", False),
        ("initially the lids are  shut. Then a man comes. At the  end the lids are Shut!", True),
        ("Initially, the door is open. At the end, it closes.", False),
        ("The door is open at the end.", False),
    ],
)
def test_a_state_that_did_not_change_is_noticed(text, is_same):
    assert ("the states before and after" in judge("Initially, a is b. At the end, a is c.", text).detail) == is_same


def test_a_long_sentence_does_not_block_a_worker():
    """It took a regular expression of the fifth degree some six minutes, and no other thread of its process ran."""
    sentence = f"A man opens a door, {'initially ' * 31}{'is ' * 160}x. {'at the end ' * 50}{'is ' * 130}a.b"
    assert judge(sentence, sentence).passed
