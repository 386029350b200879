"""Kinds of foils that only models and people can make: prompts, checks, the self-check, resuming, and the cost."""

import json
import re

import pytest
from django.core.management import call_command

from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.lease import claim
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from generation.actions.runs import start_run
from generation.errors import GenerationError
from generation.estimates import estimate_run, spread
from generation.instruction_models.kind_prompts import KIND_PROMPTS
from generation.jobs import run_generation
from generation.methods._asked_kinds import ASKED_KINDS
from generation.models import Candidate, RunCost
from generation.recipes import RECIPES
from generation.records import CaptionInput
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_subtest, make_video
from tests.hub.chat_server import chat_server, content

# Kind -> (a caption, a foil of the kind, a foil that is not).
ANSWERS = {
    "causes": ("A boy cries because he falls.", "A boy cries because he is hungry.", "A girl cries because she sings."),
    "roles": ("A woman pushes a man.", "A man pushes a woman.", "A woman pushes a cart."),
    "added-events": (
        "A man in a blue shirt cuts a large onion.",
        "A man cuts an onion and then dances.",
        "A man in a red shirt cuts a large onion.",
    ),
    "comparison": ("The boy is taller than the girl.", "The girl is taller than the boy.", "The boy likes the girl."),
    "camera-motion": ("The camera zooms in on a dog.", "The camera zooms out from a dog.", "A dog runs past a cat."),
}
KINDS = sorted(ANSWERS)


def caption_of(body):
    return re.search(r"Caption: (.*)", body["messages"][-1]["content"])[1]


def is_check(body):
    return "Statement: " in body["messages"][-1]["content"]


def answers_of(kind, *, verdict="no"):
    """A server that answers with the kind's foil and its opposite, and to each self-check with `verdict`."""
    _caption, foil, other = ANSWERS[kind]

    def answer(body, n):
        tokens = (sum(len(message["content"]) for message in body["messages"]) // 4, 12)
        reply = {"answer": verdict} if is_check(body) else {"captions": [foil, other]}
        return content(json.dumps(reply), tokens=tokens)

    return answer


@pytest.fixture
def endpoint(settings, monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)

    def use(server, **options):
        settings.CHAT_ENDPOINTS = {"lab": {"url": server.url, "models": ("tiny",), **options}}

    return use


def request_of(subtest, kind, **params):
    recipe = RECIPES[f"model-{kind}"]
    return FoilRequest(
        subtest=subtest,
        method=recipe.method,
        recipe=f"model-{kind}@{recipe.version}",
        params={**recipe.params, "foils": 2, "endpoint": "lab", "timeout": 2, **params},
        filters=recipe.filters_in("corrected"),
    )


def finish(subtest, kind, state=JobState.DONE, **params):
    run = start_run(None, subtest.project, request_of(subtest, kind, **params))
    assert run_now(run.job).state == state
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("prompt", KIND_PROMPTS, ids=lambda prompt: prompt.kind)
def test_the_examples_of_a_prompt_pass_its_own_rules(prompt):
    kind = ASKED_KINDS[prompt.kind]
    for caption, foils in prompt.examples:
        assert not kind.fits(caption)
        assert not [why for foil in foils if (why := kind.refused(caption, foil))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rules_of_a_kind_refuse_other_foils(kind):
    caption, foil, other = ANSWERS[kind]
    assert (ASKED_KINDS[kind].fits(caption), ASKED_KINDS[kind].refused(caption, foil)) == ("", "")
    assert ASKED_KINDS[kind].refused(caption, other)


@pytest.mark.parametrize(
    ("kind", "caption", "why"),
    [
        ("causes", "A man starts to run.", "it states no cause or purpose"),
        ("causes", "A man walks to the door.", "it states no cause or purpose"),
        ("comparison", "A man walks.", "it compares nothing"),
        ("camera-motion", "A man walks.", "it does not mention the camera"),
    ],
)
def test_captions_without_anything_of_the_kind_are_not_sent(kind, caption, why):
    assert ASKED_KINDS[kind].fits(caption) == why


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_each_kind_stores_what_passes_its_checks(project, endpoint, kind):
    subtest = make_subtest(project)
    make_caption(make_video(project), ANSWERS[kind][0])
    with chat_server(answers_of(kind)) as server:
        endpoint(server)
        run = finish(subtest, kind)
    (candidate,) = Candidate.objects.filter(group__run=run)
    assert (candidate.text, candidate.prompt_template) == (ANSWERS[kind][1], f"{kind}@1")
    assert (candidate.facts["kind"], candidate.facts["likely_false"]) == (kind, kind == "added-events")
    assert sum(run.missing.values()) == 1
    asked, check = server.bodies
    assert asked["response_format"]["json_schema"]["schema"]["required"] == ["captions"]
    assert check["response_format"]["json_schema"]["schema"]["properties"]["answer"]["enum"] == ["yes", "no", "unsure"]
    assert f"Statement: {ANSWERS[kind][1]}" in check["messages"][-1]["content"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        ("yes", "the model finds that the caption implies it"),
        ("unsure", "the model is unsure whether the caption implies it"),
        ("maybe", "the model's self-check cannot be read"),
    ],
)
def test_a_foil_that_the_model_does_not_deny_is_dropped(project, endpoint, verdict, why):
    subtest = make_subtest(project)
    make_caption(make_video(project), ANSWERS["roles"][0])
    with chat_server(answers_of("roles", verdict=verdict)) as server:
        endpoint(server)
        run = finish(subtest, "roles", JobState.PARTLY)
    assert not Candidate.objects.filter(group__run=run).exists()
    assert why in {*run.skipped, *run.missing} or "it does not have the words of the caption" in run.skipped


@pytest.mark.django_db
def test_a_run_that_continues_repeats_neither_answers_nor_checks(project, endpoint):
    subtest = make_subtest(project)
    for n in range(3):
        make_caption(make_video(project), f"A woman pushes a man {n} times.")

    def answer(body, n):
        number = re.search(r"\d", caption_of(body))[0]
        reply = {"answer": "no"} if is_check(body) else {"captions": [f"A man pushes a woman {number} times."]}
        return content(json.dumps(reply))

    with chat_server(answer) as server:
        endpoint(server)
        run = finish(subtest, "roles", foils=1)
        n_requests = len(server.bodies)
        Job.objects.filter(pk=run.job.pk).update(state=JobState.WAITING)
        run_generation(run.pk, claim(str(run.job.pk)))
        again = finish(make_subtest(project), "roles", foils=1)
        assert (n_requests, len(server.bodies)) == (6, 6)
    assert Candidate.objects.filter(group__run=again).count() == 3
    assert RunCost.objects.get(run=again).reused == 6


@pytest.mark.django_db
def test_an_estimate_is_near_what_the_server_counts(project, endpoint, capsys):
    subtest = make_subtest(project, name="roles")
    for n in range(60):
        things = " and a dog" * (n % 7)
        make_caption(make_video(project), f"A woman pushes a man{things} {n} times.")

    def answer(body, n):
        caption = caption_of(body)
        if is_check(body):
            reply = {"answer": "no"}
        else:
            reply = {"captions": [caption.replace("woman", "X").replace("man", "woman").replace("X", "man")]}
        text = json.dumps(reply)
        return content(text, tokens=(sum(len(row["content"]) for row in body["messages"]) // 4, len(text) // 4))

    with chat_server(answer) as server:
        endpoint(server, price=(2.0, 8.0), currency="USD")
        request = request_of(subtest, "roles", foils=1)
        estimate = estimate_run(project, request)
        n_sampled = len(server.bodies)
        assert (estimate.captions, estimate.sent, estimate.sampled, n_sampled) == (60, 60, 20, 40)
        run = start_run(None, project, request)
        assert run_now(run.job).state == JobState.DONE
        cost = RunCost.objects.get(run=run)
        # The run does not pay for the sample again.
        assert (cost.requests, cost.reused) == (80, 40)
        counted = sum(sum(len(row["content"]) for row in body["messages"]) // 4 for body in server.bodies)
        assert len(server.bodies) == 120 == estimate.requests
        assert estimate.prompt_tokens == pytest.approx(counted, rel=0.05)
        assert estimate.cost == pytest.approx((estimate.prompt_tokens * 2 + estimate.completion_tokens * 8) / 1e6)
        call_command(
            *("generate", "--project", project.slug, "--recipe", "model-roles", "--subtest", "roles", "--estimate"),
            *("--set", "endpoint=lab", "--set", "foils=1"),
        )
    said = capsys.readouterr().out
    assert "60 of 60 captions are sent: about 120 requests" in said
    assert "USD; measured on 20 captions" in said


@pytest.mark.django_db
def test_only_methods_that_ask_a_model_have_a_cost(project):
    subtest = make_subtest(project)
    with pytest.raises(GenerationError, match="uses no instruction model"):
        estimate_run(project, FoilRequest(subtest=subtest, method="number", params={}, filters={}))


def test_a_sample_has_short_and_long_captions():
    captions = [CaptionInput(str(n), "a" * (n + 1)) for n in range(100)]
    lengths = [len(caption.text) for caption in spread(captions, 4)]
    assert lengths == [13, 38, 63, 88]
    assert spread(captions[:3], 4) == captions[:3]
