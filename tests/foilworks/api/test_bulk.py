"""Many reviews and many members in one request: the same rows as one by one, in a few statements each."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Involvement, Lease, PayEntry, Review, Slot, Stage, Task
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import AuditEvent, IdempotentAnswer, Membership, Role, User
from foilworks.site.invariants.registry import violations
from generation.models import Candidate
from tests.factories import make_candidate, make_group, make_member, make_run, make_subtest

pytestmark = pytest.mark.django_db
# Of 100 reviews that become items, in all.
QUERIES_PER_HUNDRED = 130


@pytest.fixture
def candidates(project) -> list[Candidate]:
    return waiting(project, 100)


def waiting(project: Any, count: int) -> list[Candidate]:
    """Candidates in review, each of a group of its own."""
    run = make_run(make_subtest(project))
    found = [make_candidate(make_group(run), state=CandidateState.IN_REVIEW) for _number in range(count)]
    make_tasks(project)
    return found


def post(person: User, path: str, body: Any, scope: str = "work", **headers: str) -> Any:
    secret = make_token(person, name="bulk", scope=scope).secret
    named = {"Authorization": f"Bearer {secret}", **headers}
    return Client().post(path, json.dumps(body), content_type="application/json", headers=named)


def accepting(found: list[Candidate]) -> dict[str, Any]:
    return {"reviews": [{"candidate": candidate.pk, "decision": "accept"} for candidate in found]}


def test_many_reviews_take_few_statements_per_item(project, candidates):
    person = make_member(project, Role.REVIEWER)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = post(person, f"/api/v1/projects/{project.slug}/reviews", accepting(candidates))
    assert (answer.status_code, len(answer.json()["done"]), answer.json()["refused"]) == (200, 100, [])
    assert len(queries) <= QUERIES_PER_HUNDRED
    assert Item.objects.filter(project=project).count() == 100


def test_many_reviews_leave_the_rows_of_single_ones(project):
    """Everything that a claim and a submit store of a candidate, but the keys."""
    one, many = waiting(project, 1), waiting(project, 2)
    single, bulk = make_member(project, Role.REVIEWER), make_member(project, Role.REVIEWER)
    work = post(single, f"/api/v1/projects/{project.slug}/queues/review/claim", {}).json()
    assert post(single, f"/api/v1/work/{work['token']}/submit", {"decision": "accept"}).status_code == 201
    reviewed = Review.objects.get(person=single).candidate
    left = [candidate for candidate in (*one, *many) if candidate.pk != reviewed.pk]
    assert post(bulk, f"/api/v1/projects/{project.slug}/reviews", accepting(left)).status_code == 200
    for model, person in ((Review, "person"), (Lease, "person"), (PayEntry, "person"), (Involvement, "person")):
        counts = [model.objects.filter(**{person: who}).count() for who in (single, bulk)]
        assert counts == [1, 2], model
    assert set(Task.objects.filter(stage=Stage.REVIEW).values_list("state", flat=True)) == {"done"}
    assert set(Slot.objects.filter(stage=Stage.REVIEW).values_list("state", "token")) == {("done", "")}
    actions = [
        sorted(
            AuditEvent.objects.filter(actor=who)
            .exclude(action__startswith="projects.")
            .values_list("action", flat=True)
        )
        for who in (single, bulk)
    ]
    assert actions[1] == sorted(actions[0] * 2)
    items = Item.objects.filter(project=project).values("state", "proficiency_item", "decided_at", "facts")
    assert len(items) == 3
    assert len({str(item) for item in items}) == 1
    assert [row for row in violations() if not row["invariant"].startswith("media.")] == []


def test_what_a_person_may_not_review_is_refused_and_the_rest_is_stored(project):
    found = waiting(project, 3)
    person = make_member(project, Role.REVIEWER)
    Candidate.objects.filter(pk=found[0].pk).update(author=person)
    answer = post(person, f"/api/v1/projects/{project.slug}/reviews", accepting(found)).json()
    assert answer["refused"] == [found[0].pk]
    assert {int(pk) for pk in answer["done"]} == {found[1].pk, found[2].pk}
    assert post(person, f"/api/v1/projects/{project.slug}/reviews", accepting(found)).json()["done"] == {}


def test_a_drop_needs_a_reason_and_asks_for_more_work(project):
    found = waiting(project, 2)
    person, path = make_member(project, Role.REVIEWER), f"/api/v1/projects/{project.slug}/reviews"
    drop = {"candidate": found[0].pk, "decision": "drop"}
    assert post(person, path, {"reviews": [drop]}).status_code == 400
    answer = post(person, path, {"reviews": [{**drop, "reasons": ["still_true"]}]})
    found[0].refresh_from_db()
    assert (answer.status_code, found[0].state) == (200, CandidateState.DROPPED)
    assert not Item.objects.filter(project=project).exists()


def test_many_members_are_added_or_none(project):
    owner = make_member(project, Role.RESEARCHER)
    path = f"/api/v1/projects/{project.slug}/members/bulk"
    people = [{"username": f"bot-{number}", "roles": ["validator"], "new_account": True} for number in range(3)]
    answer = post(owner, path, {"members": people}, "manage", **{"Idempotency-Key": "k"})
    assert answer.status_code == 201
    passwords = {member["password"] for member in answer.json()}
    assert len(passwords) == 3
    assert not any(password in IdempotentAnswer.objects.get().body for password in passwords)
    again = post(
        owner,
        path,
        {"members": [{"username": "bot-9", "roles": ["validator"], "new_account": True}, *people]},
        "manage",
    )
    assert again.status_code == 400
    assert not User.objects.filter(username="bot-9").exists()
    assert Membership.objects.filter(project=project, role="validator").count() == 3
