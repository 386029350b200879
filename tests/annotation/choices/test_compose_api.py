"""Multiple-choice items by the API: a preview, the job, what the project has."""

import pytest

from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, Role
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db
NEGATIVES = tuple(f"random caption {number}." for number in range(4))


@pytest.fixture
def project():
    project = make_project(slug="p")
    random = make_subtest(project, name="random", foils_per_item=4)
    verbs = make_subtest(project, name="verbs")
    for number in range(3):
        caption = make_caption(make_video(project), f"a man sings song {number}.")
        make_item(random, caption, NEGATIVES, key=f"random:{number}", state=ItemState.VALID)
        make_item(verbs, caption, (f"a man eats song {number}.",), key=f"verbs:{number}", state=ItemState.VALID)
    make_subtest(project, name="verb-h", foils_per_item=4)
    return project


@pytest.fixture
def ask(project, client):
    owner = make_member(project, Role.RESEARCHER)
    headers = {"Authorization": f"Bearer {make_token(owner, name='t', scope=ApiToken.Scope.MANAGE).secret}"}

    def post(path, **body):
        subtest = project.subtests.get(name="verb-h").pk
        asked = {"subtest": subtest, "random": "random", "hard": "verbs", **body}
        return client.post(f"/api/v1/projects/p/choices{path}", asked, "application/json", headers=headers)

    post.read = lambda: client.get("/api/v1/projects/p/choices", headers=headers).json()
    return post


def test_a_preview_stores_nothing_and_a_job_composes(ask):
    assert ask.read() == {"job": None, "subtests": []}
    preview = ask("/preview", limit=2).json()
    assert (preview["composed"], preview["existing"], len(preview["items"])) == (2, 0, 2)
    hard = [row["foils"][row["hard_foil"]] for row in preview["items"]]
    assert all(text.startswith("a man eats song") for text in hard)
    assert Item.objects.filter(subtest__name="verb-h").count() == 0
    started = ask("", limit=2)
    assert (started.status_code, started.json()["state"]) == (202, "waiting")
    run_now(Job.objects.get(dotted="choices.compose"))
    found = ask.read()
    assert found["job"]["state"] == "done"
    assert [(row["name"], row["random"], row["hard"], row["n"]) for row in found["subtests"]] == [
        ("verb-h", "random", "verbs", 2)
    ]


def test_a_request_that_cannot_be_composed_says_why(ask):
    refused = ask("/preview", random="nothing")
    assert (refused.status_code, "Subtest 'nothing' not found" in refused.json()["detail"]) == (400, True)
    assert ask("", limit=0).status_code == 422
    assert ask("", seed=-1).status_code == 422
