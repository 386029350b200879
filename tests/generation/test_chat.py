"""Foils by an instruction model: a real server that behaves well and badly, and a local model with random weights."""

import json
import re

import pytest

from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.hub.errors import HubError
from foilworks.core.jobs.lease import claim
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.actions.runs import start_run
from generation.errors import GenerationError
from generation.instruction_models.prompts import PROMPTS, checked
from generation.jobs import run_generation
from generation.methods._chat_answers import check_answers, read_captions
from generation.models import Candidate, CandidateGroup, GenerationRun, ModelAnswer, RunCost
from generation.run_request import FoilRequest
from tests.factories import make_caption, make_member, make_subtest, make_video
from tests.hub.chat_folder import chat_lm
from tests.hub.chat_server import Said, chat_server, content, foils

TEXTS = {
    "good": "a man installs a wheel to a bicycle",
    "late": "a woman opens the door",
    "nonsense": "two boys lift a box",
    "echo": "a dog jumps on the table",
    "busy": "a cat sleeps on a chair",
    "broken": "a girl paints a wall",
    "half": "a chef cuts an onion",
}


def caption_of(body) -> str:
    return re.search(r"Caption: (.*)", body["messages"][-1]["content"])[1]


def mixed(body, n) -> Said:
    """Each caption meets another misfortune; `n` counts the requests about it."""
    text = caption_of(body)
    kind = next(name for name, one in TEXTS.items() if one == text)
    return {
        "good": foils("a man uninstalls a wheel from a bicycle", "a man leans a wheel against a bicycle"),
        "late": Said("too late", wait=1.6),
        "nonsense": content("Sure! I would love to help you with boxes."),
        "echo": foils("A dog jumps on the table.", "a dog jumps on the table"),
        "busy": Said("slow down", 429, {"Retry-After": "0"}),
        "broken": Said("oops", 500),
        "half": foils("a chef washes an onion", "a chef cuts an onion"),
    }[kind]


@pytest.fixture
def subtest(project):
    return make_subtest(project)


@pytest.fixture
def endpoint(settings, monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)

    def use(server, **options):
        settings.CHAT_ENDPOINTS = {"lab": {"url": server.url, "models": ("tiny",), "key": "secret", **options}}

    return use


def start(subtest, person=None, **params) -> GenerationRun:
    wanted = {"endpoint": "lab", "foils": 2, "timeout": 1, **params}
    return start_run(
        person,
        subtest.project,
        FoilRequest(subtest=subtest, method="chat", params=wanted, filters={"identical": {}}),
    )


def finish(run, state=JobState.DONE) -> GenerationRun:
    assert run_now(run.job).state == state
    run.refresh_from_db()
    return run


def texts_of(run) -> list[str]:
    return list(Candidate.objects.filter(group__run=run).order_by("group", "rank").values_list("text", flat=True))


def again(run) -> GenerationRun:
    """The same run taken up by another worker, as after a crash."""
    Job.objects.filter(pk=run.job.pk).update(state=JobState.WAITING)
    run_generation(run.pk, claim(str(run.job.pk)))
    run.refresh_from_db()
    return run


def test_a_run_stores_its_foils_names_missing_ones_and_repeats_no_request(project, subtest, endpoint):
    for text in TEXTS.values():
        make_caption(make_video(project), text)
    with chat_server(mixed) as server:
        endpoint(server)
        run = finish(start(subtest, tries=2), JobState.PARTLY)
        first = dict(server.asked)
        assert len(texts_of(run)) == 3
        assert run.skipped == {
            "timed out after 2 tries": 1,
            "not JSON": 1,
            "repeats the caption": 1,
            "429 after 2 tries": 1,
            "500 after 2 tries": 1,
        }
        assert run.missing == {"repeats the caption": 1}
        # Tries: one each for the four that were answered, two each for the three that were not.
        cost = RunCost.objects.get(run=run)
        assert (cost.requests, len(server.bodies)) == (10, 10)
        assert ModelAnswer.objects.count() == 4
        assert set(CandidateGroup.objects.filter(run=run, unanswered=True).values_list("caption__text", flat=True)) == {
            TEXTS["late"],
            TEXTS["busy"],
            TEXTS["broken"],
        }

        # The server has recovered. Only what had no answer is asked for.
        server.answer = lambda body, n: foils(f"{caption_of(body)} twice", f"{caption_of(body)} again")
        kept = texts_of(run)
        again(run)
        assert len(server.bodies) == 13
        assert {caption for caption, n in server.asked.items() if n != first[caption]} == {
            body["messages"][-1]["content"] for body in server.bodies[10:]
        }
        assert len(texts_of(run)) == len(kept) + 6
        assert set(kept) < set(texts_of(run))
        assert run.skipped == {"not JSON": 1, "repeats the caption": 1}
        assert not CandidateGroup.objects.filter(run=run, unanswered=True).exists()
        assert CandidateGroup.objects.filter(run=run).count() == len(TEXTS)

        again(run)
        assert len(server.bodies) == 13


def test_a_candidate_records_its_prompt_model_and_answer(project, subtest, endpoint):
    make_caption(make_video(project), TEXTS["good"])
    with chat_server(mixed) as server:
        endpoint(server)
        run = finish(start(subtest))
    one, other = Candidate.objects.filter(group__run=run).order_by("rank")
    prompt = PROMPTS["counterfactual@1"]
    assert (one.prompt_template, one.prompt_hash) == ("counterfactual@1", prompt.sha256)
    assert (one.model_id, one.model_revision) == ("lab:tiny", "tiny-2026-01-01")
    assert one.state == CandidateState.QUEUED
    # Verb and preposition change together, and each is an edit of its own.
    assert [target for _, _, target in one.edits] == ["uninstalls", "from"]
    assert [target for _, _, target in other.edits] == ["leans", "against"]
    (body,) = server.bodies
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][1]["content"].startswith("Caption: a man installs a wheel to a bicycle in a workshop")
    assert json.loads(body["messages"][2]["content"])["captions"][0].startswith("a man uninstalls a wheel from")
    assert body["messages"][-1]["content"] == f"Caption: {TEXTS['good']}\nNumber: 2"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["captions"]
    row = ModelAnswer.objects.get()
    assert "secret" not in json.dumps([run.params, row.text, row.model_id])


def test_the_same_seed_makes_the_same_foils_at_no_cost(project, subtest, endpoint):
    for text in ("a man runs in a park", "a woman sings on a stage"):
        make_caption(make_video(project), text)
    drawn = iter(range(1000))

    def answer(body, n):
        return foils(*(f"{caption_of(body)} {next(drawn)}" for _ in range(2)))

    with chat_server(answer) as server:
        endpoint(server)
        first = finish(start(subtest, temperature=0.9))
        second = finish(start(make_subtest(project), temperature=0.9))
        assert texts_of(second) == texts_of(first)
        assert len(server.bodies) == 2
        assert (second.cost.requests, second.cost.reused) == (0, 2)
        other = start_run(
            None,
            project,
            FoilRequest(
                subtest=subtest,
                method="chat",
                params={"endpoint": "lab", "foils": 2, "temperature": 0.9},
                filters={},
                seed=1,
            ),
        )
        assert texts_of(finish(other)) != texts_of(first)
        assert {body["seed"] for body in server.bodies} == {0, 1}


def test_a_spent_budget_leaves_the_rest_for_later(project, subtest, endpoint):
    for n in range(6):
        make_caption(make_video(project), f"a man lifts {n} boxes")
    with chat_server(lambda body, n: foils(f"{caption_of(body)} x", f"{caption_of(body)} y")) as server:
        endpoint(server)
        run = finish(start(subtest, requests=4, concurrency=2), JobState.PARTLY)
        assert (len(server.bodies), run.skipped) == (4, {"budget spent": 2})
        # The budget is the run's, not the attempt's.
        again(run)
        assert (len(server.bodies), run.skipped) == (4, {"budget spent": 2})
        GenerationRun.objects.filter(pk=run.pk).update(params={**run.params, "requests": 9})
        again(run)
        assert (len(server.bodies), run.skipped) == (6, {})


def test_a_refused_key_fails_the_run_with_the_remedy(project, subtest, endpoint):
    make_caption(make_video(project), "a man runs")
    with chat_server(lambda body, n: Said({"error": {"message": "bad key"}}, 401)) as server:
        endpoint(server)
        run = start(subtest)
        with pytest.raises(HubError, match="CHAT_LAB_KEY"):
            run_now(run.job)
    run.job.refresh_from_db()
    assert "endpoint lab: it refuses the key" in run.job.error
    assert not CandidateGroup.objects.filter(run=run).exists()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"endpoint": "elsewhere"}, "there is no endpoint 'elsewhere'; choose one of: lab"),
        ({"endpoint": "http://169.254.169.254/v1"}, "there is no endpoint 'http://169"),
        ({"model": "huge"}, "endpoint lab: 'huge' is not one of its models; choose one of: tiny"),
        ({"endpoint": ""}, "no model is chosen"),
        ({"template": "mine@1"}, "there is no prompt 'mine@1'; choose one of: counterfactual@1"),
        ({"concurrency": 600}, "parameter 'concurrency' is 600; give a number from 1 to 512"),
        ({"requests": -1}, "parameter 'requests' is -1"),
    ],
)
def test_invalid_parameters_are_refused_before_any_request(project, subtest, settings, params, message):
    make_caption(make_video(project))
    settings.CHAT_ENDPOINTS = {"lab": {"url": "http://127.0.0.1:9/v1", "models": ("tiny",)}}
    person = make_member(project, Role.RESEARCHER)
    with pytest.raises(GenerationError, match=re.escape(message)):
        start(subtest, person, **params)
    assert not Job.objects.exists()


def test_a_local_model_uses_its_template_and_a_rerun_is_bit_identical(project, subtest, tmp_path):
    folder = chat_lm(tmp_path / "model")
    for n in range(20):
        make_caption(make_video(project), f"a man folds {n} red shirts")
    wishes = {"endpoint": "", "model": str(folder), "max_tokens": 12, "device": "cpu"}
    run = finish(start(subtest, **wishes), JobState.PARTLY)
    answers = dict(ModelAnswer.objects.values_list("sha256", "text"))
    assert len(answers) == 20
    # Random weights write no JSON: every caption is listed with that.
    assert sum(run.skipped.values()) == 20
    assert set(run.skipped) <= {"not JSON", "cut off: raise max_tokens"}
    assert not CandidateGroup.objects.filter(run=run, unanswered=True).exists()
    # Half of them lost, as by a kill between two batches of the model, and made again.
    lost = list(ModelAnswer.objects.order_by("pk").values_list("pk", flat=True))[16:]
    ModelAnswer.objects.filter(pk__in=lost).delete()
    finish(start(make_subtest(project), **wishes), JobState.PARTLY)
    assert dict(ModelAnswer.objects.values_list("sha256", "text")) == answers


def test_the_fake_model_makes_foils_in_corrected_and_paper_mode(project, subtest):
    make_caption(make_video(project), "a man folds a red shirt")
    run = finish(start(subtest, endpoint="", model="fake-chat:", foils=5))
    assert len(texts_of(run)) == 5


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"captions": ["a", "b"]}', ["a", "b"]),
        ('Here you are:\n```json\n{"captions": ["a b",\n "c"]}\n```\nAnything else?', ["a b", "c"]),
        ('["a", " b  c "]', ["a", "b c"]),
        ('{"thoughts": "…", "counterfactuals": [{"caption": "a"}, {"caption": "b"}]}', ["a", "b"]),
        ('<think>{maybe [1]}</think> {"captions": ["a"]}', ["a"]),
        ("Sure, boxes!", None),
        ('{"captions": "a"}', None),
        ('{"captions": []}', None),
        ('{"captions": [1, 2]}', None),
        ('{"captions": ["cut off', None),
        ('{"captions": ["a\\u0000 \\ud800b"]}', ["a ?b"]),
        ("[" * 100_000, None),
    ],
)
def test_captions_are_read_from_json_anywhere_in_the_answer(answer, found):
    assert read_captions(answer) == found


def test_each_invalid_answer_has_a_reason():
    caption = "A man folds a shirt."
    given = ["a man tears a shirt", "A man folds a shirt", "", "A man tears a shirt.", "A man " + "x" * 200]
    assert check_answers(caption, given, 6, mend=True) == (
        ["A man tears a shirt."],
        [
            "repeats the caption",
            "empty answer",
            "repeats another answer",
            "far longer than the caption",
            "fewer than requested",
        ],
    )
    assert check_answers(caption, ["a man tears a shirt"], 1, mend=False)[0] == ["a man tears a shirt"]
    assert check_answers("a man runs", ["A man sits.", "Tom sits", "TV is on"], 3, mend=True)[0] == [
        "a man sits",
        "Tom sits",
        "TV is on",
    ]


def test_braces_of_a_prompt_stay_and_its_version_never_changes():
    mine = checked("mine", 1, "", "say {k} of {caption}", [["a {x}", ["b"]]])
    assert mine.messages("{k} men", 3) == (
        ("user", "say 1 of a {x}"),
        ("assistant", '{"captions": ["b"]}'),
        ("user", "say 3 of {k} men"),
    )
    # What stands under an id never changes: a new wording takes a new version.
    assert {prompt.id: prompt.sha256[:12] for prompt in PROMPTS.values()} == {
        "added-events@1": "0e729d396b8e",
        "camera-motion@1": "ad724f876190",
        "causes@1": "d352f6220925",
        "comparison@1": "8ae7c2a1c667",
        "counterfactual@1": "7772e7191a19",
        "counterfactual-object@1": "dfb42d8e77ed",
        "polish@1": "3801c383a56f",
        "roles@1": "e86df4715699",
    }


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("Mine", 1, "", "{caption}", []), "invalid name; use at most 40 lowercase letters"),
        (("mine", 1, "", "no place", []), "{caption} is missing"),
        (("mine", 1, "", "{caption}", [["a"]]), 'write each as ["caption", ["foil", "foil"]]'),
        (("mine", 1, "", "{caption}", [["a", "b"]]), 'write each as ["caption", ["foil", "foil"]]'),
        (("mine", 1, "", "{caption}", [["a", ["b"]]] * 21), "give at most 20"),
    ],
)
def test_an_invalid_prompt_is_refused(given, message):
    with pytest.raises(GenerationError, match=re.escape(message)):
        checked(*given)
