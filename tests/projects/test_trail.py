"""The audit trail of a project: who changed what, without naming those who judge blind."""

import ast
import csv
import io
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.urls import reverse

from foilworks.core.projects.actions.lifecycle import set_archived
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.audit_trail.sentences import detail_words, phrase
from foilworks.core.projects.audit_trail.words import action_words, row_kinds, target_page
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.rooms import declared
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


def records(answer):
    """Return the records of the page, those that a row holds too."""
    return [record for row in answer.context["listing"].page.rows for record in (row, *row.more)]


def test_the_trail_shows_who_changed_what_newest_first_with_links(client, project, owner, item):
    client.force_login(owner)
    answer = shown(client, project)
    rows = answer.context["listing"].page.rows
    # A vote holds the record of its item, and the range says that it counts records.
    assert [row.action for row in rows] == ["submit_vote", "retract"]
    assert [row.action for row in rows[0].more] == ["vote"]
    assert "records 1–3 of 3" in answer.content.decode()
    assert (rows[1].who, rows[1].words, rows[1].kind) == ("olga", "retract", "item")
    assert f'href="{reverse("items:item", args=[project.slug, item.pk])}"' in answer.content.decode()


def test_judgements_are_under_pseudonyms_and_leases_without_a_name(client, project, owner, item):
    client.force_login(owner)
    answer = shown(client, project, "?tasks=on")
    rows = {row.action: row for row in records(answer)}
    vera = rows["vote"].actor
    assert rows["vote"].who == rows["submit_vote"].who == pseudonym(project, vera.pk)
    assert rows["lease"].who == ""
    assert "vera" not in answer.content.decode()


def test_a_search_for_a_person_never_finds_their_judgements(client, project, owner, item):
    client.force_login(owner)
    assert records(shown(client, project, "?who=vera&tasks=on")) == []
    assert [row.action for row in records(shown(client, project, "?who=olga"))] == ["retract"]


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ("?q=submit vote", ["submit_vote"]),
        ("?kind=corpus.item", ["vote", "retract"]),
        ("?kind=annotation.vote&number=7", ["submit_vote"]),
        ("?since=2100-01-01", []),
        ("?until=2000-01-01", []),
        ("?until=nonsense&kind=nothing", ["submit_vote", "vote", "retract"]),
        # The search finds words of sentences and names of people.
        ("?part=work", ["submit_vote", "vote"]),
        ("?part=project", ["retract"]),
        ("?q=retracted an item", ["retract"]),
        ("?q=olga", ["retract"]),
        ("?q=vera&tasks=on", []),
    ],
)
def test_filters_narrow_the_trail(client, project, owner, item, query, actions):
    client.force_login(owner)
    assert [row.action for row in records(shown(client, project, query))] == actions


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
    with django_assert_num_queries(7) as few:
        shown(client, project)
    AuditEvent.objects.bulk_create([audit.event(project, owner, "retract", item) for _ in range(60)])
    with django_assert_num_queries(len(few.captured_queries)):
        assert len(records(shown(client, project))) == 25


def test_another_project_has_its_own_trail(client, owner, item):
    other = make_project(slug="other")
    client.force_login(make_member(other, "researcher", name="otto"))
    assert records(shown(client, other)) == []


def test_whatever_a_real_vote_writes_names_no_validator(client):
    world = make_world()
    world.item("a man stands.")
    world.vote("vera")
    client.force_login(world.owner)
    vera = world.vera
    # Vera's membership, if it has a row, may name her; her work may not.
    answer = shown(client, world.project, "?tasks=on")
    mine = [row for row in records(answer) if row.actor_id == vera.pk]
    assert {row.action for row in mine} >= {"lease", "submit_vote", "vote"}
    assert {row.who for row in mine} <= {"", pseudonym(world.project, vera.pk)}


def test_words_of_actions_and_pages_of_rows():
    project = make_project(slug="words")
    assert action_words("evaluation.freeze_release") == "freeze release"
    assert target_page(project, AuditEvent(target_type="corpus.item", target_id="x")) == ""
    assert target_page(project, AuditEvent(target_type="projects.project", target_id="1")) == ""


def test_a_row_reads_as_a_sentence_with_what_changed(client, project, owner):
    vera = make_member(project, "annotator", name="vera")
    changed = audit.event(project, owner, "projects.change_roles", vera, before="annotator", after="reviewer")
    AuditEvent.objects.bulk_create([changed])
    client.force_login(owner)
    answer = shown(client, project)
    (row,) = records(answer)
    assert (row.who, str(row.said), row.target_name) == ("olga", "changed the roles of a member", "vera")
    assert row.detail_text == "annotator → reviewer"
    assert f'href="{reverse("annotation:member", args=[project.slug, vera.pk])}"' in answer.content.decode()


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"before": {"name": "A", "seed": 1}, "name": "B"}, "name: A → B"),
        ({"before": {"undo_seconds": 30, "x": 1}, "rules": {"undo_seconds": 0, "x": 1}}, "undo seconds: 30 → 0"),
        ({"is_open": True, "takes_scores": False, "note": "", "may_show": [""]}, "is open: yes, takes scores: no"),
        ({"changed": ["authors", "licence"], "rule": None}, "changed: authors, licence"),
    ],
)
def test_the_facts_of_a_row_are_words(details, words):
    assert detail_words(details) == words


def actions_in_code():
    """(path, action) of each literal action: the third argument of `audit.event`, if it is about a project."""
    for app in ("annotation", "evaluation", "foilworks", "generation"):
        for path in (Path(settings.BASE_DIR) / app).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "audit.event" in text else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "audit.event" and len(node.args) > 3:
                    project, action = node.args[0], node.args[2]
                    if ast.unparse(project) != "None" and isinstance(action, ast.Constant):
                        yield path.relative_to(settings.BASE_DIR), action.value


def test_every_action_reads_as_a_sentence():
    assert {action for _path, action in actions_in_code() if not phrase(action)} == set()


def test_every_sentence_is_declared_in_the_room_that_records_the_action():
    recorders = defaultdict(set)
    for path, action in actions_in_code():
        recorders[action].add(path)
    elsewhere = [
        f"{declarations}: {action}"
        for declarations in Path(settings.BASE_DIR).glob("[aefg]*/**/declarations.py")
        for action in sentences_of(declarations)
        if action in recorders
        if not any((Path(settings.BASE_DIR) / path).is_relative_to(declarations.parent) for path in recorders[action])
    ]
    assert elsewhere == []


def sentences_of(declarations: Path) -> set[str]:
    module = import_module(".".join(declarations.relative_to(settings.BASE_DIR).with_suffix("").parts))
    return {*getattr(module, "SENTENCES", ()), *getattr(module, "WORK_SENTENCES", ())}


def test_an_action_has_one_sentence():
    assert declared("SENTENCES").keys() & declared("WORK_SENTENCES").keys() == set()


@pytest.mark.parametrize("where", ["settings/", "people/{olga}/", "subtests/{subtest}/votes/"])
def test_what_can_change_links_to_its_history(client, project, owner, where):
    subtest = make_subtest(project)
    client.force_login(owner)
    page = client.get(f"/projects/{project.slug}/" + where.format(olga=owner.pk, subtest=subtest.pk))
    assert "History of changes" in page.content.decode()


def test_every_kind_in_the_filter_is_a_table():
    tables = {model._meta.label_lower for model in apps.get_models()}
    assert set(row_kinds()) <= tables
    assert set(declared("ROW_PAGES")) <= set(row_kinds())


def test_every_page_of_a_row_exists(project):
    for label, row_page in declared("ROW_PAGES").items():
        row = AuditEvent(target_type=label, target_id="1", details={row_page.detail: 1})
        assert target_page(project, row), label


def test_the_banner_of_an_archived_project_leads_its_researchers_to_the_settings(client, project, owner):
    set_archived(owner, project, archived=True)
    settings_link = f'<a href="/projects/{project.slug}/settings/">'
    client.force_login(owner)
    assert settings_link in client.get(f"/projects/{project.slug}/subtests/").content.decode()
    client.force_login(make_member(project, "annotator"))
    assert settings_link not in client.get(f"/projects/{project.slug}/").content.decode()
