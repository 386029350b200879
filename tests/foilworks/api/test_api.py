"""What all resources share: pages, filters, ETags, keys, limits, errors, and what a judgement costs."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Lock
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone
from redis import Redis

from annotation.actions.quality.validators import pause_validator
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Lease, Slot, Stage, Task, Vote
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import ApiToken, AuditEvent, IdempotentAnswer, Membership, Role, User
from foilworks.site.api import limits
from tests.annotation.crowd import open_policy, right_answer, stock
from tests.clocks import stand_still, within_a_minute
from tests.factories import make_item, make_member, make_project, make_subtest, make_user

pytestmark = pytest.mark.django_db

# With the savepoints, and on PostgreSQL a lock each. Of the claim the API adds three (token, project, role), of the
# submit one (token).
QUERIES_PER_CLAIM, QUERIES_PER_SUBMIT = 20, 17


@pytest.fixture
def ask(project, settings):
    """`ask(method, path, body, **headers)` as the project's researcher."""
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    return asking(make_member(project, Role.RESEARCHER))


def asking(person: User, scope: str = "manage") -> Any:
    bearer, client = make_token(person, name="test", scope=scope).secret, Client()

    def ask(method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return getattr(client, method)(path, headers={"Authorization": f"Bearer {bearer}", **named}, **sent)

    return ask


def test_pages_hold_every_row_once_in_every_order(ask, project):
    subtest = make_subtest(project)
    keys = [f"item {number % 3}-{number}" for number in range(7)]
    for key in keys:
        make_item(subtest, key=key)
    for order, wanted in (("id", keys), ("-id", keys[::-1]), ("key", sorted(keys)), ("-created_at", None)):
        found, cursor = [], ""
        while cursor is not None:
            answer = ask("get", f"/api/v1/projects/{project.slug}/items?limit=3&order={order}&cursor={cursor}").json()
            found += [item["key"] for item in answer["items"]]
            cursor = answer["next"]
        assert sorted(found) == sorted(keys)
        assert wanted is None or found == wanted


def test_only_listed_filters_orders_and_cursors_are_accepted(ask, project):
    path = f"/api/v1/projects/{project.slug}/items"
    for query in (
        "subtest__project__memberships__person__password__startswith=a",
        "order=video__sha256",
        "state=open",
        "q=%00",
        "limit=0",
        "limit=100000",
        "cursor=bm8",
        "stat=valid",
        f"subtest={2**70}",
    ):
        assert ask("get", f"{path}?{query}").status_code == 422, query
    for number in range(2):
        make_item(make_subtest(project), key=str(number))
    of_0_3 = signing.dumps(["key", "", 0], salt="foilworks.api.cursor")
    assert ask("get", f"{path}?limit=1&order=key&cursor={of_0_3}").status_code == 200
    cursor = ask("get", f"{path}?limit=1").json()["next"]
    assert ask("get", f"{path}?limit=1&order=key&cursor={cursor}").status_code == 422


def test_the_api_rejects_a_name_of_a_state_from_before_0_3_0(ask, project):
    item = make_item(make_subtest(project), state="disputed")
    path = f"/api/v1/projects/{project.slug}/items?state="
    assert [row["id"] for row in ask("get", f"{path}disputed").json()["items"]] == [item.pk]
    assert ask("get", f"{path}split").status_code == 422


def test_unchanged_content_is_not_sent_again(ask, project):
    path = f"/api/v1/projects/{project.slug}/items"
    first = ask("get", path)
    again = ask("get", path, If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    make_item(make_subtest(project))
    assert ask("get", path, If_None_Match=first.headers["ETag"]).status_code == 200


def test_a_page_of_an_unchanged_list_is_304_after_an_hour(ask, project, monkeypatch):
    for _number in range(3):
        make_item(make_subtest(project))
    path = f"/api/v1/projects/{project.slug}/items?limit=2"
    first = ask("get", path)
    assert first.json()["next"]
    seconds, moment = time.time() + 3600, timezone.now() + timedelta(hours=1)
    monkeypatch.setattr(time, "time", lambda: seconds)
    stand_still(monkeypatch, moment)
    assert ask("get", path, If_None_Match=first.headers["ETag"]).status_code == 304


def test_addresses_without_a_version_are_an_alias(ask, project):
    path = f"projects/{project.slug}/subtests"
    new, old = ask("get", f"/api/v1/{path}"), ask("get", f"/api/{path}")
    assert (old.json(), old.headers["ETag"]) == (new.json(), new.headers["ETag"])
    assert old.headers["Deprecation"] == "@1796083200"
    assert old.headers["Sunset"] == "Wed, 01 Dec 2027 00:00:00 GMT"
    assert old.headers["Link"] == f'</api/v1/{path}>; rel="successor-version"'
    assert "Sunset" not in new.headers
    refused = ask("post", f"/api/{path}", {"name": ""}).json()
    assert (refused["problem"], refused["fields"][0]["where"]) == (refused["detail"], refused["errors"][0]["where"])


def test_a_method_that_an_address_lacks_is_405_in_the_form_of_errors(ask):
    answer = ask("delete", "/api/v1/me")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")
    assert answer.json()["detail"] == "DELETE is not possible here. Use GET."


def test_a_repeated_key_returns_the_first_response_and_does_nothing(ask, project):
    path, body = f"/api/v1/projects/{project.slug}/subtests", {"name": "direction"}
    first = ask("post", path, body, Idempotency_Key="k1")
    again = ask("post", path, body, Idempotency_Key="k1")
    assert (first.status_code, first.json()) == (201, again.json())
    assert again.status_code == 201
    assert again.headers["Idempotency-Replayed"] == "true"
    assert project.subtests.count() == 1
    assert AuditEvent.objects.filter(action="corpus.create_subtest").count() == 1
    assert ask("post", path, {"name": "other"}, Idempotency_Key="k1").status_code == 409
    # Without a key the same write is tried, and refused.
    assert ask("post", path, body).status_code == 422


def test_a_refused_write_leaves_its_key_free(ask, project):
    path = f"/api/v1/projects/{project.slug}/subtests"
    assert ask("post", path, {"name": ""}, Idempotency_Key="k").status_code == 422
    assert not IdempotentAnswer.objects.exists()
    assert ask("post", path, {"name": "direction"}, Idempotency_Key="k").status_code == 201


def test_keys_of_different_people_are_independent(ask, project):
    path, body = f"/api/v1/projects/{project.slug}/subtests", {"name": "direction"}
    assert ask("post", path, body, Idempotency_Key="k").status_code == 201
    other = asking(make_member(project, Role.RESEARCHER))
    assert other("post", path, {"name": "other"}, Idempotency_Key="k").status_code == 201


def test_secrets_shown_once_are_not_stored(ask, project):
    path = f"/api/v1/projects/{project.slug}/members"
    body = {"username": "newcomer", "roles": ["validator"], "new_account": True, "with_token": True}
    first = ask("post", path, body, Idempotency_Key="k").json()
    assert first["password"]
    assert first["token"].startswith("fw_")
    again = ask("post", path, body, Idempotency_Key="k").json()
    assert (again["id"], again["password"], again["token"]) == (first["id"], None, None)
    kept = IdempotentAnswer.objects.get().body
    assert first["token"] not in kept
    assert first["password"] not in kept
    assert not ApiToken.objects.filter(digest__contains=first["token"]).exists()


def test_the_token_of_a_new_account_ends_with_its_password(ask, project, client):
    body = {"username": "newcomer", "roles": ["validator"], "new_account": True, "with_token": True}
    told = ask("post", f"/api/v1/projects/{project.slug}/members", body).json()
    person = User.objects.get(username="newcomer")
    client.force_login(person)
    new = "another correct horse"
    client.post("/password/", {"old_password": told["password"], "new_password1": new, "new_password2": new})
    answer = client.get("/api/v1/me", headers={"Authorization": f"Bearer {told['token']}"})
    assert answer.status_code == 401


def test_a_replayed_submit_gives_the_first_answer(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    subtest = make_subtest(project)
    make_item(subtest)
    make_item(subtest)
    ask = asking(make_member(project, Role.VALIDATOR), "work")
    work = ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim").json()
    submit = f"/api/v1/work/{work['token']}/submit"
    first = ask("post", submit, {"answer": "first"}, Idempotency_Key="k")
    again = ask("post", submit, {"answer": "first"}, Idempotency_Key="k")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Vote.objects.count() == 1
    other = ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim").json()
    assert other["task"] != work["task"]
    # A key that came with other work is no second vote, and says so.
    assert ask("post", f"/api/v1/work/{other['token']}/submit", {"answer": 1}, Idempotency_Key="k").status_code == 409
    assert ask("post", f"/api/v1/work/{other['token']}/submit", {"answer": 9}).status_code == 400


def test_a_submit_returns_the_next_task_on_request(project, settings, django_assert_max_num_queries):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    subtest = make_subtest(project)
    for _number in range(4):
        make_item(subtest)
    ask = asking(make_member(project, Role.VALIDATOR), "work")
    work = ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim").json()
    seen = [work["task"]]
    while work:
        submit, key = f"/api/v1/work/{work['token']}/submit?next=true", work["token"]
        with django_assert_max_num_queries(QUERIES_PER_CLAIM + QUERIES_PER_SUBMIT):
            first = ask("post", submit, {"answer": "first"}, Idempotency_Key=key)
        again = ask("post", submit, {"answer": "first"}, Idempotency_Key=key)
        assert (first.status_code, again.status_code, first.json()["id"]) == (201, 201, again.json()["id"])
        work, resumed = first.json()["next"], again.json()["next"]
        # Asked twice, it is the piece in hand: nobody holds two.
        assert (work and work["token"]) == (resumed and resumed["token"])
        seen += [work["task"]] if work else []
    assert (len(seen), len(set(seen)), Vote.objects.count()) == (4, 4, 4)


def test_an_answer_that_pauses_its_person_is_reported_as_stored(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    subtest = make_subtest(project)
    make_item(subtest), make_item(subtest)
    person = make_member(project, Role.VALIDATOR)
    ask = asking(person, "work")
    work = ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim").json()
    pause_validator(make_member(project, Role.RESEARCHER), project, person.pk)
    answer = ask("post", f"/api/v1/work/{work['token']}/submit?next=true", {"answer": "first"})
    assert (answer.status_code, answer.json()["next"], Vote.objects.count()) == (201, None, 1)


def test_a_judgement_costs_few_queries(project, settings, django_assert_max_num_queries):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    subtest = make_subtest(project)
    for _number in range(3):
        make_item(subtest)
    ask = asking(make_member(project, Role.VALIDATOR), "work")
    queue = f"/api/v1/projects/{project.slug}/queues/validation/claim"
    work = ask("post", queue).json()
    ask("post", f"/api/v1/work/{work['token']}/submit", {"answer": "first"})
    with django_assert_max_num_queries(QUERIES_PER_CLAIM):
        work = ask("post", f"{queue}?after={work['upcoming']}").json()
    with django_assert_max_num_queries(QUERIES_PER_SUBMIT):
        ask("post", f"/api/v1/work/{work['token']}/submit", {"answer": "first"})
    assert Vote.objects.count() == 2


def test_the_cost_of_lists_does_not_depend_on_their_length(ask, project, django_assert_max_num_queries):
    subtest = make_subtest(project)
    for _number in range(20):
        make_item(subtest)
        make_member(project, Role.VALIDATOR)
    for path in ("items", "members", "subtests", "votes", "runs", "releases", "imports", "scoring"):
        with django_assert_max_num_queries(7):
            assert ask("get", f"/api/v1/projects/{project.slug}/{path}").status_code == 200


def test_a_token_over_its_rate_limit_waits(project, settings, monkeypatch):
    settings.API_RATE_LIMIT_PER_MINUTE = 3
    within_a_minute(monkeypatch)
    ask, other = (asking(make_member(project, Role.ANNOTATOR), "read") for _number in range(2))
    statuses = [ask("get", "/api/v1/me").status_code for _number in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    limited = ask("get", "/api/v1/me")
    assert limited.status_code == 429
    assert limited.headers["Retry-After"] == "51"
    assert limited.headers["RateLimit"] == '"minute";r=0;t=51'
    assert limited.headers["RateLimit-Policy"] == '"minute";q=3;w=60'
    assert other("get", "/api/v1/me").status_code == 200


def test_first_requests_at_once_share_one_client_of_redis(monkeypatch):
    """A second client would be dropped, and close the pool that another request reads from."""
    made, lock = [], Lock()

    class SlowRedis(Redis):
        def __init__(self) -> None:
            time.sleep(0.02)
            super().__init__(unix_socket_path="/nowhere/redis.sock")
            with lock:
                made.append(self)

    monkeypatch.setattr(limits, "get_connection", lambda _name: SlowRedis())
    monkeypatch.setattr(limits, "_count_in_database", lambda _token, _window: 1)
    limits._redis.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        quotas = list(pool.map(limits.count_request, range(8)))
    limits._redis.cache_clear()
    assert ({quota.remaining for quota in quotas}, len(made)) == ({599}, 1)


def test_errors_have_one_shape(ask, project, client):
    for answer in (
        client.get("/api/v1/nothing"),
        client.post("/api/v1/work/a b/submit"),
        client.get("/api/v1/me"),
        ask("get", "/api/v1/projects/nobodys"),
        ask("get", f"/api/v1/projects/{project.slug}/items/{10**30}"),
        ask("post", "/api/v1/projects", {"name": "\x00"}),
        ask("post", "/api/v1/projects", ["no", "object"]),
        ask("post", "/api/v1/me", {}),
    ):
        assert answer.status_code >= 400
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert set(answer.json()) == {"type", "title", "status", "detail", "errors"}
        assert answer.json()["status"] == answer.status_code
    broken = client.post(
        "/api/v1/projects", "{", content_type="application/json", headers={"Authorization": "Bearer fw_x"}
    )
    assert broken.status_code == 401


def test_nobody_picks_a_slot(project, settings):
    """`upcoming` names the piece before, with which the server noted its own choice for one person."""
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    subtest = make_subtest(project)
    for _number in range(4):
        make_item(subtest)
    queue = f"/api/v1/projects/{project.slug}/queues/validation/claim"
    first, *others = (asking(make_member(project, Role.VALIDATOR), "work") for _number in range(3))
    mine = first("post", queue).json()
    promised = Lease.objects.get(token=mine["token"]).upcoming_slot
    last = Slot.objects.order_by("-priority", "-pk")[0].pk
    # They get what they would have got: a place beside the first, whose task is begun.
    for other, after in zip(others, (last, mine["upcoming"]), strict=True):
        assert other("post", f"{queue}?after={after}").json()["task"] == mine["task"]
    first("post", f"/api/v1/work/{mine['token']}/submit", {"answer": 1})
    following = first("post", f"{queue}?after={mine['upcoming']}").json()
    assert Slot.objects.get(token=following["token"]).pk == promised


def test_no_number_of_a_task_reveals_gold(project, settings, every_second_gold):
    """Tasks and places of gold are made when they are first served, after those of the work around it."""
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    stock(project, make_subtest(project), items=4, gold=4)
    open_policy(project, gold_rate=0.5, fast_share=0)
    make_tasks(project)
    ask = asking(make_member(project, Role.VALIDATOR), "work")
    pieces, after = [], ""
    while (claimed := ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim?after={after}")).content:
        work = claimed.json()
        lease = Lease.objects.select_related("slot").get(token=work["token"])
        pieces.append((lease.slot.stage, work))
        right = right_answer(lease.slot_id, lease.caption_first)
        assert ask("post", f"/api/v1/work/{work['token']}/submit", {"answer": right}).status_code == 201
        after = work["upcoming"] or ""
    assert {stage for stage, _work in pieces} == {Stage.GOLD, Stage.VALIDATION}
    assert any(work["upcoming"] for _stage, work in pieces)
    tasks, numbers = set(Task.objects.values_list("pk", flat=True)), set()
    for _stage, work in pieces:
        # What it says of the next piece is the name of this one.
        assert work.pop("upcoming") in (None, work["token"])
        numbers |= {name for name, value in work.items() if isinstance(value, int)}
        assert work["task"] not in tasks
    assert numbers == {"task", "resumed"}
    assert len({work["task"] for _stage, work in pieces}) == len(pieces)


def test_a_vote_has_the_task_number_of_its_claim(ask, project):
    make_item(make_subtest(project))
    judge = asking(make_member(project, Role.VALIDATOR), "work")
    work = judge("post", f"/api/v1/projects/{project.slug}/queues/validation/claim").json()
    judge("post", f"/api/v1/work/{work['token']}/submit", {"answer": 1})
    listed = ask("get", f"/api/v1/projects/{project.slug}/votes").json()["items"]
    assert [vote["task"] for vote in listed] == [work["task"]]


def test_annotators_never_see_names_of_others(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    owner = make_member(project, Role.RESEARCHER, name="secret-owner")
    make_item(make_subtest(project))
    ask = asking(make_member(project, Role.VALIDATOR), "work")
    work = ask("post", f"/api/v1/projects/{project.slug}/queues/validation/claim")
    assert owner.username not in work.content.decode()
    assert not {"caption_first", "caption", "foil", "item"} & set(work.json())


def test_a_narrowed_token_makes_no_project_and_sees_one(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    person = make_member(project, Role.RESEARCHER, Role.ANNOTATOR)
    Membership.objects.create(project=make_project(), person=person, role=Role.RESEARCHER)
    secret = make_token(person, name="narrow", scope="manage", project=project, role="annotator").secret
    headers = {"Authorization": f"Bearer {secret}"}
    client = Client(headers=headers)
    assert [row["project"] for row in client.get("/api/v1/me").json()["projects"]] == [project.slug]
    assert client.get("/api/v1/me").json()["projects"][0]["roles"] == ["annotator"]
    assert client.post("/api/v1/projects", {"name": "x"}, content_type="application/json").status_code == 403


def test_the_page_of_the_document_runs_no_script(client):
    page = client.get("/api/docs/")
    words = page.content.decode()
    assert "/api/v1/projects/{slug}/items" in words
    assert client.get("/api/v1/openapi.json").json()["openapi"].startswith("3.")
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]


def test_the_client_imports_nothing_of_the_server():
    program = "import sys, foilworks.client; print({'django', 'ninja', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_refused_requests_are_in_the_audit_trail(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    annotator, stranger = make_member(project, Role.ANNOTATOR), make_user()
    assert asking(annotator)("get", f"/api/v1/projects/{project.slug}/items").status_code == 403
    assert asking(stranger)("get", f"/api/v1/projects/{project.slug}").status_code == 404
    rows = AuditEvent.objects.filter(action="projects.refused", project=project).order_by("pk")
    assert [(row.actor, row.details["page"]) for row in rows] == [
        (annotator, "api:list_items"),
        (stranger, "api:read_project"),
    ]


def test_a_refused_write_with_a_key_is_audited_once_and_frees_its_key(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    annotator, stranger = make_member(project, Role.ANNOTATOR), make_user()
    path, body = f"/api/v1/projects/{project.slug}/subtests", {"name": "direction"}
    assert asking(annotator)("post", path, body, Idempotency_Key="k").status_code == 403
    assert asking(stranger)("post", path, body, Idempotency_Key="k").status_code == 404
    rows = AuditEvent.objects.filter(action="projects.refused", project=project).order_by("pk")
    assert [(row.actor, row.details["method"]) for row in rows] == [(annotator, "POST"), (stranger, "POST")]
    assert not IdempotentAnswer.objects.exists()
    Membership.objects.create(project=project, person=annotator, role=Role.RESEARCHER)
    assert asking(annotator)("post", path, body, Idempotency_Key="k").status_code == 201


def test_a_refused_write_with_a_key_counts(project, settings, monkeypatch):
    settings.API_RATE_LIMIT_PER_MINUTE = 3
    within_a_minute(monkeypatch)
    ask, path = asking(make_member(project, Role.ANNOTATOR)), f"/api/v1/projects/{project.slug}/subtests"
    statuses = [
        ask("post", path, {"name": "direction"}, Idempotency_Key=f"k{number}").status_code for number in range(5)
    ]
    assert statuses == [403, 403, 403, 429, 429]


def test_another_token_of_the_person_gets_no_stored_response(project, settings):
    settings.API_RATE_LIMIT_PER_MINUTE = 0
    person = make_member(project, Role.RESEARCHER)
    path, body = f"/api/v1/projects/{project.slug}/subtests", {"name": "direction"}
    assert asking(person)("post", path, body, Idempotency_Key="k").status_code == 201
    assert asking(person, "read")("post", path, body, Idempotency_Key="k").status_code == 409
