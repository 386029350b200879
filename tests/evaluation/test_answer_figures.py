"""Tokens, calibration, selective accuracy, majority and pass@k, against counts by hand."""

from itertools import combinations

import numpy as np
import pytest

from evaluation.metrics.answers import by_tokens, calibration, pass_at, sampled, selective
from evaluation.scoring.answer_figures import answer_figures
from foilworks.core.hub.adapters import chat_endpoint
from tests.evaluation.served.test_served_runs import is_true, scored
from tests.evaluation.served.test_thinking import thinks
from tests.evaluation.served.worlds import make_release
from tests.hub.chat_server import chat_server, content


def test_calibration_by_hand():
    """.9 and .95 share a bin of mean .925 and share of right .5; .2 is alone with 0."""
    found = calibration(np.array([0.9, 0.95, 0.2]), np.array([1.0, 0.0, 0.0]))
    assert found["ece"] == pytest.approx((abs(1 - 1.85) + 0.2) / 3)
    assert found["brier"] == pytest.approx((0.01 + 0.9025 + 0.04) / 3)
    assert calibration(np.array([]), np.array([])) is None


def test_selective_accuracy_shares_ties():
    rows = selective(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0]))
    assert [(row["n"], row["accuracy"]) for row in rows] == [(1, 1.0), (2, 0.75), (3, pytest.approx(2 / 3)), (4, 0.5)]


@pytest.mark.parametrize(("n", "right", "k"), [(5, 2, 3), (6, 0, 2), (4, 4, 1)])
def test_pass_at_k_is_the_share_of_draws_with_a_right_sample(n, right, k):
    draws = list(combinations([True] * right + [False] * (n - right), k))
    assert pass_at(n, right, k) == pytest.approx(sum(map(any, draws)) / len(draws))


def test_majority_and_luck():
    found = sampled([(4, 3, 1), (4, 2, 2), (4, 1, 3)], [0.5, 0.5, 0.25])
    assert found["majority"] == pytest.approx(0.5)
    assert found["luck"] == pytest.approx((2 * (1 - 0.5**4) + 1 - 0.75**4) / 3)


def test_accuracy_by_tokens_by_hand():
    rows = by_tokens(np.array([10.0, 40.0, 20.0, 30.0, 50.0]), np.array([1.0, 0.0, 1.0, 1.0, 0.0]))
    assert [(row["fewest"], row["most"], row["n"], row["accuracy"]) for row in rows] == [
        (10, 20, 2, 1.0),
        (30, 30, 1, 1.0),
        (40, 40, 1, 0.0),
        (50, 50, 1, 0.0),
    ]


@pytest.mark.django_db
def test_two_runs_have_the_tokens_that_the_server_counted(settings, monkeypatch, client):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    release = make_release(2)
    with chat_server(thinks(parser=True)) as server:
        with_thoughts = scored(release, server, settings, spec="endpoint:lab/tiny?thinking=logprobs")
        without = scored(release, server, settings, spec="endpoint:lab/tiny?thinking=off")
    long, short = answer_figures(with_thoughts), answer_figures(without)
    # Two texts per item; 50 tokens of a prompt, 40 of them of the clip, 15 of a thought.
    thought = long["tokens_per_item"].pop("thought_tokens")
    assert thought > 0
    assert short["tokens_per_item"].pop("thought_tokens") == 0
    assert long["tokens_per_item"] == short["tokens_per_item"]
    assert short["tokens_per_item"] == {"prompt_tokens": 100, "clip_tokens": 80, "answer_tokens": 2}
    assert {row["most"] for row in long["by_tokens"]} == {102 + thought}
    # P(yes) is 8/9 for true and 1/9 for false texts.
    assert long["calibration"] == {"ece": pytest.approx(1 / 9), "brier": pytest.approx(1 / 81), "n": 4}
    assert long["mass"]["least"] == pytest.approx(0.9)


@pytest.mark.django_db
def test_samples_of_a_run_have_majority_and_pass(settings, monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    release = make_release(1)

    def answer(body, n):
        right = "Yes" if is_true(body) else "No"
        return content(right if body["seed"] else {"Yes": "No", "No": "Yes"}[right])

    with chat_server(answer) as server:
        run = scored(release, server, settings, spec="endpoint:lab/tiny?by=samples&samples=3")
    # The caption has 2 of 3 yes, the foil 1 of 3.
    assert answer_figures(run)["samples"] == {"k": 3, "n": 1, "majority": 1.0, "pass": 1.0, "luck": 0.875}
