"""Words of this installation and of a person are no password."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import Invitation, User
from tests.factories import make_project, make_user

ANN = User(username="ann.miller", first_name="Ann", last_name="Miller", email="am77@uni-example.org")
KNOWN = [
    "foilworks-foils",
    "Foilworks2026",
    "annmiller1234"[:10] + "12",
    "uni-example.org1",
    "validator-caption",
    "FOILS.example.org",
]
GOOD = [
    "correct horse battery",
    "foils and nine purple tables",
    "annular eclipse of 1999",
    "x" * 7 + "qwzjk!",
    "日本語のパスワードです",
]


@pytest.mark.parametrize("password", KNOWN)
def test_a_password_of_known_words_is_refused(password, settings):
    settings.ALLOWED_HOSTS = ["foils.example.org"]
    with pytest.raises(ValidationError) as caught:
        validate_password(password, ANN)
    assert "password_of_known_words" in [each.code for each in caught.value.error_list]


@pytest.mark.parametrize("password", GOOD)
def test_other_words_beside_them_are_enough(password, settings):
    settings.ALLOWED_HOSTS = ["foils.example.org"]
    validate_password(password, ANN)


def test_long_passwords_of_any_signs_are_taken_as_they_are(client):
    password = " Ünï½ 🦊 " * 16
    assert len(password) >= 64
    validate_password(password, ANN)
    ann = User.objects.model(username="ann")
    ann.set_password(password)
    assert (
        ann.check_password(password),
        ann.check_password(password.strip()),
        ann.check_password(password.lower()),
    ) == (
        True,
        False,
        False,
    )


@pytest.mark.django_db
@pytest.mark.parametrize("page", ["/sign-in/", "/sign-in/with-code/", "/password/", "/join/"])
def test_fields_of_passwords_hide_them_and_let_managers_help(page, client):
    if page == "/password/":
        client.force_login(make_user("ann"))
    elif page == "/join/":
        days = timezone.now() + timedelta(days=1)
        page += f"{token_of(Invitation.objects.create(project=make_project(), roles=['annotator'], expires_at=days))}/"
    html = client.get(page).content.decode()
    fields = [field for field in re.findall(r"<input[^>]*>", html) if re.search(r'name="[^"]*password', field)]
    assert fields
    for field in fields:
        assert 'type="password"' in field
        assert re.search(r'autocomplete="(current|new)-password"', field)
        assert "onpaste" not in field
        assert "readonly" not in field
        assert int((re.search(r'maxlength="(\d+)"', field) or [0, "1000"])[1]) >= 64
    assert not re.search(r"hint|question|frage", " ".join(re.findall(r'name="([^"]+)"', html)))
