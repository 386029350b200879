"""The page of a project's members."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Stage
from projects.models import AuditEvent, Membership, User
from tests.annotation.world import make_world
from tests.factories import make_member, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return make_world()


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
    assert "8 members" in page
    assert page.count("1 task in progress") == 1
    assert page.count('value="reviewer" checked') == 2


def test_it_takes_the_same_queries_for_eight_members_and_for_forty(owner, world, django_assert_num_queries):
    # session, person, project, roles, published accounts, count, page, roles of the page
    with django_assert_num_queries(8):
        owner.get(people(world))
    for _ in range(32):
        make_member(world.project, "annotator", "validator")
    with django_assert_num_queries(8):
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
    page = owner.get(people(world)).content.decode()
    assert page.count('name="renew"') == 1
    assert f'name="renew" value="{nora.pk}"' in page
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
