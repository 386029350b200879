"""What pages, files, the command and the board show of a run through an endpoint."""

import csv
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.scoring.models import Run, ServedAnswer
from foilworks.core.corpus.models import Takedown
from foilworks.core.hub.adapters import chat_endpoint
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from tests import factories
from tests.evaluation.served.test_served_runs import is_true, scored, sees
from tests.evaluation.served.worlds import endpoint, make_release
from tests.hub.chat_server import Said, chat_server, content, text_of
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(chat_endpoint, "FIRST_PAUSE", 0.01)


def mixed(body, n):
    """Refuses the second clip, and speaks of something else at the third."""
    if "clip 1 is" in text_of(body):
        return Said({"choices": [{"message": {"content": None, "refusal": "I would rather not."}}]})
    return content("<b>It is a cat</b>") if "clip 2 is" in text_of(body) else sees(body, n)


@pytest.fixture
def researcher(client):
    def enter(project):
        person = factories.make_member(project, Role.RESEARCHER)
        client.force_login(person)
        return client

    return enter


def page_of(client, name, run, **query):
    found = client.get(reverse(f"scoring:{name}", args=(run.project.slug, run.pk)), query)
    assert found.status_code == 200
    return found


def words(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_form_of_a_run_offers_the_endpoints_and_starts_one_within_a_budget(settings, researcher):
    release = make_release(3)
    client = researcher(release.project)
    with chat_server(mixed) as server:
        settings.CHAT_ENDPOINTS = endpoint(server.url, price=(1.0, 2.0), currency="USD")
        address = reverse("releases:release", args=(release.project.slug, release.pk))
        assert 'value="endpoint:lab/Org/Large-VL"' in client.get(address).content.decode()
        wish = {"spec": "endpoint:lab/tiny", "protocol": "foilworks", "device": "auto"}
        response = client.post(address, {**wish, "requests": "3", "cost": "0.5"})
        run = Run.objects.get()
        assert response.url == reverse("scoring:run", args=(release.project.slug, run.pk))
        assert run.params == {"budget": {"requests": 3, "cost": 0.5}}
        assert run.label == "tiny"
        with pytest.raises(EvaluationError, match="The budget is used up"):
            run_now(run.job)
        shown = words(page_of(client, "run", run))
        assert "The budget is used up" in shown
        assert 'name="requests" value="3"' in shown
        # The page raises the budget and continues the run.
        client.post(reverse("scoring:resume_run", args=(run.project.slug, run.pk)), {"requests": "50", "tokens": ""})
        run.refresh_from_db()
        assert run.params["budget"] == {"requests": 50, "cost": 0.5}
        run_now(run.job)
    assert max(server.asked.values()) == 1


def test_a_budget_is_refused_for_a_local_model(researcher):
    release = make_release(1)
    address = reverse("releases:release", args=(release.project.slug, release.pk))
    wish = {"spec": "fake:", "protocol": "foilworks", "device": "auto", "tokens": "5"}
    response = researcher(release.project).post(address, wish)
    assert response.status_code == 422
    assert "Only runs through an endpoint have a budget" in response.content.decode()


def test_the_page_of_a_run_shows_outcomes_cost_and_prompts(settings, researcher):
    release = make_release(3)
    with chat_server(mixed) as server:
        run = scored(release, server, settings)
    client = researcher(release.project)
    shown = words(page_of(client, "run", run))
    read_page(shown).check("Endpoint answers", "1 of 3 items scored; 1 refused, 1 unparsable")
    for label, n in (("Answered", 2), ("Refused", 2), ("Unparsable", 2)):
        assert f'">{label}</a> </th> <td class="num">{n}</td>' in shown
    # A third of the six answers has each outcome; a third of the items is right if the unread ones are wrong.
    assert shown.count("33.3 %") == 5
    assert "Does this video show &quot;…&quot;? Answer with yes or no." in shown
    read_page(shown).check("Prompt (version 1)", "USD", "Model refused (1).", "Answer unparsable (1).")
    results = client.get(reverse("scoring:run_file", args=(run.project.slug, run.pk, "json"))).json()
    assert results["served"]["outcomes"]["refused"]["n"] == 2
    assert results["served"]["usage"]["requests"] == 6


def test_raw_answers_are_shown_in_pages_by_outcome_and_as_a_file(settings, researcher, monkeypatch):
    monkeypatch.setattr("evaluation.scoring.views.ANSWERS_PER_PAGE", 4)
    release = make_release(3)
    with chat_server(mixed) as server:
        run = scored(release, server, settings)
    client = researcher(release.project)
    read_page(words(page_of(client, "answers", run))).check("Page 1 of 2", "clip 0 is red")
    unparsable = words(page_of(client, "answers", run, outcome="unparsable"))
    assert "clip 2 is blue" in unparsable
    assert "clip 0 is red" not in unparsable
    # Word for word, and as text.
    assert "&lt;b&gt;It is a cat&lt;/b&gt;" in unparsable
    raw = b"".join(page_of(client, "answers_file", run).streaming_content).decode()
    lines = [json.loads(line) for line in raw.splitlines()]
    assert len(lines) == 6
    # Both texts of the clip, in the order in which the answers came.
    refused = {(line["refusal"], *line["texts"]) for line in lines if line["outcome"] == "refused"}
    assert refused == {("I would rather not.", "clip 1 is red"), ("I would rather not.", "clip 1 is green")}
    seen = next(line for line in lines if line["texts"] == ["clip 0 is red"])
    assert (seen["raw"], seen["answer"], seen["version"]) == ("Yes", "yes", "tiny-2026-01-01")
    assert seen["logprobs"][0][0][0] == "Yes"


def test_the_samples_of_a_text_have_their_interval(settings, researcher):
    def answer(body, n):
        return content("Yes" if body["seed"] < (3 if is_true(body) else 0) else "No")

    release = make_release(1)
    with chat_server(answer) as server:
        run = scored(release, server, settings, spec="endpoint:lab?by=samples&samples=4")
    shown = words(page_of(researcher(release.project), "answers", run))
    assert "3 of 4 answers: yes" in shown
    # Clopper and Pearson's interval of 3 of 4.
    assert "[19.4, 99.4] %" in shown


def test_texts_of_a_video_that_was_taken_down_are_withheld(settings, researcher):
    release = make_release(1)
    with chat_server(sees) as server:
        run = scored(release, server, settings)
    video = release.members.get().video
    Takedown.objects.create(video=video, reason="asked for", taken_down_at=timezone.now())
    shown = words(page_of(researcher(release.project), "answers", run))
    assert "withheld: its video was taken down" in shown
    assert "clip 0 is red" not in shown


def test_a_choice_says_how_often_its_first_letter_was_named(settings, researcher):
    release = make_release(2)
    with chat_server(lambda body, n: content("A")) as server:
        run = scored(release, server, settings, spec="endpoint:lab?mode=pairs")
    shown = words(page_of(researcher(release.project), "run", run))
    assert "100.0 % of the answers name the first letter. Without a position preference, 50.0 % would" in shown
    assert set(ServedAnswer.objects.values_list("options", flat=True)) == {2}


def test_the_board_and_its_files_name_version_date_and_prompts(settings, researcher):
    release = make_release(3)
    with chat_server(sees) as server:
        run = scored(release, server, settings)
    client = researcher(release.project)
    asked = run.params["served"]["first"]
    note = f"tiny-2026-01-01; asked {asked}; p_yes by logprobs; prompts 1"
    address = reverse("board:leaderboard", args=(release.project.slug, release.pk))
    assert note in words(client.get(address))
    table = client.get(
        reverse("board:leaderboard_file", args=(release.project.slug, release.pk, "csv"))
    ).content.decode()
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["served_versions"], row["served_first"], row["served_last"]) == ("tiny-2026-01-01", asked, asked)
    assert (row["served_mode"], row["served_by"], row["served_prompts"]) == ("p_yes", "logprobs", "1")
    assert row["model_key"].startswith("lab:tiny@tiny-2026-01-01")
    text = client.get(reverse("board:leaderboard_file", args=(release.project.slug, release.pk, "md"))).content.decode()
    assert f"tiny ({note})" in text


def test_the_command_scores_prints_outcomes_and_respects_its_budget(settings, capsys):
    release = make_release(3)
    with chat_server(mixed) as server:
        settings.CHAT_ENDPOINTS = endpoint(server.url)
        wish = ["endpoint", "lab/tiny", "--release", str(release.pk), "--sync"]
        # Two of three items have no result: partly done.
        with pytest.raises(SystemExit, match="3"):
            call_command("evaluate", *wish, "--max-requests", "20", "--json")
        found = json.loads(capsys.readouterr().out)
        with pytest.raises(SystemExit, match="3"):
            call_command("evaluate", *wish)
        printed = capsys.readouterr().out
    assert found["served"]["budget"] == {"requests": 20}
    assert {name: row["n"] for name, row in found["served"]["outcomes"].items()} == {
        "answered": 2,
        "refused": 2,
        "unparsable": 2,
        "failed": 0,
    }
    assert "unparsable" in printed
    assert "0 requests, 4 cached answers reused" in printed


def test_the_command_names_an_unknown_endpoint(settings, capsys):
    settings.CHAT_ENDPOINTS = {}
    release = make_release(1)
    with pytest.raises(SystemExit):
        call_command("evaluate", "endpoint", "lab/tiny", "--release", str(release.pk), "--sync")
    assert "there is no endpoint 'lab'; no endpoint is configured: set CHAT_ENDPOINTS" in capsys.readouterr().err
