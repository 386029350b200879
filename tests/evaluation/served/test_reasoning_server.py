"""A server that reasons before it answers, in four forms and all modes: the answer, or a refusal in words."""

import math
from itertools import product

import pytest

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Score
from evaluation.scoring.run_request import RunRequest
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.runner import run_now
from tests.evaluation.served.worlds import endpoint, make_release
from tests.hub.chat_server import Said, chat_server, content

pytestmark = pytest.mark.django_db
# "no" and "yes" in it name no answer.
THOUGHT = "Let me look at the frames. There is no audio, so I only use the pictures. A person moves something."


def row(token, logprob, **others):
    top = {token: logprob, **others}
    return {
        "token": token,
        "logprob": logprob,
        "top_logprobs": [{"token": name, "logprob": value} for name, value in top.items()],
    }


ANSWER = row("Yes", math.log(0.9), No=math.log(0.05))


def reasons(form):
    """`tags`: the thought is in the content; `parser`: it is apart. With `lp`, the tokens have log-probabilities."""

    def answer(body, n):
        words = f"<think> {THOUGHT}</think>\n\nYes".split(" ")
        is_cut = len(words) > body["max_tokens"]
        reply = content("", tokens=(10, len(words)), reason="length" if is_cut else "stop").body
        message = reply["choices"][0]["message"]
        if form.startswith("tags"):
            message["content"] = " ".join(words[: body["max_tokens"]])
        else:
            message |= {"content": None if is_cut else "Yes", "reasoning_content": THOUGHT}
        reply["usage"]["completion_tokens_details"] = {"reasoning_tokens": len(words) - 1}
        if form.endswith("lp") and body.get("logprobs"):
            thought = [row("<think>", -0.001, Yes=-7.5), row("Let", -0.1), row("</think>", -0.001), row("\n\n", -0.01)]
            # A server may report only the first token of the thought.
            reply["choices"][0]["logprobs"] = {"content": [*(thought if form == "parserlp" else thought[:1]), ANSWER]}
        return Said(reply)

    return answer


UNREADABLE, STILL_THINKS, NO_LOGPROBS = "it ends before the answer", "although thinking=off", "gives no log-prob"
# By the words of the answer, and by its probabilities where the server gives them.
WORDS, SHARE = 1.0, 0.9 / 0.95
MODES = {
    "": (UNREADABLE, UNREADABLE),
    "by=samples&samples=3": (UNREADABLE, UNREADABLE),
    "max_tokens=4000": (WORDS, SHARE),
    "by=samples&samples=3&max_tokens=4000": (WORDS, WORDS),
    "thinking=off": (STILL_THINKS, STILL_THINKS),
    "thinking=off&max_tokens=4000": (STILL_THINKS, STILL_THINKS),
    "thinking=read": (WORDS, WORDS),
    "thinking=read&max_tokens=8": (UNREADABLE, UNREADABLE),
    "thinking=read&samples=3": (WORDS, WORDS),
    "thinking=logprobs": (NO_LOGPROBS, SHARE),
}


@pytest.mark.full
@pytest.mark.parametrize(("form", "mode"), [*product(("tags", "tagslp", "parser", "parserlp"), MODES)])
def test_every_mode_gives_the_answer_or_says_why_not(settings, monkeypatch, form, mode):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    release, expected = make_release(1), MODES[mode][form.endswith("lp")]
    with chat_server(reasons(form)) as server:
        settings.CHAT_ENDPOINTS = endpoint(server.url)
        run = start_run(None, release, RunRequest(f"endpoint:lab/tiny?{mode}"))
        if isinstance(expected, str):
            with pytest.raises((EvaluationError, JobError), match=expected):
                run_now(run.job)
            assert not Score.objects.exists()
        else:
            run_now(run.job)
            assert list(Score.objects.values_list("value", flat=True)) == pytest.approx([expected] * 2)
