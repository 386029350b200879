"""A temporary password ends at the first sign-in; a person changes their own at any time."""

import pytest
from django.contrib.auth import authenticate
from django.urls import reverse

from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import AuditEvent
from tests.factories import PASSWORD, make_project, make_user

pytestmark = pytest.mark.django_db
NEW = "a longer thing 42"


def sign_in(client, next_page=""):
    data = {"username": "nora", "password": PASSWORD, "next": next_page}
    return client.post(reverse("projects:sign_in"), data)


def change(client, **also):
    data = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW, **also}
    return client.post(reverse("projects:password"), data)


@pytest.mark.parametrize("next_page", ["", "/", "/projects/new/"])
def test_a_person_with_a_temporary_password_must_choose_their_own(client, next_page):
    nora = make_user("nora", password_is_temporary=True)
    assert sign_in(client, next_page).headers["Location"] == "/password/"
    assert "created your current password" in client.get("/password/").content.decode()
    assert change(client).headers["Location"] == "/"
    nora.refresh_from_db()
    assert not nora.password_is_temporary
    assert authenticate(username="nora", password=NEW) == nora
    assert client.get("/").status_code == 200, "the session goes on"
    event = AuditEvent.objects.latest("pk")
    assert (event.action, event.actor, event.project) == ("projects.change_password", nora, None)
    client.logout()
    assert sign_in(client).status_code == 200, "the old one is over"


def test_others_go_where_they_wanted_to(client):
    make_user("nora")
    assert sign_in(client, "/projects/new/").headers["Location"] == "/projects/new/"


@pytest.mark.parametrize(
    "wrong",
    [{"old_password": "not it"}, {"new_password2": "another"}, {"new_password1": "short", "new_password2": "short"}],
)
def test_a_wrong_form_changes_nothing(client, wrong):
    client.force_login(make_user("nora"))
    assert change(client, **wrong).status_code == 422
    assert authenticate(username="nora", password=PASSWORD)
    assert not AuditEvent.objects.exists()


def test_a_published_account_keeps_its_password(client):
    nora = make_user("nora")
    hint = {"accounts": [{"username": "nora", "role": "annotator", "password": PASSWORD}]}
    make_project(is_simulated=True, sign_in_hint=hint)
    client.force_login(nora)
    assert change(client).status_code == 403
    assert authenticate(username="nora", password=PASSWORD) == nora


def test_an_account_gets_few_reset_mails_from_all_networks_together(client, mailoutbox):
    nora, other = make_user("nora", email="nora@example.org"), make_user("other", email="other@example.org")
    most = rate_limits.RESET_ACCOUNT.most
    for number in range(most + 2):
        answer = client.post(reverse("projects:password_reset"), {"email": nora.email}, REMOTE_ADDR=f"8.8.8.{number}")
        assert answer.status_code == 302, "the page tells nobody whether mail was sent"
    client.post(reverse("projects:password_reset"), {"email": other.email}, REMOTE_ADDR="8.8.4.4")
    assert [mail.to for mail in mailoutbox] == [[nora.email]] * most + [[other.email]]
