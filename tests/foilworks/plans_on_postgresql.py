"""Run by test_scale.py on a PostgreSQL with many rows: which indexes the queries of a judgement go by.

What is asked is what the actions and pages really ask: they run, and the plan of each of their statements is read.
"""

import json
import re
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions.claims.claim import claim, first_place
from annotation.actions.submissions.judgements import judge_and_claim, submit_vote
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Lease, Slot, SlotState, Stage, Task, Vote
from annotation.queries import queues
from annotation.queries.cards import claim_card
from annotation.queries.eligibility import leakage_of, places_ahead
from foilworks.core.corpus.models import Caption
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.listing import listing
from foilworks.core.projects.models import AuditEvent, Membership, Project, Role, User
from generation.models import Candidate, CandidateGroup, GenerationRun
from tests.annotation.world import sending
from tests.many_rows import analyse, multiply, validation_project

ITEMS = 8_000
# A table of fewer rows is read whole in no time, and the planner does so.
MANY = 2_000
VALIDATORS = 45
EXPLAINED = re.compile(r"\s*(SELECT|UPDATE|DELETE|INSERT)\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker) -> Iterator[Project]:
    with django_db_blocker.unblock():
        yield _filled()


@pytest.fixture(autouse=True)
def _unblocked(world, db) -> None:
    """Every test may ask the tables that are filled; what it writes is rolled back."""


def _filled() -> Project:
    """Judgements of 20,000 items under way in the one half and done in the other, as many groups to edit and review."""
    project = validation_project(3 * ITEMS)
    people = [User.objects.create(username=f"person{k}") for k in range(VALIDATORS + 3)]
    roles = [*[Role.VALIDATOR] * VALIDATORS, Role.ANNOTATOR, Role.REVIEWER, Role.RESEARCHER]
    Membership.objects.bulk_create(
        Membership(project=project, person=person, role=role) for person, role in zip(people, roles, strict=True)
    )
    judge = f"{people[0].pk} + (n - 1) % {VALIDATORS}"
    filled = f"state = 'done', person_id = {judge.replace('n', 'id')}"
    vote = Vote(choice="caption", caption_first=True, stage=Stage.VALIDATION)
    judged = 3 * (ITEMS // 2)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE annotation_slot SET {filled} WHERE item_id <= {ITEMS // 2}")
    about = {"item": "(n - 1) / 3 + 1", "foil": "(n - 1) / 3 + 1", "slot": "n", "person": judge}
    multiply(vote, 1, judged, **about, idempotency_key="'k' || n")
    lease = Lease(caption_first=True, ending="submitted", leased_at=project.created_at)
    multiply(lease, 1, judged, slot="n", task=about["item"], person=about["person"], token="'t' || n")
    trail = AuditEvent(project=project, action="submit_vote", target_type="annotation.vote")
    multiply(trail, 1, 2 * judged, target_id="(n % 9000)::text")
    _edits(project)
    analyse()
    return project


def _edits(project: Project) -> None:
    """A group for each caption: the first half waits for editing, the second for a review."""
    run = GenerationRun.objects.create(
        project=project, subtest=project.subtests.get(), method="fake", method_version="1"
    )
    multiply(CandidateGroup(run=run, tasked=True), 1, ITEMS, caption="n")
    candidate = Candidate(
        method="fake",
        method_version="1",
        span_start=0,
        span_end=6,
        source="person",
        target="dog",
        edits=[[0, 6, "dog"]],
    )
    state = f"CASE WHEN n <= {ITEMS // 2} THEN 'queued' ELSE 'in_review' END"
    text = "'dog ' || n || ' folds a shirt.'"
    multiply(candidate, 1, ITEMS, group="n", text=text, text_sha256="lpad(n::text, 64, '0')", state=state)
    half, start = ITEMS // 2, ITEMS + 1
    edit, review = Task(project=project, stage=Stage.EDIT), Task(project=project, stage=Stage.REVIEW)
    multiply(edit, start, start + half - 1, video=f"n - {ITEMS}", group=f"n - {ITEMS}")
    multiply(review, start + half, start + 2 * half - 1, video=f"n - {ITEMS}", candidate=f"n - {ITEMS}")
    for stage, low in ((Stage.EDIT, 1), (Stage.REVIEW, half + 1)):
        task, video = f"n - {2 * ITEMS}", f"n - {3 * ITEMS}"
        row = Slot(project=project, stage=stage)
        multiply(row, 3 * ITEMS + low, 3 * ITEMS + low + half - 1, task=task, video=video, priority="2 + n / 1000000.0")


def person(role: str) -> User:
    return User.objects.filter(memberships__role=role).order_by("pk").last()


def read_whole(queries: list[dict[str, str]]) -> list[str]:
    """Big tables that a statement reads from end to end, with the statement."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")
        size = dict(cursor.fetchall())
        for query in queries:
            if EXPLAINED.match(query["sql"]):
                cursor.execute("EXPLAIN (FORMAT JSON) " + query["sql"])
                plan = cursor.fetchone()[0]
                plan = json.loads(plan) if isinstance(plan, str) else plan
                scans = [node["Relation Name"] for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Seq Scan"]
                found += [f"{name}: {query['sql'][:1500]}" for name in scans if size[name] >= MANY]
                # The key is the last column of this index: all free slots of the stage would be read for one of them.
                keyed = [node for node in nodes(plan[0]["Plan"]) if node.get("Index Name") == "slot_free_first"]
                found += [node["Index Cond"] for node in keyed if "(id = " in node.get("Index Cond", "")]
    return found


def nodes(plan: dict, bounded: bool = False) -> Iterator[dict]:
    """The steps of a plan, but for those that end with the first rows, however many there are."""
    bounded = plan["Node Type"] == "Limit" or (bounded and plan["Node Type"] in {"Nested Loop", "Seq Scan"})
    if not bounded or plan["Node Type"] != "Seq Scan":
        yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below, bounded)


def tables_read_whole(plan: dict) -> Iterator[str]:
    """All tables that a plan reads from end to end, also those that a loop would read only once for its first row."""
    if plan["Node Type"] == "Seq Scan":
        yield plan["Relation Name"]
    for below in plan.get("Plans", ()):
        yield from tables_read_whole(below)


def generic_plan(sql: str, values: list[object]) -> dict:
    """The plan of a statement that is prepared for anybody, as the server plans those of the judgement path."""
    numbers = iter(range(1, len(values) + 1))
    prepared = re.sub("%s", lambda _place: f"${next(numbers)}", sql)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE asked AS {prepared}")
        given = ", ".join(["%s"] * len(values))
        cursor.execute(f"EXPLAIN (FORMAT JSON) EXECUTE asked ({given})", values)
        plan = cursor.fetchone()[0]
        cursor.execute("DEALLOCATE asked")
    return (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def asked_by(ask: object) -> list[dict[str, str]]:
    ask()  # What a process asks once is asked before.
    with CaptureQueriesContext(connection) as captured:
        ask()
    assert len(captured) > 2
    return captured.captured_queries


def test_the_tables_are_as_large_as_the_tests_need():
    assert Slot.objects.filter(state=SlotState.FREE).count() == 3 * ITEMS // 2 + ITEMS


def test_claim_card_and_submit_of_a_vote_use_indexes(world):
    who = person(Role.VALIDATOR)

    def cycle() -> None:
        held = claim(who, world, Stage.VALIDATION)
        claim_card(who, held)
        submit_vote(who, held.token, held.token, 1)
        claim(who, world, Stage.VALIDATION, preferred=held.upcoming_slot)

    assert read_whole(asked_by(cycle)) == []


def test_a_submit_with_the_next_claim_uses_indexes(world):
    who = person(Role.VALIDATOR)
    held = [claim(who, world, Stage.VALIDATION)]

    def cycle() -> None:
        held.append(judge_and_claim(sending(who, held[-1].token, held[-1].token), 1).claim)

    assert read_whole(asked_by(cycle)) == []


def test_claim_card_and_submit_of_an_edit_use_indexes(world):
    who, numbers = person(Role.ANNOTATOR), iter(range(10))

    def cycle() -> None:
        held = claim(who, world, Stage.EDIT)
        claim_card(who, held)
        submit_edit(who, held.token, f"e{next(numbers)}", ["a cat folds a shirt."], [None])

    assert read_whole(asked_by(cycle)) == []


def test_claim_card_and_submit_of_a_review_use_indexes(world):
    who, numbers = person(Role.REVIEWER), iter(range(10))

    def cycle() -> None:
        held = claim(who, world, Stage.REVIEW)
        claim_card(who, held)
        submit_review(who, held.token, f"r{next(numbers)}", ReviewAnswer("accept"))

    assert read_whole(asked_by(cycle)) == []


@pytest.mark.parametrize(
    ("role", "path"),
    [
        (Role.VALIDATOR, "work/"),
        (Role.VALIDATOR, "work/validation/"),
        (Role.ANNOTATOR, "work/edit/"),
        (Role.REVIEWER, "work/"),
        (Role.REVIEWER, "work/review/"),
        (Role.REVIEWER, "disputed/"),
        (Role.RESEARCHER, ""),
    ],
)
def test_lists_and_counts_of_pages_use_indexes(world, role, path, monkeypatch):
    # A thousand of these tables would be a large share of them, for which reading them whole is right.
    monkeypatch.setattr(queues, "COUNTED_TO", 50)
    client = Client()
    client.force_login(person(role))
    url = path if path.startswith("/") else f"/projects/{world.slug}/{path}"

    def look() -> None:
        assert client.get(url).status_code == 200, url

    assert read_whole(asked_by(look)) == []


@pytest.mark.parametrize("stage", [Stage.VALIDATION, Stage.REVIEW])
def test_the_count_of_open_tasks_uses_indexes_if_few_people_gave_all_votes(world, stage):
    """Then a plan for anybody expects a third of all votes to be theirs, and reads them all rather than an index."""
    first, asked = User.objects.filter(memberships__role=Role.VALIDATOR).order_by("pk").first(), []

    def noted(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_vote SET person_id = %s + (id - 1) %% 3", [first.pk])
        cursor.execute("ANALYZE annotation_vote")
    with connection.execute_wrapper(noted):
        places_ahead(first, world, stage, world.created_at, 50)
    ((sql, values),) = asked
    found = set(tables_read_whole(generic_plan(sql, values)))
    assert not found & {"annotation_vote", "corpus_item", "corpus_caption", "annotation_slot", "annotation_lease"}


@pytest.mark.parametrize("skipped", [False, True])
def test_the_first_slot_is_found_without_the_tables_of_its_card(world, skipped):
    """Joined to so many conditions, whole tables of videos and texts were read for each slot."""
    first = first_place(leakage_of(world), Stage.VALIDATION, skipped=skipped, patient=False)
    whose, asked = {"person": person(Role.VALIDATOR).pk, "project": world.pk, "now": world.created_at}, []

    def noted(execute, sql, params, many, context):
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(noted):
        first.first(**whose)
    ((sql, values),) = asked
    selected = sql[: sql.index(" FROM ")]
    assert {table for table in ("corpus_video", "corpus_caption", "corpus_foil") if table in selected} == set()
    assert not set(tables_read_whole(generic_plan(sql, values))) & {
        "annotation_vote",
        "annotation_lease",
        "corpus_item",
    }


ORDERED = {"Sort", "Incremental Sort"}


@pytest.mark.parametrize(
    "asked", [{}, {"sort": "oldest"}, {"sort": "key"}, {"sort": "video-down"}, {"state": "in_validation"}]
)
def test_pages_of_a_list_use_indexes_and_sort_nothing(world, asked, monkeypatch):
    # To count most rows of a table, reading it whole is right.
    monkeypatch.setattr(listing, "MAX_COUNT", 50)
    client = Client()
    client.force_login(person(Role.RESEARCHER))
    for path in ("items/", "videos/", "captions/list/", "people/"):
        url = f"/projects/{world.slug}/{path}"
        after = client.get(url, asked).context["listing"].page.next
        queries = asked_by(lambda: client.get(url, {**asked, "after": after}))  # noqa: B023
        assert len(queries) <= 8
        assert read_whole(queries) == []
        assert sorts_many(queries) == []


def sorts_many(queries: list[dict[str, str]]) -> list[str]:
    """Statements that sort many rows, which an index has in order."""
    found = []
    with connection.cursor() as cursor:
        for query in queries:
            if EXPLAINED.match(query["sql"]):
                cursor.execute("EXPLAIN (FORMAT JSON) " + query["sql"])
                plan = cursor.fetchone()[0]
                plan = json.loads(plan) if isinstance(plan, str) else plan
                steps = [node for node in nodes(plan[0]["Plan"]) if node["Node Type"] in ORDERED]
                # The captions of one video at a time, in the order of the videos' index.
                steps = [node for node in steps if node.get("Presorted Key") != ["corpus_video.key"]]
                found += [query["sql"][:1500] for node in steps if node["Plan Rows"] >= MANY]
    return found


def test_votes_are_exported_with_a_server_side_cursor(world):
    secret = make_token(person(Role.RESEARCHER), name="export").secret
    url = f"/api/v1/projects/{world.slug}/votes/export"
    answer = Client().get(url, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 200
    lines = iter(answer.streaming_content)
    told = next(lines).count(b"\n")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors")
        assert cursor.fetchone() == (1,)
    assert told < 3 * ITEMS // 2 == told + sum(some.count(b"\n") for some in lines)


def test_a_plan_that_scans_a_whole_table_is_found():
    with CaptureQueriesContext(connection) as captured:
        list(Caption.objects.filter(text="no index has this"))
    assert [found.partition(":")[0] for found in read_whole(captured.captured_queries)] == ["corpus_caption"]
