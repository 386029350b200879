"""The audit trail of a project: who changed what, without naming those who judge blind."""

import csv
import io

import pytest
from django.urls import reverse

from projects import audit
from projects.models import AuditEvent
from projects.pseudonyms import pseudonym
from projects.trail.words import action_words, target_page
from tests.annotation.world import make_world
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project(slug="dots")


@pytest.fixture
def owner(project):
    return make_member(project, "researcher", name="olga")


@pytest.fixture
def item(project, owner):
    """With a row by the researcher, one by a validator, and one of a task."""
    item = make_item(make_subtest(project))
    vera = make_member(project, "validator", name="vera")
    vote = AuditEvent(project=project, actor=vera, action="submit_vote", target_type="annotation.vote", target_id="7")
    lease = AuditEvent(project=project, actor=vera, action="lease", target_type="annotation.slot", target_id="3")
    with_words = audit.event(project, owner, "retract", item, from_state="valid", to_state="retracted", reason="=1+1")
    AuditEvent.objects.bulk_create([with_words, audit.event(project, vera, "vote", item), vote, lease])
    return item


def shown(client, project, query=""):
    answer = client.get(f"/projects/{project.slug}/audit-trail/{query}")
    assert answer.status_code == 200
    return answer


def test_the_trail_shows_who_changed_what_newest_first_with_links(client, project, owner, item):
    client.force_login(owner)
    answer = shown(client, project)
    rows = answer.context["listing"].page.rows
    assert [row.action for row in rows] == ["submit_vote", "vote", "retract"]
    assert (rows[2].who, rows[2].words, rows[2].kind) == ("olga", "retract", "item")
    assert f'href="{reverse("items:item", args=[project.slug, item.pk])}"' in answer.content.decode()


def test_judgements_are_under_pseudonyms_and_leases_without_a_name(client, project, owner, item):
    client.force_login(owner)
    answer = shown(client, project, "?tasks=on")
    rows = {row.action: row for row in answer.context["listing"].page.rows}
    vera = rows["vote"].actor
    assert rows["vote"].who == rows["submit_vote"].who == pseudonym(project, vera.pk)
    assert rows["lease"].who == ""
    assert "vera" not in answer.content.decode()


def test_a_search_for_a_person_never_finds_their_judgements(client, project, owner, item):
    client.force_login(owner)
    assert shown(client, project, "?who=vera&tasks=on").context["listing"].page.rows == []
    assert [row.action for row in shown(client, project, "?who=olga").context["listing"].page.rows] == ["retract"]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("?q=submit vote", ["submit_vote"]),
        ("?kind=corpus.item", ["vote", "retract"]),
        ("?kind=annotation.vote&number=7", ["submit_vote"]),
        ("?since=2100-01-01", []),
        ("?until=2000-01-01", []),
        ("?until=nonsense&kind=nothing", ["submit_vote", "vote", "retract"]),
    ],
)
def test_filters_narrow_the_trail(client, project, owner, item, query, actions):
    client.force_login(owner)
    assert [row.action for row in shown(client, project, query).context["listing"].page.rows] == actions


def test_the_file_has_the_filtered_rows_with_harmless_cells(client, project, owner, item):
    client.force_login(owner)
    answer = client.get(f"/projects/{project.slug}/audit-trail/csv/?kind=corpus.item")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert [row["action"] for row in rows] == ["retract", "vote"]
    assert (rows[0]["actor"], rows[0]["reason"]) == ("olga", "'=1+1")
    assert rows[1]["actor"] == pseudonym(project, AuditEvent.objects.get(action="vote").actor_id)


def test_the_trail_asks_the_database_as_often_for_many_rows_as_for_few(
    client, project, owner, item, django_assert_num_queries
):
    client.force_login(owner)
    shown(client, project)
    with django_assert_num_queries(6) as few:
        shown(client, project)
    AuditEvent.objects.bulk_create([audit.event(project, owner, "retract", item) for _ in range(60)])
    with django_assert_num_queries(len(few.captured_queries)):
        assert len(shown(client, project).context["listing"].page.rows) == 25


def test_another_project_has_its_own_trail(client, owner, item):
    other = make_project(slug="other")
    client.force_login(make_member(other, "researcher", name="otto"))
    assert shown(client, other).context["listing"].page.rows == []


def test_whatever_a_real_vote_writes_names_no_validator(client):
    world = make_world()
    world.item("a man stands.")
    world.vote("vera")
    client.force_login(world.owner)
    vera = world.vera
    # Vera's membership, if it has a row, may name her; her work may not.
    answer = shown(client, world.project, "?tasks=on")
    mine = [row for row in answer.context["listing"].page.rows if row.actor_id == vera.pk]
    assert {row.action for row in mine} >= {"lease", "submit_vote", "vote"}
    assert {row.who for row in mine} <= {"", pseudonym(world.project, vera.pk)}


def test_words_of_actions_and_pages_of_rows():
    project = make_project(slug="words")
    assert action_words("evaluation.freeze_release") == "freeze release"
    assert target_page(project, AuditEvent(target_type="corpus.item", target_id="x")) == ""
    assert target_page(project, AuditEvent(target_type="projects.project", target_id="1")) == ""
