"""Sign-in: a demo's accounts are offered there, and only there; nobody else's ever are."""

import pytest
from django.urls import reverse

from foilworks.core.projects.models import Role, User
from tests.factories import make_member, make_project, make_user
from tests.pages import read_page

pytestmark = pytest.mark.django_db
URL = "/sign-in/"
HINT = {"accounts": [{"username": "demo-reviewer", "role": "reviewer", "password": "correct horse"}]}


def test_a_person_signs_in_and_comes_to_their_projects(client):
    make_user("ann")
    response = client.post(URL, {"username": "ann", "password": "correct horse"})
    assert (response.status_code, response["Location"]) == (302, reverse("home"))


def test_a_person_returns_to_the_page_they_wanted(client):
    project = make_project()
    make_member(project, Role.RESEARCHER, name="ann")
    wanted = reverse("corpus:videos", args=[project.slug])
    asked = client.get(wanted)
    assert asked["Location"] == f"{URL}?next={wanted}"
    page = client.get(asked["Location"])
    assert read_page(page).fields["next"] == wanted
    answer = client.post(URL, {"username": "ann", "password": "correct horse", "next": wanted})
    assert answer["Location"] == wanted


def test_another_site_is_never_the_next_page(client):
    make_user("ann")
    answer = client.post(URL, {"username": "ann", "password": "correct horse", "next": "https://evil.example/"})
    assert answer["Location"] == reverse("home")


def test_a_wrong_password_is_said_so_without_naming_which_was_wrong(client):
    make_user("ann")
    response = client.post(URL, {"username": "ann", "password": "wrong"})
    assert response.status_code == 200
    assert "correct username and password" in response.content.decode()


def test_the_accounts_of_a_demo_are_offered_one_button_each(client):
    project = make_project(name="Shapes", is_simulated=True, sign_in_hint=HINT)
    make_member(project, Role.REVIEWER, name="demo-reviewer")
    page = read_page(client.get(URL))
    page.check("Sign in as reviewer", "reviewer: checks foils", "For a project of your own")
    assert "demo-reviewer" in [field.attributes.get("value") for field in page.all("input", "button")]
    User.objects.create_superuser("olga")
    assert "For a project of your own" not in client.get(URL).content.decode()
    assert client.post(URL, {"username": "demo-reviewer", "password": "correct horse"}).status_code == 302


def test_without_a_demo_nothing_is_offered(client):
    make_project()
    assert "Sign in as" not in client.get(URL).content.decode()


def test_a_real_project_never_publishes_accounts(client):
    make_project(is_simulated=False, sign_in_hint=HINT)
    html = client.get(URL).content.decode()
    assert "Sign in as" not in html
    assert "demo-reviewer" not in html


def test_signing_out_takes_a_post(client):
    client.force_login(make_user())
    assert client.get("/sign-out/").status_code == 405
    response = client.post("/sign-out/")
    assert (response.status_code, response["Location"]) == (302, URL)
    assert client.get("/account/").status_code == 302


def test_an_empty_installation_says_how_the_first_account_is_made(client):
    assert "foilworks createsuperuser" in client.get(URL).content.decode()
    make_user()
    assert "createsuperuser" not in client.get(URL).content.decode()


def test_healthz_answers_without_an_account(client):
    response = client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"ok": True})
