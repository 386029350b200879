"""Tokens of the API: their page, what is stored of them, what they may not do."""

import re
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from foilworks.core.projects.actions.tokens import MAX_LIVE_TOKENS, make_token, revoke_token
from foilworks.core.projects.errors import AccessDenied, ProjectError
from foilworks.core.projects.models import ApiToken, AuditEvent, IdempotentAnswer, Role
from foilworks.core.projects.tokens import digest_of, find_token, forget_old_answers
from tests.factories import make_member, make_project, make_user

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_stored_as_a_digest(client):
    person = make_user()
    client.force_login(person)
    page = client.post("/tokens/", {"name": "nightly export", "scope": "read", "days": 30})
    made = ApiToken.objects.get()
    secret = re.search(r"\bfw_[\w-]{43}", page.content.decode())[0]
    assert (made.digest, made.person, made.scope) == (digest_of(secret), person, "read")
    assert page.headers["Cache-Control"] == "no-store"
    again = client.get("/tokens/").content.decode()
    assert "nightly export" in again
    assert secret not in again
    assert find_token(secret).person == person
    assert AuditEvent.objects.get(action="projects.make_token").actor == person
    assert secret not in str(AuditEvent.objects.values())


def test_a_revoked_token_leaves_the_list(client):
    person = make_user()
    made = make_token(person, name="old")
    client.force_login(person)
    client.post(f"/tokens/{made.token.pk}/revoke/")
    assert find_token(made.secret) is None
    assert "No tokens yet" in client.get("/tokens/").content.decode()
    before = AuditEvent.objects.count()
    revoke_token(person, made.token.pk)
    assert AuditEvent.objects.count() == before


def test_the_list_costs_the_same_whatever_it_holds(client, django_assert_num_queries):
    person = make_member(make_project(), Role.RESEARCHER)
    client.force_login(person)
    client.get("/tokens/")
    for number in range(5):
        make_token(person, name=f"token {number}", project=make_project())
    with django_assert_num_queries(5):
        client.get("/tokens/")


@pytest.mark.parametrize(
    "fields", [{"name": " "}, {"name": "x" * 81}, {"scope": "root"}, {"days": 0}, {"days": 366}, {"role": "owner"}]
)
def test_invalid_tokens_are_rejected(fields):
    with pytest.raises(ProjectError):
        make_token(make_user(), **{"name": "x", **fields})
    assert not ApiToken.objects.exists()


def test_there_is_an_end_to_tokens():
    person = make_user()
    rows = {"person": person, "expires_at": timezone.now() + timedelta(days=1)}
    ApiToken.objects.bulk_create(ApiToken(digest=f"{number}", **rows) for number in range(MAX_LIVE_TOKENS))
    with pytest.raises(ProjectError, match="Revoke"):
        make_token(person, name="one more")


def test_published_accounts_and_narrowed_tokens_make_none():
    hint = {"accounts": [{"username": "demo", "role": "researcher", "password": "published"}]}
    make_project(is_simulated=True, sign_in_hint=hint)
    with pytest.raises(AccessDenied):
        make_token(make_user("demo"), name="x")
    narrow = make_token(make_user(), name="x", role="annotator").secret
    with pytest.raises(AccessDenied):
        make_token(find_token(narrow).person, name="wider")


def test_the_command_tells_a_token_of_a_person(capsys):
    make_user("ada")
    call_command("token", "ada", "--json")
    assert "fw_" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command("token", "nobody")


def test_old_answers_are_forgotten():
    person = make_user()
    for key, days in (("new", 0), ("old", 3)):
        row = IdempotentAnswer.objects.create(person=person, key=key, request="r")
        IdempotentAnswer.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(days=days))
    assert forget_old_answers() == 1
    assert IdempotentAnswer.objects.get().key == "new"
