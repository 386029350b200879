"""The page of a project's members."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.actions.quality.validators import pause_validator
from annotation.models import QualityPolicy, Stage, Standing
from foilworks.core.projects.models import AuditEvent, Membership, User
from tests.annotation.world import make_world
from tests.factories import make_member, make_user
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client, world):
    client.force_login(world.owner)
    return client


def people(world) -> str:
    return reverse("annotation:people", args=[world.project.slug])


def post(client, world, name, pk, **data):
    return client.post(reverse(f"annotation:{name}", args=[world.project.slug, pk]), data, follow=True)


def test_the_list_names_members_their_roles_and_what_they_hold(owner, world):
    world.group()
    world.claim("ann", Stage.EDIT)
    page = " ".join(owner.get(people(world)).content.decode().split())
    assert "1–8 of 8" in page
    assert page.count("1 task in progress") == 1
    assert page.count("<span>reviewer</span>") == 2


def listed(owner, world, **chosen) -> list[str]:
    rows = owner.get(people(world), chosen).context["listing"].page.rows
    return [row.person.username for row in rows]


def test_members_are_filtered_by_role_name_and_pause(owner, world):
    both = make_member(world.project, "annotator", "validator", name="nora-lee", first_name="Nora", last_name="Lee")
    make_member(make_world().project, "annotator", name="nora-of-another-project")
    assert listed(owner, world)[0] == "nora-lee"
    assert listed(owner, world, sort="oldest")[-1] == "nora-lee"
    assert listed(owner, world).count("nora-lee") == 1
    assert listed(owner, world, q="NORA") == ["nora-lee"]
    assert "nora-lee" in listed(owner, world, role="validator")
    assert "nora-lee" not in listed(owner, world, role="researcher")
    assert listed(owner, world, paused="on") == []
    pause_validator(world.owner, world.project, both.pk, "too fast")
    assert listed(owner, world, paused="on") == ["nora-lee"]
    # What is no choice narrows nothing.
    assert len(listed(owner, world, role="king")) == 9


def test_a_row_shows_the_work_and_the_gold_of_a_member(owner, world):
    world.made_item()
    world.vote("vera", "caption")
    policy = QualityPolicy.objects.create(project=world.project)
    Standing.objects.update_or_create(
        policy=policy, person=world.vera, defaults={"gold_seen": 10, "gold_right": 9, "state": "paused"}
    )
    page = " ".join(owner.get(people(world), {"q": world.vera.username}).content.decode().split())
    for words in ("1 task completed", "gold 9 of 10 right", "paused", "last task"):
        assert words in page, words


def test_the_pages_of_members_are_read_off_an_index_in_order(owner, world):
    if connection.vendor != "sqlite":
        pytest.skip("tests/foilworks/plans_on_postgresql.py reads PostgreSQL's plans, over many rows")
    for _ in range(30):
        make_member(world.project, "annotator", "validator")
    for chosen in ({}, {"sort": "oldest"}, {"role": "annotator"}):
        after = owner.get(people(world), chosen).context["listing"].page.next
        with CaptureQueriesContext(connection) as captured:
            owner.get(people(world), {**chosen, "after": after})
        (sql,) = [query["sql"] for query in captured if "n_done" in query["sql"]]
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            steps = [row[3] for row in cursor.fetchall()]
        assert not [step for step in steps if step.startswith("SCAN") or "TEMP B-TREE" in step], sql


def test_pages_have_each_member_once(owner, world):
    for _ in range(52):
        make_member(world.project, "annotator", "validator")
    found, cursor = [], ""
    while True:
        page = owner.get(people(world), {"after": cursor}).context["listing"].page
        found += [row.person_id for row in page.rows]
        cursor = page.next
        if not cursor:
            break
    members = Membership.objects.filter(project=world.project).values_list("person", flat=True)
    assert found == sorted(set(members), reverse=True)


@pytest.mark.parametrize("name", ["member", "member_panel"])
def test_a_members_page_and_panel_show_roles_to_change_and_work(owner, world, django_assert_max_num_queries, name):
    world.made_item()
    world.vote("vera", "caption")
    # session, owner, project, roles, person, counts, roles of the page, consent text, finished tasks
    with django_assert_max_num_queries(9):
        page = owner.get(reverse(f"annotation:{name}", args=[world.project.slug, world.vera.pk]))
    shown = read_page(page)
    shown.check("Validation: 1")
    checked = {box.attributes.get("value") for box in shown.all("input") if "checked" in box.attributes}
    assert ("validator" in checked, "reviewer" in checked) == (True, False)
    assert ("main" in shown.tags) == (name == "member")


def test_it_takes_the_same_queries_for_eight_members_and_for_forty(owner, world, django_assert_num_queries):
    # session, person, project, roles, published accounts, page, roles of the page, count
    with django_assert_num_queries(9):
        owner.get(people(world))
    for _ in range(32):
        make_member(world.project, "annotator", "validator")
    with django_assert_num_queries(9):
        owner.get(people(world))


def test_a_new_password_is_shown_once_and_never_cached(owner, world):
    data = {"username": "nora", "roles": ["annotator"], "new_account": "on"}
    answer = owner.post(people(world), data)
    password = answer.context["added"].password
    assert answer.status_code == 200
    assert password in answer.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"
    assert password not in owner.get(people(world)).content.decode()
    assert User.objects.get(username="nora").check_password(password)


def test_a_person_with_an_account_is_added_and_errors_are_beside_the_name(owner, world):
    make_user("zoe")
    assert owner.post(people(world), {"username": "zoe", "roles": ["reviewer"]}).status_code == 302
    again = owner.post(people(world), {"username": "zoe", "roles": ["reviewer"]})
    assert again.status_code == 422
    assert "zoe is already a member" in again.content.decode()


def test_roles_change_and_members_leave_by_the_page(owner, world):
    world.group()
    world.claim("ann", Stage.EDIT)
    page = post(owner, world, "member_roles", world.ann.pk, roles=["validator"])
    assert "1 of their open tasks is available again." in page.content.decode()
    assert Membership.objects.get(project=world.project, person=world.ann).role == "validator"
    page = post(owner, world, "member_remove", world.ann.pk)
    assert "was removed" in page.content.decode()
    assert not Membership.objects.filter(person=world.ann).exists()


def test_the_last_researcher_reads_why_not(owner, world):
    page = post(owner, world, "member_remove", world.owner.pk)
    assert "is the last researcher of this project" in page.content.decode()
    assert Membership.objects.filter(person=world.owner).exists()


def test_a_person_who_leaves_is_sent_home(owner, world):
    make_member(world.project, "researcher")
    page = post(owner, world, "member_remove", world.owner.pk)
    assert page.redirect_chain[-1][0] == "/"


def made_account(owner, world, name: str = "nora") -> tuple[User, str]:
    answer = owner.post(people(world), {"username": name, "roles": ["annotator"], "new_account": "on"})
    return User.objects.get(username=name), answer.context["added"].password


def test_a_lost_temporary_password_is_renewed_and_shown_once(owner, world):
    nora, lost = made_account(owner, world)
    buttons = [element.attributes for element in read_page(owner.get(people(world))).elements]
    assert [button["value"] for button in buttons if button.get("name") == "renew"] == [str(nora.pk)]
    answer = owner.post(people(world), {"renew": nora.pk})
    password = answer.context["renewed"].password
    assert password in answer.content.decode()
    assert answer.headers["Cache-Control"] == "no-store"
    nora.refresh_from_db()
    assert nora.check_password(password)
    assert not nora.check_password(lost)
    assert nora.password_is_temporary
    event = AuditEvent.objects.get(action="projects.renew_password")
    assert (event.actor, event.project, event.target_id) == (world.owner, world.project, str(nora.pk))
    assert password not in str(event.details)
    assert password not in owner.get(people(world)).content.decode()


def test_a_person_who_has_signed_in_keeps_the_password(owner, world):
    nora, password = made_account(owner, world)
    Client().post(reverse("projects:sign_in"), {"username": "nora", "password": password})
    assert User.objects.get(pk=nora.pk).last_login
    assert 'name="renew"' not in owner.get(people(world)).content.decode()
    page = owner.post(people(world), {"renew": nora.pk}, follow=True)
    assert "This account has been used" in page.content.decode()
    nora.refresh_from_db()
    assert nora.check_password(password)
    assert not AuditEvent.objects.filter(action="projects.renew_password").exists()


@pytest.mark.parametrize("value", ["0", "-1", "x", "", str(2**70)])
def test_only_a_members_password_is_renewed(owner, world, value):
    assert owner.post(people(world), {"renew": value}).status_code in (404, 422)
