"""Consent: asked before anything else, anew for a new version; invitations that bring people to it."""

import pytest
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.people import withdraw
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Vote
from foilworks.core.projects.actions.consent import consent_state, give_consent, on_withdrawal, publish_consent_text
from foilworks.core.projects.actions.invitations import accept_invitation, make_invitation
from foilworks.core.projects.errors import AccessDenied, ConsentNeeded, ProjectError
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import AuditEvent, Consent, Invitation, Membership, User
from tests.annotation.world import make_world
from tests.factories import make_member, make_project, make_user
from tests.invariants import broken_invariants
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(project):
    return make_member(project, "annotator", name="ann")


def test_without_a_consent_text_nobody_is_asked(client, project, ann):
    client.force_login(ann)
    assert client.get(f"/projects/{project.slug}/work/").status_code == 200
    assert "does not ask for consent" in client.get(f"/projects/{project.slug}/consent/").content.decode()


def test_a_new_version_must_be_accepted_before_the_next_page_or_task(client, project, owner, ann):
    publish_consent_text(owner, project, "First.", "keep")
    client.force_login(ann)
    work, consent = f"/projects/{project.slug}/work/", f"/projects/{project.slug}/consent/"
    assert client.get(work)["Location"] == f"{consent}?next=%2Fprojects%2F{project.slug}%2Fwork%2F"
    swap = client.post(f"{work}edit/", headers={"X-Foilworks-Swap": "1"})
    assert (swap.status_code, swap["X-Foilworks-Go"]) == (204, consent)
    with pytest.raises(ConsentNeeded):
        claim(User.objects.get(pk=ann.pk), project, "edit")
    assert client.post(consent, {"version": 1, "agree": "on", "next": work})["Location"] == work
    assert client.get(work).status_code == 200
    publish_consent_text(owner, project, "Second.", "remove")
    assert client.get(work).status_code == 302
    read_page(client.get(consent)).check("The consent text has changed.", "Second.")
    # The old page, sent late, agrees to nothing.
    assert client.post(consent, {"version": 1, "agree": "on"}).status_code == 400
    assert client.post(consent, {"version": 2}).status_code == 422
    client.post(consent, {"version": 2, "agree": "on", "next": "https://evil.example/"})
    assert client.get(work).status_code == 200
    given = Consent.objects.filter(person=ann).order_by("pk")
    assert list(given.values_list("text__version", flat=True)) == [1, 2]
    assert AuditEvent.objects.filter(action="projects.give_consent", actor=ann).count() == 2


def test_owners_of_the_project_are_not_asked_for_consent(client, project, owner):
    publish_consent_text(owner, project, "First.", "keep")
    client.force_login(owner)
    assert client.get(f"/projects/{project.slug}/videos/").status_code == 200
    client.force_login(make_user(is_superuser=True))
    assert client.get(f"/projects/{project.slug}/videos/").status_code == 200


def test_only_a_change_makes_a_version_and_only_a_researcher_makes_it(project, owner, ann):
    publish_consent_text(owner, project, "First.", "keep")
    with pytest.raises(ProjectError, match="No new version was published"):
        publish_consent_text(owner, project, " First. ", "keep")
    assert publish_consent_text(owner, project, "First.", "choose").version == 2
    for text, rule in ((" ", "keep"), ("x", "burn")):
        with pytest.raises(ProjectError):
            publish_consent_text(owner, project, text, rule)
    with pytest.raises(AccessDenied):
        publish_consent_text(ann, project, "Mine.", "keep")


def test_agreeing_twice_is_one_consent(project, owner, ann):
    publish_consent_text(owner, project, "First.", "keep")
    assert give_consent(ann, project, 1) == give_consent(ann, project, 1)
    assert Consent.objects.count() == 1


def test_asking_costs_no_query_beside_the_roles(client, project, owner, ann, django_assert_num_queries):
    publish_consent_text(owner, project, "First.", "keep")
    client.force_login(ann)
    # Session, person, project, memberships; the refusal is no error, so nothing is written.
    with django_assert_num_queries(4):
        client.get(f"/projects/{project.slug}/work/")


# Invitations


def test_an_invitation_brings_a_new_person_in_with_its_roles_and_no_others(client, project, owner):
    client.force_login(owner)
    made = client.post(
        f"/projects/{project.slug}/invitations/", {"roles": ["annotator", "reviewer"], "days": 7, "most_uses": 1}
    )
    assert made.status_code == 302
    link = client.get(f"/projects/{project.slug}/invitations/").context["page"][0].link
    client.logout()
    assert project.name in client.get(link).content.decode()
    account = {"username": "nora", "email": "", "password1": "a long one 42", "password2": "a long one 42"}
    assert client.post(link, account)["Location"] == f"/projects/{project.slug}/"
    nora = User.objects.get(username="nora")
    assert set(nora.memberships.values_list("role", flat=True)) == {"annotator", "reviewer"}
    assert client.get(f"/projects/{project.slug}/work/").status_code == 200
    assert not nora.password_is_temporary
    assert Invitation.objects.get().uses == 1


@pytest.mark.parametrize(
    "wrong", [{"username": "OWNER"}, {"username": "a b"}, {"password2": "other"}, {"password1": "x", "password2": "x"}]
)
def test_an_account_that_cannot_be_made_uses_nothing_up(client, project, owner, wrong):
    link = f"/join/{token_of(make_invitation(owner, project, ['annotator']))}/"
    account = {"username": "nora", "email": "", "password1": "a long one 42", "password2": "a long one 42", **wrong}
    assert client.post(link, account).status_code == 422
    assert (Invitation.objects.get().uses, User.objects.count()) == (0, 1)


def test_one_for_many_counts_people_and_not_clicks(project, owner):
    token = token_of(make_invitation(owner, project, ["annotator"], most_uses=2))
    ann, abe = make_user(), make_user()
    for person in (ann, ann, abe, abe):
        accept_invitation(person, token)
    assert Invitation.objects.get().uses == 2
    assert Membership.objects.filter(person__in=[ann, abe]).count() == 2


def test_a_member_gets_the_roles_in_addition(project, owner, ann):
    accept_invitation(ann, token_of(make_invitation(owner, project, ["reviewer"])))
    assert set(ann.memberships.values_list("role", flat=True)) == {"annotator", "reviewer"}


def test_the_link_holds_until_its_moment(project, owner):
    invitation = make_invitation(owner, project, ["annotator"], days=1)
    assert 0 < (invitation.expires_at - timezone.now()).total_seconds() <= 24 * 3600
    for days, uses in ((0, 1), (91, 1), (1, 0)):
        with pytest.raises(ProjectError, match="1 to 90 days"):
            make_invitation(owner, project, ["annotator"], days=days, most_uses=uses)


def test_a_published_account_invites_nobody(project):
    demo = make_member(project, "researcher", name="demo")
    make_project(is_simulated=True, sign_in_hint={"accounts": [{"username": "demo", "role": "x", "password": "x"}]})
    with pytest.raises(AccessDenied, match="cannot invite people"):
        make_invitation(demo, project, ["annotator"])


# (rule of the first text, of a newer one or "", what the person did) -> what their work becomes, their last state.
LEFT = [
    ("", "", "leaves", "keep", "never_asked"),
    ("remove", "", "leaves", "remove", "refused"),
    ("choose", "", "leaves", "choose", "refused"),
    ("keep", "", "leaves", "keep", "refused"),
    ("remove", "", "agrees", "remove", "withdrawn"),
    ("keep", "remove", "agrees", "remove", "refused"),
    ("remove", "keep", "agrees", "remove", "refused"),
    ("choose", "keep", "agrees", "choose", "refused"),
    ("keep", "keep", "agrees", "keep", "refused"),
]


@pytest.mark.parametrize(("first", "second", "does", "rule", "state"), LEFT)
def test_a_person_who_refuses_has_the_rule_of_the_text_that_was_asked(first, second, does, rule, state):
    world = make_world()
    world.item()
    make_tasks(world.project)
    world.vote("vera")
    if first:
        publish_consent_text(world.owner, world.project, "First.", first)
    if does == "agrees":
        give_consent(world.vera, world.project, 1)
        assert consent_state(world.vera, world.project) == "given"
    if second:
        publish_consent_text(world.owner, world.project, "Second.", second)
    vera = User.objects.get(pk=world.vera.pk)
    if second or (first and does == "leaves"):
        assert consent_state(vera, world.project) == "unanswered"
    assert on_withdrawal(vera, world.project) == rule
    removed = withdraw(vera, world.project, "remove" if rule == "choose" else rule)
    assert removed == (rule != "keep")
    assert Vote.objects.filter(person=vera).exists() == (rule == "keep")
    assert consent_state(vera, world.project) == state
    assert broken_invariants() == []


def test_a_researcher_is_never_asked_so_leaves_without_a_refusal():
    world = make_world()
    publish_consent_text(world.owner, world.project, "First.", "remove")
    other = make_member(world.project, "researcher")
    assert on_withdrawal(other, world.project) == "keep"
    withdraw(other, world.project, "keep")
    assert not Consent.objects.exists()
