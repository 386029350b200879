"""Who comes into a project, with an account that was there or a new one, and what is refused."""

import re

import pytest
from django.contrib.auth import authenticate

from foilworks.core.projects.actions.members import add_member
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import AuditEvent, Membership, User
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def test_somebody_with_an_account_becomes_a_member(project, owner):
    ann = make_user("ann")
    added = add_member(owner, project, " ann ", ["reviewer", "annotator", "annotator"])
    assert (added.person, added.password) == (ann, "")
    assert sorted(Membership.objects.filter(person=ann).values_list("role", flat=True)) == ["annotator", "reviewer"]
    event = AuditEvent.objects.get(action="projects.add_member")
    assert (event.actor, event.project, event.target_id) == (owner, project, str(ann.pk))
    assert event.details == {"roles": "annotator, reviewer", "new_account": False}


def test_a_new_account_gets_a_temporary_password_that_works_and_is_stored_as_a_hash(project, owner):
    added = add_member(owner, project, "nora", ["validator"], new_account=True)
    assert re.fullmatch(
        r"([abcdefghijkmnpqrstuvwxyz23456789]{4}-){3}[abcdefghijkmnpqrstuvwxyz23456789]{4}", added.password
    )
    assert authenticate(username="nora", password=added.password) == added.person
    nora = User.objects.get(username="nora")
    assert nora.password_is_temporary
    assert added.password not in nora.password
    assert not nora.is_staff
    assert not nora.is_superuser
    assert not any(added.password in str(event.details) for event in AuditEvent.objects.all())


def test_two_new_accounts_have_two_passwords(project, owner):
    made = [add_member(owner, project, name, ["validator"], new_account=True).password for name in ("a1", "a2")]
    assert len(set(made)) == 2


@pytest.mark.parametrize(
    ("name", "roles", "new", "words"),
    [
        ("nobody", ["annotator"], False, "no account “nobody”. Correct the name, or select"),
        ("Ann", ["annotator"], True, "“Ann” is already in use. Choose another"),
        ("closed", ["annotator"], False, "is closed. Ask a site administrator"),
        ("member", ["annotator"], False, "member is already a member. Change the roles in the list"),
        ("ann", [], False, "Choose at least one role from: annotator, reviewer, validator, researcher"),
        ("ann", ["owner"], False, "Choose at least one role from"),
        ("with space", ["annotator"], True, "Enter a valid username"),
        ("x" * 151, ["annotator"], True, "at most 150 characters"),
    ],
)
def test_a_refusal_says_what_to_do_and_stores_nothing(project, owner, name, roles, new, words):
    make_user("ann")
    make_user("closed", is_active=False)
    make_member(project, "reviewer", name="member")
    before = User.objects.count(), Membership.objects.count()
    with pytest.raises(ProjectError, match=re.escape(words)):
        add_member(owner, project, name, roles, new_account=new)
    assert (User.objects.count(), Membership.objects.count()) == before
    assert not AuditEvent.objects.exists()


def test_only_a_researcher_of_the_project_adds_people(project):
    for person in (make_member(project, "reviewer"), make_member(make_project(), "researcher"), make_user()):
        with pytest.raises(AccessDenied):
            add_member(person, project, "nora", ["annotator"], new_account=True)
    assert not User.objects.filter(username="nora").exists()


def test_a_published_account_of_a_demo_makes_no_accounts_anywhere(project):
    visitor = make_member(project, "researcher", name="demo-researcher")
    hint = {"accounts": [{"username": "demo-researcher", "role": "researcher", "password": "x"}]}
    make_project(is_simulated=True, sign_in_hint=hint)
    with pytest.raises(AccessDenied, match="cannot create accounts"):
        add_member(visitor, project, "nora", ["annotator"], new_account=True)
    add_member(visitor, project, make_user("zoe").username, ["annotator"])
    # A hint in a project that is no demo publishes nothing.
    make_project(sign_in_hint={"accounts": [{"username": "owner", "role": "researcher", "password": "x"}]})
    owner = make_member(project, "researcher", name="owner")
    assert add_member(owner, project, "nora", ["annotator"], new_account=True).password
