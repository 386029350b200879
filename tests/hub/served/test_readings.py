"""What answers say: by the probabilities of their tokens, and by their words."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foilworks.core.hub.interfaces import ChatReply
from foilworks.core.hub.served.readings import MIN_MASS, Outcome, by_logprobs, by_words, read
from foilworks.core.hub.served.wire import answer_of

YES_NO = ("yes", "no")


def row(**probabilities):
    return tuple((token.replace("_", " "), math.log(value)) for token, value in probabilities.items())


def test_variants_of_a_word_count_together():
    reading = by_logprobs([row(Yes=0.4, _yes=0.1, No=0.2, _NO=0.05, Perhaps=0.2)], YES_NO)
    assert reading.shares == pytest.approx((0.5 / 0.75, 0.25 / 0.75))
    assert reading.mass == pytest.approx(0.75)
    assert reading.answer == "yes"


@pytest.mark.parametrize("space", [" ", "\n", "▁", "Ġ"])
def test_a_token_of_space_is_skipped(space):
    rows = [((space, math.log(0.9)), ("Yes", math.log(0.1))), row(No=0.75, Yes=0.25)]
    assert by_logprobs(rows, YES_NO).shares == pytest.approx((0.25, 0.75))


def test_a_tokenizer_of_letters_is_read_by_first_letters():
    assert by_logprobs([row(Y=0.3, y=0.1, n=0.1, q=0.4)], YES_NO).shares == pytest.approx((0.8, 0.2))


def test_whole_words_come_before_their_beginnings():
    assert by_logprobs([row(Yes=0.3, No=0.3, N=0.2)], YES_NO).shares == pytest.approx((0.5, 0.5))


def test_options_with_less_than_half_of_the_probability_are_unparsable():
    for alternatives in (row(The=0.9, A=0.1), row(The=0.51, Yes=0.4, No=0.09)):
        reading = read(ChatReply("The man folds it, so yes.", logprobs=(alternatives,)), YES_NO, by_probability=True)
        assert (reading.outcome, reading.shares) == (Outcome.UNPARSABLE, ())
    assert reading.mass == pytest.approx(0.49)
    assert reading.why == "the options have 49.0% of the first token's probability, less than 50%"
    assert by_logprobs([row(The=0.5, Yes=0.4, No=0.1)], YES_NO).shares == pytest.approx((0.8, 0.2))


def test_a_reply_without_log_probabilities_is_read_by_its_words():
    assert by_logprobs([], YES_NO) is None
    assert read(ChatReply("Yes."), YES_NO, by_probability=True).shares == (1.0, 0.0)


@given(st.lists(st.floats(0.001, 1.0), min_size=3, max_size=3))
def test_a_score_needs_half_of_the_probability(weights):
    yes, no, other = (weight / sum(weights) for weight in weights)
    reading = by_logprobs([row(Yes=yes, No=no, Maybe=other)], YES_NO)
    assert (reading.outcome == Outcome.ANSWERED) is (reading.mass >= MIN_MASS)
    assert reading.mass == pytest.approx(yes + no)


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Yes.", "yes"), ("no", "no"), ("**No**, it shows a cat.", "no"), ("The answer is yes", "yes")],
)
def test_words(text, answer):
    assert by_words(text, YES_NO).answer == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("B", "B"),
        ("b.", "B"),
        ("(A)", "A"),
        ("The answer is B: a dog runs", "B"),
        ("I think B.", "B"),
        ("A is correct.", "A"),
        ("A. A man folds a shirt.", "A"),
        ("A：折叠", "A"),
        ("Option A", "A"),
        ("A man folds a shirt, so B.", "B"),
    ],
)
def test_letters(text, answer):
    assert by_words(text, ("A", "B", "C")).answer == answer


@pytest.mark.parametrize(
    "text", ["A man folds the shirt.", "a man folds", "A MAN FOLDS", "A dog. A cat.", "I see a dog."]
)
def test_an_article_is_not_a_choice(text):
    assert by_words(text, tuple("ABCDEFGHI")).outcome == Outcome.UNPARSABLE


@pytest.mark.parametrize("text", ["It shows a dog.", "", "yes? Or no… both yes and no", "Either A or B"])
def test_answers_that_name_no_option_or_several_are_unparsable(text):
    options = ("A", "B") if "Either" in text else YES_NO
    if text.startswith("yes?"):
        text = "Both yes and no"
    reading = by_words(text, options)
    assert (reading.outcome, reading.shares) == (Outcome.UNPARSABLE, ())


@pytest.mark.parametrize(
    "reply",
    [
        ChatReply(failure="refused: no", refusal="no"),
        ChatReply("partly", refusal="content_filter"),
        ChatReply("I'm sorry, but I can't help with that."),
        ChatReply("I cannot view videos."),
    ],
)
def test_refusals(reply):
    reading = read(reply, YES_NO, by_probability=False)
    assert (reading.outcome, reading.shares) == (Outcome.REFUSED, ())
    assert reading.why


def test_a_failed_request_is_neither_refused_nor_unparsable():
    assert read(ChatReply(failure="timed out after 3 tries"), YES_NO, by_probability=True).outcome == Outcome.FAILED


THOUGHT = "There is no audio, so I only use the pictures."


def reply_of(content, finish="stop", tokens=(), **message):
    """Decode a server's answer. `tokens`: one dictionary of probabilities each, the chosen token first."""
    rows = [
        {
            "token": next(iter(token)),
            "logprob": math.log(next(iter(token.values()))),
            "top_logprobs": [{"token": name, "logprob": math.log(value)} for name, value in token.items()],
        }
        for token in tokens
    ]
    choice = {"message": {"content": content, **message}, "finish_reason": finish, "logprobs": {"content": rows}}
    return answer_of(json.dumps({"choices": [choice]}).encode())


ANSWER_TOKEN = {"Yes": 0.8, "No": 0.2}


@pytest.mark.parametrize(
    ("reply", "shares"),
    [
        # Tags in the text: the first tokens are those of the thought.
        (reply_of(f"<think>{THOUGHT}</think>\n\nYes"), (1.0, 0.0)),
        (
            reply_of("<think>no</think>Yes", tokens=[{"<think>": 1.0}, {"no": 1.0}, {"</think>": 1.0}, ANSWER_TOKEN]),
            None,
        ),
        # A server with a parser reports the thought apart, but the tokens of both.
        (reply_of("Yes", reasoning_content="no", tokens=[{"no": 1.0}, {"</think>": 1.0}, ANSWER_TOKEN]), None),
        (reply_of("Yes", reasoning="no", tokens=[{"Ġno": 1.0}, {"<eot>": 1.0}]), (1.0, 0.0)),
    ],
)
def test_an_answer_after_a_thought_is_read_without_the_thought(reply, shares):
    reading = read(reply, YES_NO, by_probability=True)
    assert reading.outcome == Outcome.ANSWERED
    assert reading.shares == pytest.approx(shares or (0.8, 0.2))


@pytest.mark.parametrize(
    "reply",
    [
        reply_of(f"<think>{THOUGHT}", "length"),
        reply_of(f"<think>{THOUGHT}", "length", tokens=[{"<think>": 1.0}, {"There": 1.0}, {"no": 0.9, "yes": 0.1}]),
        reply_of(THOUGHT, "length"),
        reply_of(None, "length", reasoning_content=THOUGHT),
    ],
)
def test_a_thought_that_is_cut_off_is_unparsable(reply):
    reading = read(reply, YES_NO, by_probability=True)
    assert (reading.outcome, reading.shares) == (Outcome.UNPARSABLE, ())
    assert reading.why.startswith("it ends before the answer")


def test_letters_name_the_texts_of_the_question():
    reply = ChatReply("The video shows that a dog runs.")
    assert read(reply, ("A", "B"), by_probability=False, texts=("A cat sits.", "A dog runs.")).answer == "B"
    assert read(reply, ("A", "B"), by_probability=False).outcome == Outcome.UNPARSABLE
