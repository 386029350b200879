"""What operations of a row share: bodies from the forms of pages, all or nothing, and the reads of results."""

import json
from functools import partial
from typing import Any

import pytest
from django.test import Client

from evaluation.board.leaderboard import board
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import AuditEvent, Project, Role, User
from foilworks.site.api.api import api
from foilworks.site.api.settings import SECTIONS
from generation.actions.runs import start_run
from generation.run_request import FoilRequest
from tests.evaluation.ranked import make_release, score
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(project, settings) -> User:
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    return make_member(project, Role.RESEARCHER)


@pytest.fixture
def ask(owner, project) -> Any:
    """`ask(method, path below the project, body)` as its researcher."""
    return asking(owner, project)


def asking(person: User, project: Project) -> Any:
    client = Client(headers={"Authorization": f"Bearer {make_token(person, name='rows', scope='manage').secret}"})

    def ask(method: str, path: str, body: Any = None) -> Any:
        sent = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
        return getattr(client, method)(f"/api/v1/projects/{project.slug}/{path}", **sent)

    return ask


def test_settings_change_what_is_sent_and_keep_the_rest(ask, project):
    before = ask("get", "settings").json()
    assert set(before) == set(SECTIONS)
    after = ask("patch", "settings", {"rules": {"undo_seconds": 45}, "pay": {"edit_amount": "0.25", "currency": "EUR"}})
    assert after.status_code == 200
    changed = after.json()
    assert (changed["rules"].pop("undo_seconds"), before["rules"].pop("undo_seconds")) == (45, 30)
    assert changed["rules"] == before["rules"]
    assert (changed["pay"]["currency"], float(changed["pay"]["edit_amount"])) == ("EUR", 0.25)
    assert AuditEvent.objects.filter(project=project, action="set_work_rules").count() == 1


def test_one_bad_setting_stores_none(ask, project):
    sent = {"about": {"name": "renamed"}, "rules": {"lease_minutes": 0, "undo_second": 5}}
    answer = ask("patch", "settings", sent)
    assert answer.status_code == 422
    project.refresh_from_db()
    assert project.name != "renamed"
    answer = ask("patch", "settings", {"about": {"name": "renamed"}, "rules": {"lease_minutes": 0}})
    assert answer.json()["errors"][0]["where"] == "rules.lease_minutes"
    project.refresh_from_db()
    assert project.name != "renamed"
    # A field of rows is known only with them.
    answer = ask("patch", "settings", {"pay": {"edits_amount": 1}})
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "pay.edits_amount")


def test_terms_of_sources_keep_what_is_not_sent(ask, project):
    make_video(project, source_dataset="ssv2")
    ask("patch", "settings/sources", {"sources": {"ssv2": {"licence": "CC BY 4.0", "notes": "of 2017"}}})
    assert ask("patch", "settings", {"publication": {"title": "Set"}}).status_code == 200
    terms = ask("get", "settings/sources").json()["sources"]["ssv2"]
    assert (terms["licence"], terms["notes"]) == ("CC BY 4.0", "of 2017")
    assert ask("patch", "settings/sources", {"sources": {"other": {}}}).status_code == 400


def test_a_vote_rule_is_changed_by_its_form(ask, project):
    subtest = make_subtest(project)
    answer = ask("patch", f"subtests/{subtest.pk}", {"votes_wanted": 5})
    assert (answer.status_code, answer.json()["votes_wanted"], answer.json()["votes_needed"]) == (200, 5, 2)
    wrong = ask("patch", f"subtests/{subtest.pk}", {"votes_needed": 9})
    assert (wrong.status_code, wrong.json()["errors"][0]["where"]) == (422, "votes_needed")


def test_a_run_is_stopped_and_retried_as_a_job(ask, owner, project):
    make_caption(make_video(project), "A man opens a door.")
    run = start_run(owner, project, FoilRequest(subtest=make_subtest(project), method="colour_swap"))
    path = f"jobs/{run.job_id}"
    assert ask("get", path).json()["dotted"] == "generation.run"
    assert ask("post", f"{path}/stop").json()["state"] == JobState.CANCELLED
    assert ask("post", f"{path}/stop").status_code == 400
    retried = ask("post", f"{path}/retry", {}).json()
    assert (retried["state"], retried["id"] != str(run.job_id)) == (JobState.WAITING, True)
    assert [row["id"] for row in ask("get", "jobs?order=created_at").json()["items"]] == [
        str(pk) for pk in Job.objects.order_by("created_at").values_list("pk", flat=True)
    ]
    assert ask("get", "jobs/nothing").status_code == 404
    assert ask("get", "jobs?state=open").status_code == 422


def test_methods_have_the_schema_of_their_parameters(owner):
    headers = {"Authorization": f"Bearer {make_token(owner, name='methods').secret}"}
    entry = Client().get("/api/v1/methods/methods/colour_swap", headers=headers).json()
    schema = entry["params"]
    assert schema["type"] == "object"
    assert all({"default", "description"} <= set(param) for param in schema["properties"].values())
    assert len(Client().get("/api/v1/methods", headers=headers).json()) > 100


def test_a_run_is_previewed_without_rows(ask, project):
    make_caption(make_video(project), "A man opens a red door.")
    subtest = make_subtest(project)
    answer = ask("post", "runs/preview", {"subtest": subtest.pk, "method": "colour_swap"})
    assert (answer.status_code, answer.json()["n_captions"]) == (200, 1)
    assert not project.generation_runs.exists()
    assert ask("post", "runs/preview", {"subtest": subtest.pk, "method": "x"}).status_code == 400


def test_items_have_the_filters_of_their_page(ask, project):
    doubted = make_caption(make_video(project), "a dog barks.", flagged_false=True)
    subtest = make_subtest(project)
    item = make_item(subtest, doubted, ("a dog sleeps.",))
    make_item(subtest)

    def keys(query: str) -> list[str]:
        return [row["key"] for row in ask("get", f"items?{query}").json()["items"]]

    assert keys("doubt=true") == [item.key]
    assert len(keys("doubt=false&q=%20")) == 2
    assert keys("comments=true") == []
    for query in ("run=7", "ladder=7", "method=nothing", "shortcut=objects"):
        assert ask("get", f"items?{query}").status_code == 422, query


def test_the_board_and_a_comparison_of_two_runs(tmp_path, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    ranked = make_project(slug="ranked")
    release = make_release(ranked)
    scored = partial(score, release, tmp_path)
    best, worst = scored("best", lambda k: True), scored("worst", lambda k: False)
    ask = asking(make_member(ranked, Role.RESEARCHER), ranked)
    found = ask("get", f"releases/{release.pk}/board").json()
    assert [row["model"] for row in found["models"]] == ["best", "worst"]
    assert found["column"] == board(release).column
    both = ask("get", f"releases/{release.pk}/comparison?a={best.pk}&b={worst.pk}").json()
    assert both["outcomes"]["only_a"]
    assert not both["outcomes"]["only_b"]
    right = [len(ask("get", f"items?run={run.pk}&answer=right").json()["items"]) for run in (best, worst)]
    assert (right[0] > 0, right[1]) == (True, 0)
    assert ask("get", f"releases/{release.pk}/board?column=X").status_code == 400
    assert ask("get", f"releases/{release.pk}/board?colum=T").status_code == 422


def test_a_narrowed_token_reads_nothing_about_the_account(owner, project):
    secret = make_token(owner, name="narrow", scope="manage", project=project).secret
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    for path in ("data", "tokens", "notifications", "account"):
        assert client.get(f"/api/v1/me/{path}").status_code == 403, path


def test_every_operation_has_one_name_and_says_what_it_does():
    operations = [operation for path in api.get_openapi_schema()["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert all(operation["description"].rstrip().endswith((".", "`", ")")) for operation in operations)


def test_facts_of_a_publication_need_no_terms_of_its_sources(ask, project):
    make_video(project, source_dataset="Charades")
    answer = ask("patch", "settings", {"publication": {"title": "Doors"}})
    assert (answer.status_code, answer.json()["publication"]["title"]) == (200, "Doors")
    answer = ask("patch", "settings/sources", {"sources": {"Charades": {"licence": "MIT"}}})
    assert (answer.status_code, answer.json()["sources"]["Charades"]["licence"]) == (200, "MIT")


def test_a_refusal_shows_no_path_of_a_model(ask, project, settings):
    path = f"{settings.MODEL_ROOT}/projects/{project.pk + 1}/taught/a"
    answer = ask("post", "runs", {"subtest": make_subtest(project).pk, "method": path})
    assert answer.status_code >= 400
    assert str(settings.MODEL_ROOT) not in answer.content.decode()
