"""Scoring runs through an endpoint, on a real HTTP server that sees the colour of the frames it is sent."""

import itertools
import json
import random
import re

import pytest

from evaluation.errors import EvaluationError
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run, Score, ServedAnswer
from evaluation.scoring.queries import run_results
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.served import served_model
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.hub.errors import HubError
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import run_now
from generation.errors import GenerationError
from generation.models import ModelAnswer
from tests.evaluation.served.worlds import colour_seen, endpoint, make_release
from tests.hub.chat_server import Said, chat_server, content, likely, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)


def is_true(body) -> bool:
    return colour_seen(body) in text_of(body)


def sees(body, n):
    """P(yes) .9 of a true sentence, .2 of a false one; the rest of the probability says neither."""
    yes = 0.9 if is_true(body) else 0.2
    return likely({"Yes": 0.6 * yes, " yes": 0.2 * yes, "No": 0.8 * (1 - yes), "Maybe": 0.2})


def scored(release, server, settings, spec="endpoint:lab/tiny", stops="", **options):
    """The run, over; `stops`: what it says when it ends early."""
    settings.CHAT_ENDPOINTS = endpoint(server.url, price=(1.0, 2.0), currency="USD")
    run = start_run(None, release, RunRequest(spec, **options))
    if stops:
        with pytest.raises((EvaluationError, JobError), match=stops):
            run_now(run.job)
    else:
        assert run_now(run.job).has_result
    run.refresh_from_db()
    return run


def test_log_probabilities_become_p_yes_and_everything_is_noted(settings):
    release = make_release(3)
    with chat_server(sees) as server:
        run = scored(release, server, settings)
    values = sorted(Score.objects.values_list("value", flat=True))
    assert values == pytest.approx([0.2] * 3 + [0.9] * 3)
    assert run_results(run)["overall"]["T"] == 1.0
    assert run.problems == {}
    # One question first, then one per text: 8 frames, and the 20 likeliest tokens.
    assert len(server.bodies) == 7
    assert [(body["logprobs"], body["top_logprobs"]) for body in server.bodies] == [(True, 20)] * 7
    assert len(server.bodies[-1]["messages"][0]["content"]) == 8 + 1
    assert run.model_key.startswith("lab:tiny@tiny-2026-01-01 at=")
    assert run.model_key.endswith("mode=p_yes by=logprobs frames=8 side=768 prompts=1 readings=5")
    assert server.url not in run.model_key
    served = run.params["served"]
    assert (served["versions"], served["by"]) == (["tiny-2026-01-01"], "logprobs")
    assert served["first"] == served["last"]
    usage = run.usage
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (6, 120, 30)
    assert (usage.cost, usage.currency) == (pytest.approx((120 * 1.0 + 30 * 2.0) / 1e6), "USD")
    rows = ServedAnswer.objects.filter(release=release)
    assert {row.outcome for row in rows} == {"answered"}
    assert ModelAnswer.objects.filter(sha256__in=rows.values("request_sha256")).count() == 6


def test_a_server_without_log_probabilities_is_sampled_and_the_score_is_the_share_of_yes(settings):
    release = make_release(1)

    def answer(body, n):
        if "logprobs" in body:
            return Said({"detail": "Unsupported fields in the request: {'logprobs', 'top_logprobs'}"}, 422)
        return content("Yes." if body["seed"] % 5 < (4 if is_true(body) else 1) else "No, it does not.")

    with chat_server(answer) as server:
        run = scored(release, server, settings, spec="endpoint:lab?samples=10")
    assert "by=samples samples=10" in run.model_key
    assert sorted(Score.objects.values_list("value", flat=True)) == [0.2, 0.8]
    asked = [body for body in server.bodies if "logprobs" not in body and body["temperature"] == 1.0]
    assert sorted(body["seed"] for body in asked) == sorted([*range(10)] * 2)
    assert ServedAnswer.objects.count() == 20


@pytest.mark.parametrize("mode", ["pairs", "choice"])
@pytest.mark.parametrize("gives", [True, False])
def test_both_orders_remove_a_planted_position_bias(settings, mode, gives):
    """The server says A whatever it sees, but for the red clips, whose letter it knows."""

    def answer(body, n):
        lines = text_of(body).splitlines()
        letter = "A"
        if colour_seen(body) == "red":
            letter = next((line[0] for line in lines if line[1:2] == "." and "red" in line), "A")
        other = "B" if letter == "A" else "A"
        return likely({letter: 0.9, other: 0.1}) if gives else content(f"{letter}.")

    release = make_release(3)
    with chat_server(answer) as server:
        run = scored(release, server, settings, spec=f"endpoint:lab?mode={mode}")
    # By the first order alone the caption would win or lose by its place; in both, blind answers are ties.
    values = dict(Score.objects.values_list("clip_key", "value").order_by("value"))
    assert sorted(values.values()) == pytest.approx([0.5, 0.5, 0.9 if gives else 1.0])
    overall = run_results(run)["overall"]
    assert overall["ties"] == pytest.approx(2 / 3)
    assert overall["T"] == pytest.approx(2 / 3)
    letters = ServedAnswer.objects.values_list("answer", flat=True)
    assert sorted(letters) == ["A"] * 5 + ["B"]


def test_refusals_and_unparsable_answers_are_counted_and_have_no_score(settings):
    draw = random.Random(5)
    planted = {f"clip {n} is": draw.random() for n in range(12)}

    def answer(body, n):
        at = next((value for start, value in planted.items() if start in text_of(body)), 1.0)
        if at < 0.25:
            return Said({"choices": [{"message": {"content": None, "refusal": "I cannot judge people."}}]})
        if at < 0.35:
            return Said({"error": {"code": "content_filter", "message": "filtered"}}, 400)
        return content("It is a cat.") if at < 0.5 else sees(body, n)

    refused = sum(value < 0.35 for value in planted.values())
    unparsable = sum(0.35 <= value < 0.5 for value in planted.values())
    assert refused
    assert unparsable
    release = make_release(12)
    with chat_server(answer) as server:
        run = scored(release, server, settings)
        asked = len(server.bodies)
        assert run.problems["model_refused"][0]["why"].endswith(("I cannot judge people.", "content_filter: filtered"))
        found = {name: len(items) for name, items in run.problems.items()}
        assert found == {"model_refused": refused, "answer_unparsable": unparsable}
        results = run_results(run)
        assert len(results["missing"]) == refused + unparsable
        assert (results["overall"]["n"], results["overall"]["T"]) == (12 - refused - unparsable, 1.0)
        counts = dict.fromkeys(("answered", "refused", "unparsable"), 0)
        for outcome in ServedAnswer.objects.values_list("outcome", flat=True):
            counts[outcome] += 1
        assert counts == {
            "refused": 2 * refused,
            "unparsable": 2 * unparsable,
            "answered": 24 - 2 * refused - 2 * unparsable,
        }
        # They are answers: a second run asks its first question, and nothing else.
        again = scored(release, server, settings)
        assert len(server.bodies) == asked + 1
    assert {name: len(items) for name, items in again.problems.items()} == found


def test_a_failed_request_has_no_answer_and_is_repeated_by_the_next_run(settings):
    release = make_release(2)
    broken = [True]

    def answer(body, n):
        return Said("broken", 500) if broken[0] and "clip 1 is" in text_of(body) else sees(body, n)

    with chat_server(answer) as server:
        run = scored(release, server, settings)
        assert [row["item"] for row in run.problems["no_answer"]] == ["colours:i1"]
        assert "500 after 6 tries" in run.problems["no_answer"][0]["why"]
        broken[0] = False
        asked = len(server.bodies)
        again = scored(release, server, settings)
        assert len(server.bodies) == asked + 3
    assert again.problems == {}
    assert set(ServedAnswer.objects.values_list("outcome", flat=True)) == {"answered"}


def test_a_used_up_budget_stops_the_run_and_a_larger_one_continues_it(settings):
    release = make_release(6)
    with chat_server(sees) as server:
        run = scored(release, server, settings, stops=r"The budget is used up \(7 requests\)", budget={"requests": 7})
        assert len(server.bodies) == 7
        stored = Score.objects.count()
        assert f"{stored} of 12 texts are scored" in run.job.error
        run.params["budget"] = {"requests": 20}
        run.save()
        assert retry(run.job)
        run.job.refresh_from_db()
        assert run_now(run.job).has_result
    assert max(server.asked.values()) == 1
    assert Score.objects.count() == 12


def test_an_unavailable_endpoint_stops_the_run_with_a_message(settings):
    release = make_release(15)
    # Counted in one step: requests come from several threads.
    asked = itertools.count(1)

    def answer(body, n):
        return sees(body, n) if next(asked) <= 5 else Said("broken", 502)

    with chat_server(answer) as server:
        run = scored(release, server, settings, stops=r"failed too many times in a row \(the last: 502")
    assert re.search(r"after 6 tries: broken\)\. [0-4] of 30 texts are scored", run.job.error)
    # Which of the five answers arrive before the run ends depends on what is in flight.
    assert f" {Score.objects.count()} of 30 texts are scored" in run.job.error


def test_answers_for_another_release_count_for_this_one_too(settings):
    release = make_release(2)
    from evaluation.releases.actions.freeze_release import freeze_release
    from foilworks.core.corpus.models import Subtest
    from tests.evaluation.served.worlds import add_item

    with chat_server(sees) as server:
        scored(release, server, settings)
        asked = len(server.bodies)
        add_item(Subtest.objects.get(name="colours"), 2)
        successor = freeze_release(None, release.project)
        run = scored(successor, server, settings)
        assert len(server.bodies) == asked + 1 + 2
    assert run_results(run)["overall"]["n"] == 3
    assert ServedAnswer.objects.filter(release=successor).count() == 6


def test_frames_can_be_sent_as_one_video(settings):
    def answer(body, n):
        part = body["messages"][0]["content"][0]
        frames = part["video_url"]["url"].removeprefix("data:video/jpeg;base64,").split(",")
        return likely({"yes": 0.5, "no": 0.5}, model=f"frames-{len(frames)}")

    release = make_release(1)
    with chat_server(answer) as server:
        run = scored(release, server, settings, spec="endpoint:lab/Org/Large-VL?as=video&frames=4")
    assert {body["model"] for body in server.bodies} == {"Org/Large-VL"}
    assert "as=video" in run.model_key
    assert run.params["served"]["versions"] == ["frames-4"]


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("endpoint:", HubError, "write endpoint:NAME/MODEL"),
        ("endpoint:nowhere/tiny", GenerationError, "there is no endpoint 'nowhere'; choose one of: lab"),
        ("endpoint:lab/huge", GenerationError, "'huge' is not one of its models; choose one of: tiny, Org/Large-VL"),
        ("endpoint:lab?mode=guess", HubError, "mode is 'guess'; choose one of: p_yes, pairs, choice"),
        ("endpoint:lab?samples=1", HubError, "give a whole number from 2 to 1000"),
    ],
)
def test_an_invalid_spec_lists_the_valid_options(settings, spec, error, message):
    settings.CHAT_ENDPOINTS = endpoint("http://127.0.0.1:9/v1")
    with pytest.raises(error, match=message):
        start_run(None, make_release(1), RunRequest(spec))


def test_a_max_cost_needs_a_price(settings):
    settings.CHAT_ENDPOINTS = endpoint("http://127.0.0.1:9/v1")
    with pytest.raises(EvaluationError, match=r"Endpoint lab has no price.*Set CHAT_LAB_PRICE"):
        start_run(None, make_release(1), RunRequest("endpoint:lab/tiny", budget={"cost": 5}))


def test_a_server_that_is_away_is_not_taken_for_a_model_without_pictures(settings):
    settings.CHAT_ENDPOINTS = endpoint("http://127.0.0.1:9/v1")
    run = start_run(None, make_release(1), RunRequest("endpoint:lab/tiny"))
    with pytest.raises(EvaluationError, match=r"lab: it cannot be reached \(no connection.*correct CHAT_LAB_URL"):
        run_now(run.job)


def test_a_run_without_any_usable_answer_ends_early_and_a_retry_asks_more(settings, monkeypatch):
    monkeypatch.setattr(served_model, "MAX_USELESS", 5)
    with chat_server(lambda body, n: content("<think>Let me see")) as server:
        run = scored(
            make_release(12), server, settings, spec="endpoint:lab?by=samples&samples=4", stops="None of the first"
        )
        assert "<think>Let me see). If the model reasons before it answers, raise max_tokens" in run.job.error
        asked = len(server.bodies)
        assert asked < 12 * 2 * 4
        assert retry(run.job)
        run.job.refresh_from_db()
        with pytest.raises(EvaluationError, match="None of the first"):
            run_now(run.job)
        assert len(server.bodies) > asked


@pytest.mark.parametrize(
    ("spec", "label"),
    [
        ("endpoint:lab", "tiny"),
        ("endpoint:lab/Org/Large-VL?mode=pairs&frames=4", "Large-VL?mode=pairs&frames=4"),
        ("vlm:Qwen/Qwen2.5-VL-7B-Instruct", "Qwen2.5-VL-7B-Instruct"),
        ("clip:models/pytorch_model.bin.4?frames=12&tokenizer=/models/openai", "pytorch_model.bin.4?frames=12"),
        ("colours:?frames=4", "colours?frames=4"),
        ("fake:7", "fake:7"),
        ("fake:", "fake"),
    ],
)
def test_a_run_is_named_by_its_model_and_options(settings, spec, label):
    settings.CHAT_ENDPOINTS = endpoint("http://127.0.0.1:9/v1")
    assert start_run(None, make_release(1), RunRequest(spec)).label == label


def test_a_local_model_has_no_budget():
    with pytest.raises(EvaluationError, match="Only runs through an endpoint have a budget"):
        start_run(None, make_release(1), RunRequest("fake:", budget={"requests": 5}))


def test_a_model_that_reads_no_images_is_named_before_the_first_question(settings):
    def answer(body, n):
        return Said({"error": {"message": "image_url is only supported by certain models"}}, 400)

    with chat_server(answer) as server:
        scored(
            make_release(1),
            server,
            settings,
            stops=r"a test question with a picture \(400: image_url is only supported",
        )
    assert len(server.bodies) == 1
    assert json.dumps(Run.objects.get().params) == "{}"
