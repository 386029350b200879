"""Default keys and open sign-up: nothing is secret by being the same everywhere, and nobody comes in uninvited."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.test import Client
from django.urls import get_resolver

from foilworks.core.projects.actions.members import add_member
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import Membership, Project, Role, User
from foilworks.site import production_checks
from foilworks.site import settings as source
from foilworks.site.service_urls import database
from tests.attacks.guards import guarded_by, replaced
from tests.factories import PASSWORD, make_member, make_project, make_user
from tests.test_access_matrix import url_names

pytestmark = pytest.mark.django_db

OWN_KEY = replaced(
    "foilworks.site.settings.secrets.token_urlsafe", "each installation generates its own key", lambda length: "default"
)
STRONG = replaced(
    "django.contrib.auth.password_validation.get_default_password_validators",
    "passwords must be long and not common",
    list,
)
GUESSES = replaced(
    "foilworks.core.projects.limits.rate_limits.is_exceeded",
    "attempts with wrong passwords are limited",
    lambda limit, *whose, n_attempts=1: False,
)
UNUSED = replaced(
    "foilworks.core.projects.actions.members.unused_accounts",
    "a researcher can reset only the passwords of unused accounts",
    lambda project: User.objects.all(),
)
PRODUCTION = replaced(
    "foilworks.site.production_checks.RULES", "`foilworks doctor --production` rejects insecure settings", ()
)


@guarded_by(OWN_KEY)
def test_two_installations_have_two_keys(tmp_path):
    one, other = source._stored_secret(tmp_path / "one"), source._stored_secret(tmp_path / "other")
    assert one != other
    assert len(one) >= 50
    assert (tmp_path / "one/secret_key").stat().st_mode & 0o077 == 0


@guarded_by(PRODUCTION)
@pytest.mark.parametrize("key", ["changeme", "django-insecure-" + "x" * 60, "a" * 60])
def test_a_key_that_others_know_does_not_serve_others(settings, key):
    settings.SECRET_KEY = key
    assert "SECRET_KEY" in {finding.name for finding in production_checks.findings()}


@guarded_by(PRODUCTION)
def test_open_sign_up_does_not_serve_others_unnoticed(settings):
    """That an unknown identity makes no account is tried in tests/projects/test_oidc.py, against a provider."""
    assert settings.OIDC_SIGN_UP is False
    settings.OIDC_URL, settings.OIDC_SIGN_UP = "https://id.example.org", True
    assert "OIDC_SIGN_UP" in {finding.name for finding in production_checks.findings()}


def test_there_is_no_page_to_sign_up():
    names = set(url_names(get_resolver()))
    assert not {name for name in names if "sign_up" in name or "register" in name}
    for path in ("/sign-up/", "/signup/", "/register/", "/accounts/signup/", "/admin/"):
        assert Client().get(path).status_code in (302, 404)
        assert Client().post(path, {"username": "eve", "password1": "x", "password2": "x"}).status_code in (302, 404)
    assert not User.objects.exists()


def test_a_new_installation_has_no_account_and_no_published_password():
    assert not User.objects.exists()
    assert not Project.objects.exclude(sign_in_hint={}).exists()
    make_project()
    page = Client().get("/sign-in/").content.decode()
    assert "shapes-in-motion" not in page


@guarded_by(STRONG)
@pytest.mark.parametrize("password", ["password", "1234567890", "short"])
def test_a_password_that_everybody_tries_is_refused(password):
    with pytest.raises(ValidationError):
        validate_password(password)


@guarded_by(GUESSES)
def test_guessing_a_password_has_an_end():
    make_user("ann")
    for number in range(11):
        Client().post("/sign-in/", {"username": "ann", "password": f"guess {number}"})
    assert Client().post("/sign-in/", {"username": "ann", "password": PASSWORD}).status_code == 429


def test_a_setting_that_cannot_be_read_stops_the_start(tmp_path):
    with pytest.raises(ImproperlyConfigured):
        database("mysql://localhost/x", tmp_path, "")


def _another_project(owner: User, victim: User) -> None:
    Membership.objects.create(project=make_project(), person=victim, role=Role.VALIDATOR)


def _signed_in(owner: User, victim: User) -> None:
    Client().force_login(victim)


def _has_a_token(owner: User, victim: User) -> None:
    make_token(victim, name="script")


def _closed(owner: User, victim: User) -> None:
    User.objects.filter(pk=victim.pk).update(is_active=False)


def _chose_their_own(owner: User, victim: User) -> None:
    User.objects.filter(pk=victim.pk).update(password_is_temporary=False)


def _administers(owner: User, victim: User) -> None:
    User.objects.filter(pk=victim.pk).update(is_superuser=True)


@guarded_by(UNUSED)
@pytest.mark.parametrize(
    "became", [_another_project, _signed_in, _has_a_token, _closed, _chose_their_own, _administers]
)
def test_a_researcher_does_not_take_over_an_account_by_a_new_password(client, became):
    project = make_project()
    owner = make_member(project, Role.RESEARCHER)
    added = add_member(owner, project, "nora", [Role.ANNOTATOR], new_account=True)
    became(owner, added.person)
    client.force_login(owner)
    client.post(f"/projects/{project.slug}/people/", {"renew": added.person.pk})
    assert User.objects.get(username="nora").check_password(added.password)


@guarded_by(UNUSED)
@pytest.mark.parametrize("temporary", [True, False])
def test_nor_an_account_that_another_project_made_and_that_was_added(client, temporary):
    project, theirs = make_project(), make_project()
    owner, other = (make_member(each, Role.RESEARCHER) for each in (project, theirs))
    nora = add_member(other, theirs, "nora", [Role.ANNOTATOR], new_account=True)
    User.objects.filter(pk=nora.person.pk).update(password_is_temporary=temporary)
    add_member(owner, project, "nora", [Role.ANNOTATOR])
    # Even once it has left the project that made it.
    Membership.objects.filter(project=theirs, person=nora.person).delete()
    client.force_login(owner)
    client.post(f"/projects/{project.slug}/people/", {"renew": nora.person.pk})
    assert User.objects.get(username="nora").check_password(nora.password)
