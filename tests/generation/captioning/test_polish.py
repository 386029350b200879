"""Plain sentences made literary by a chat model: ViLMA's prompt, numbered answers."""

import json

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import Caption
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.actions.runs import make_captions, preview_captions
from generation.captioning.polish import read_sentences
from generation.errors import GenerationError
from generation.instruction_models.prompts import PROMPTS
from generation.models import ModelAnswer
from tests.factories import make_caption, make_member, make_project, make_video
from tests.hub.chat_server import Said, chat_server, content

PLAIN = {"man hold cup": "A man clutches a cup.", "dog run fast": "A hound races by.", "she sad": "Sorrow fills her."}


def polished(body, n) -> Said:
    """The number and the better sentence of each that stands behind the prompt's last colon."""
    given = body["messages"][-1]["content"].partition("My sentences are: ")[2]
    plain = [part.strip() for part in given.split(".") if part.strip()]
    return content("\n".join(f"{at}. {PLAIN.get(text, text)}" for at, text in enumerate(plain, 1)))


@pytest.fixture
def server(settings, monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)
    with chat_server(polished) as one:
        settings.CHAT_ENDPOINTS = {"lab": {"url": one.url, "models": ("tiny",)}}
        yield one


def tried(tmp_path, capsys, texts, *options):
    path = tmp_path / "plain.jsonl"
    path.write_text("".join(json.dumps({"caption": text}) + "\n" for text in texts), encoding="utf-8")
    call_command("caption", "--maker", "polish", "--file", str(path), "--set", "endpoint=lab", *options, "--json")
    return json.loads(capsys.readouterr().out)


def test_the_paper_sends_its_prompt_with_many_sentences_and_reads_the_numbers(server, tmp_path, capsys):
    found = tried(tmp_path, capsys, PLAIN, "--mode", "paper")
    assert [one["caption"] for one in found["captions"]] == list(PLAIN.values())
    (body,) = server.bodies
    (message,) = body["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("I want you to act as an English spelling corrector and improver.")
    assert message["content"].endswith("My sentences are: man hold cup. dog run fast. she sad.")
    assert "response_format" not in body


def test_mode_corrected_sends_one_sentence_per_request(server, tmp_path, capsys):
    found = tried(tmp_path, capsys, [*PLAIN, "It rains."])
    assert len(server.bodies) == 4
    assert found["skipped"] == [{"source": "It rains.", "why": "repeats the caption"}]
    facts = found["captions"][0]["facts"]
    assert (facts["polished_from"], facts["model"]) == ("man hold cup", "lab:tiny")
    assert (facts["prompt"], facts["prompt_sha256"]) == ("polish@1", PROMPTS["polish@1"].sha256)
    # A second trial asks nothing again: answers are kept in the installation's cache.
    assert tried(tmp_path, capsys, [*PLAIN, "It rains."]) == found
    assert len(server.bodies) == 4


def test_an_answer_with_too_few_sentences_is_dropped(server, tmp_path, capsys):
    server.answer = lambda body, n: content("1. Only one.")
    found = tried(tmp_path, capsys, PLAIN, "--mode", "paper")
    assert {one["why"] for one in found["skipped"]} == {"1 answers to 3 sentences"}
    assert found["captions"] == []


@pytest.mark.parametrize(
    ("answer", "wanted", "found"),
    [
        ("1. He sings.\n2. She hums.", 2, ["He sings.", "She hums."]),
        ('Here you are:\n\n1) "He sings."\n2) "She hums."', 2, ["He sings.", "She hums."]),
        ("1. He sings. 2. She hums.", 2, ["He sings.", "She hums."]),
        ("He sings.", 1, ["He sings."]),
        ("**He sings.**", 1, ["He sings."]),
        ("1. He waits 2. hours.", 1, ["He waits 2. hours."]),
        ("He sings.\nShe hums.\nI hope that helps!", 2, []),
        ("", 1, []),
    ],
)
def test_numbered_answers_are_read(answer, wanted, found):
    assert read_sentences(answer, wanted) == found


@pytest.mark.django_db
def test_a_projects_captions_are_polished_and_failures_are_reported(server):
    project = make_project()
    for text in PLAIN:
        make_caption(make_video(project), text, facts={"count": 3})
    owner = make_member(project, Role.RESEARCHER)
    run = preview_captions(owner, project, maker="polish", params={"endpoint": "lab"})
    run_now(run.job)
    run.refresh_from_db()
    assert run.preview["n_made"] == 3
    run_now(make_captions(owner, run).job)
    made = Caption.objects.get(text="A man clutches a cup.")
    assert (made.facts["count"], made.facts["polished_from"], made.facts["maker"]) == (3, "man hold cup", "polish")
    # The look's answers serve the making.
    assert (len(server.bodies), ModelAnswer.objects.count()) == (3, 3)
    with pytest.raises(GenerationError, match="there is no endpoint 'other'"):
        preview_captions(owner, project, maker="polish", params={"endpoint": "other"})
