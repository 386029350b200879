"""How long somebody stays signed in, and what is written down of a sign-in."""

import re
import time

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from foilworks.core.projects.limits.rate_limits import REFUSAL_ROWS
from foilworks.core.projects.models import AuditEvent
from foilworks.core.projects.sign_in.sessions import BEGAN, DAY, SEEN, SEEN_EVERY_SECONDS
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db


def sign_in(client, username="ann", password=PASSWORD):
    return client.post("/sign-in/", {"username": username, "password": password})


def age(client, began=0.0, seen=0.0):
    session = client.session
    session[BEGAN] -= int(began)
    session[SEEN] -= int(seen)
    session.save()


def is_signed_in(client):
    return client.get("/account/").status_code == 200


def test_every_sign_in_starts_both_clocks(client):
    make_user("ann")
    sign_in(client)
    assert abs(client.session[BEGAN] - time.time()) < DAY
    age(client, began=5 * DAY)
    client.post("/sign-out/")
    sign_in(client)
    assert abs(client.session[BEGAN] - time.time()) < DAY


def test_a_person_away_too_long_must_sign_in_again(client, settings):
    make_user("ann")
    sign_in(client)
    age(client, seen=settings.SESSION_IDLE_DAYS * DAY - 60)
    assert is_signed_in(client)
    age(client, seen=settings.SESSION_IDLE_DAYS * DAY + 60)
    old = client.session.session_key
    assert client.get("/account/").headers["Location"].startswith("/sign-in/")
    assert not Session.objects.filter(session_key=old).exists()


def test_sessions_end_however_often_a_person_visits(client, settings):
    make_user("ann")
    sign_in(client)
    age(client, began=settings.SESSION_MAX_DAYS * DAY + 60)
    assert client.get("/account/").headers["Location"].startswith("/sign-in/")


def test_a_visit_is_stored_once_per_hour(client):
    make_user("ann")
    sign_in(client)
    seen = client.session[SEEN]
    age(client, seen=SEEN_EVERY_SECONDS - 60)
    assert is_signed_in(client)
    assert client.session[SEEN] < seen - 60
    age(client, seen=SEEN_EVERY_SECONDS)
    assert is_signed_in(client)
    assert client.session[SEEN] >= seen


def test_a_session_without_times_starts_now(client):
    client.force_login(make_user("ann"))
    session = client.session
    del session[BEGAN], session[SEEN]
    session.save()
    assert is_signed_in(client)
    assert abs(client.session[BEGAN] - time.time()) < DAY


def test_sign_ins_that_worked_and_that_did_not_are_in_the_audit_trail(client):
    ann = make_user("ann")
    sign_in(client, password="wrong")
    sign_in(client, username="nobody\x00", password="wrong")
    sign_in(client)
    rows = AuditEvent.objects.order_by("pk").values_list("action", "actor", "target_id", "reason")
    assert list(rows) == [
        ("projects.refused", None, str(ann.pk), "wrong password"),
        ("projects.refused", None, "", "wrong password"),
        ("projects.sign_in", ann.pk, str(ann.pk), ""),
    ]
    assert AuditEvent.objects.latest("pk").details == {"way": "one step"}


def test_wrong_passwords_fill_no_table(client, monkeypatch):
    monkeypatch.setattr(
        "foilworks.core.projects.limits.rate_limits.REFUSAL_ROWS", type(REFUSAL_ROWS)("few rows", 2, 3600)
    )
    for _ in range(5):
        sign_in(client, password="wrong")
    assert AuditEvent.objects.count() == 2


def test_a_sign_in_has_a_key_of_its_own_and_a_sign_out_ends_it(client):
    make_user("ann")
    client.get("/")
    session = client.session
    session["planted"] = 1
    session.save()
    planted = client.session.session_key
    client.cookies[settings.SESSION_COOKIE_NAME] = planted
    sign_in(client)
    own = client.session.session_key
    assert own != planted
    assert re.fullmatch(r"[a-z0-9]{32}", own), "165 bits"
    assert not Session.objects.filter(session_key=planted).exists()
    client.post("/sign-out/")
    thief = Client()
    thief.cookies[settings.SESSION_COOKIE_NAME] = own
    assert not is_signed_in(thief)


def test_a_new_password_needs_the_old_one_and_ends_other_sessions(client):
    make_user("ann")
    other = Client()
    sign_in(client)
    sign_in(other)
    new = {"new_password1": "nine purple tables", "new_password2": "nine purple tables"}
    assert client.post("/password/", {"old_password": "wrong", **new}).status_code == 422
    assert is_signed_in(other)
    assert client.post("/password/", {"old_password": PASSWORD, **new}).status_code == 302
    assert (is_signed_in(client), is_signed_in(other)) == (True, False)
