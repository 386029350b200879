"""Served models that think: each way to read them, the tokens that are stored, and what is sent."""

import math

import pytest

from evaluation.errors import EvaluationError
from evaluation.scoring.models import Score
from evaluation.scoring.queries import run_results
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.hub.errors import HubError
from tests.evaluation.served.test_served_runs import is_true, scored
from tests.evaluation.served.worlds import colour_seen, make_release
from tests.hub.chat_server import Said, chat_server, content

pytestmark = pytest.mark.django_db
THOUGHT = "Let me look. There is no sound, so yes, the pictures only."


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)


def thinks(*, parser, logprobs=True, obeys=True):
    """A server of a model that thinks, whose parser reports the thought apart. `obeys`: it can be switched off."""

    def answer(body, n):
        word = "Yes" if is_true(body) else "No"
        switched_off = obeys and body.get("chat_template_kwargs", {}).get("enable_thinking") is False
        tokens = [] if switched_off else ["<think>", *THOUGHT.split(), "</think>", "\n\n"]
        said = [*tokens, word]
        n_said = min(len(said), body["max_tokens"])
        is_cut = n_said < len(said)
        reply = content("", tokens=(50, n_said), reason="length" if is_cut else "stop").body
        message = reply["choices"][0]["message"]
        if parser and tokens:
            message |= {"content": None if is_cut else word, "reasoning_content": " ".join(tokens[1:-2])}
        else:
            message["content"] = " ".join(said[:n_said])
        reply["usage"] |= {
            "completion_tokens_details": {"reasoning_tokens": min(n_said, len(tokens))},
            "prompt_tokens_details": {"image_tokens": 40},
        }
        if logprobs and body.get("logprobs"):
            other = "No" if word == "Yes" else "Yes"
            rows = [{"token": f"{token} " if token in tokens else token, "logprob": -0.01} for token in said[:n_said]]
            if not is_cut:
                top = [{"token": word, "logprob": math.log(0.8)}, {"token": other, "logprob": math.log(0.1)}]
                rows[-1] = {**top[0], "top_logprobs": top}
            reply["choices"][0]["logprobs"] = {"content": rows}
        return Said(reply)

    return answer


@pytest.mark.parametrize("parser", [True, False])
@pytest.mark.parametrize(("options", "values"), [("thinking=logprobs", [1 / 9, 8 / 9]), ("thinking=read", [0.0, 1.0])])
def test_answers_after_thoughts_are_right_and_their_tokens_are_stored(settings, parser, options, values):
    release = make_release(1)
    with chat_server(thinks(parser=parser)) as server:
        run = scored(release, server, settings, spec=f"endpoint:lab/tiny?{options}&reasoning_effort=low")
    assert run.problems == {}
    assert sorted(Score.objects.values_list("value", flat=True)) == pytest.approx(values)
    assert run_results(run)["overall"]["T"] == 1.0
    assert run.model_key.endswith(f"{options} reasoning_effort=low max_tokens=4096")
    n_thought = len(THOUGHT.split()) + 3
    for parts in Score.objects.values_list("parts", flat=True):
        counts = [parts[f"{name}_tokens"] for name in ("prompt", "clip", "thought", "answer")]
        assert counts == [50, 40, n_thought, 1]
    for body in server.bodies:
        assert (body["max_tokens"], body["reasoning_effort"]) == (4096, "low")
        assert body["chat_template_kwargs"] == {"enable_thinking": True, "thinking": True}


def test_thinking_that_is_switched_off_is_seen_to_be_off(settings):
    release = make_release(1)
    with chat_server(thinks(parser=True)) as server:
        run = scored(release, server, settings, spec="endpoint:lab/tiny?thinking=off")
        assert run_results(run)["overall"]["T"] == 1.0
        assert {parts["thought_tokens"] for parts in Score.objects.values_list("parts", flat=True)} == {0}
    with chat_server(thinks(parser=False, obeys=False)) as server, pytest.raises(EvaluationError, match="thinking=off"):
        scored(make_release(1, slug="other"), server, settings, spec="endpoint:lab/tiny?thinking=off&max_tokens=99")


def test_a_cut_thought_is_unreadable(settings):
    release = make_release(1)
    with chat_server(thinks(parser=True)) as server:
        run = scored(
            release,
            server,
            settings,
            spec="endpoint:lab/tiny?thinking=read&max_tokens=5",
            stops="it ends before the answer",
        )
    assert not Score.objects.exists()
    assert len(run.problems["answer_unparsable"]) == 1


def test_samples_of_a_choice_are_counted_per_order(settings):
    release = make_release(1)

    def answer(body, n):
        lines = [line for line in body["messages"][0]["content"][-1]["text"].splitlines() if line[1:2] == "."]
        right = next((line[0] for line in lines if colour_seen(body) in line), "A")
        return content(right if body["seed"] != 2 else ("A" if right == "B" else "B"))

    with chat_server(answer) as server:
        run = scored(release, server, settings, spec="endpoint:lab/tiny?mode=choice&by=samples&samples=4")
    assert "samples=4" in run.model_key
    assert len(server.bodies) == 1 + 2 * 4
    assert {body["temperature"] for body in server.bodies[1:]} == {1.0}
    parts = sorted((parts["yes"], parts["n"]) for parts in Score.objects.values_list("parts", flat=True))
    assert parts == [(2, 8), (6, 8)]


def test_a_way_of_reading_that_contradicts_the_thinking_is_refused(settings):
    with pytest.raises(HubError, match="leave out by="):
        scored(
            make_release(1),
            type("Server", (), {"url": "http://x/v1"}),
            settings,
            "endpoint:lab?thinking=read&by=logprobs",
        )
