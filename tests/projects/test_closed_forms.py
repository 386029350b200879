"""Forms that somebody cannot use say so before they are filled in."""

import html
import re

import pytest
from django.test import Client

from foilworks.core.projects.forms.registry_entry import as_sentence
from foilworks.core.projects.models import Project
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_user, make_video

pytestmark = pytest.mark.django_db
HINT = {"accounts": [{"username": "demo", "role": "researcher", "password": "published"}]}


@pytest.fixture
def demo(client: Client) -> Project:
    """A demo project whose researcher's password is published; the client is signed in as that researcher."""
    project = make_project(slug="demo", is_simulated=True, sign_in_hint=HINT)
    client.force_login(make_member(project, "researcher", name="demo"))
    return project


def shown(client: Client, path: str) -> str:
    return html.unescape(client.get(path).content.decode())


PATHS = {
    "/projects/demo/invitations/": "Demo accounts cannot invite people. Sign in with your own account.",
    "/projects/demo/crowd/": "Demo accounts cannot create studies. Sign in with your own account.",
    "/tokens/": "Demo accounts cannot have tokens. Sign in with your own account.",
    "/password/": "This is a demo account with a public password. Its password cannot be changed.",
    "/account/": "This is a demo account. Do not enter a name or an address here.",
    "/account/erase/": "This is a demo account, which everybody shares. It cannot be erased.",
}


@pytest.mark.parametrize(("path", "words"), PATHS.items())
def test_a_demo_account_reads_why_a_form_is_closed(demo: Project, client: Client, path: str, words: str) -> None:
    page = shown(client, path)
    assert f'<p class="notice notice-warn" data-closed>{words}</p>' in page
    assert '<fieldset class="form" disabled>' in page


@pytest.mark.parametrize("path", PATHS)
def test_other_people_find_the_same_form_open(demo: Project, client: Client, path: str) -> None:
    client.force_login(make_member(demo, "researcher", name="nora"))
    page = shown(client, path)
    assert "data-closed" not in page
    assert '<fieldset class="form">' in page


def test_a_demo_account_adds_people_who_have_an_account(demo: Project, client: Client) -> None:
    page = shown(client, "/projects/demo/people/")
    assert re.search(r'<input type="checkbox" name="new_account"[^>]* disabled', page)
    assert "Demo accounts cannot create accounts. Sign in with your own account." in page
    make_user("zoe")
    sent = {"username": "zoe", "roles": ["annotator"], "new_account": "on"}
    assert client.post("/projects/demo/people/", sent).status_code == 302
    assert demo.memberships.filter(person__username="zoe").exists()


def test_a_demo_account_is_not_led_to_a_second_factor(demo: Project, client: Client) -> None:
    page = shown(client, "/account/")
    assert "A second factor would lock out the next visitor" in page
    assert "Set up" not in page


def test_a_baseline_without_valid_items_is_closed(client: Client) -> None:
    project = make_project(slug="dots")
    client.force_login(make_member(project, "researcher"))
    page = shown(client, "/projects/dots/studies/")
    assert "There are no valid items with a video. Validate items first." in page
    assert "There are no captions yet. Import videos with captions first." in page
    caption = make_caption(make_video(project, media_state="ready"), "a dog runs.")
    make_item(make_subtest(project), caption, ("a dog sleeps.",), state="valid")
    page = shown(client, "/projects/dots/studies/")
    assert "data-closed" not in page
    assert "There are no captions yet" not in page


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("max foils per caption", "Max foils per caption."),
        ("any: every number word", "any: every number word"),
        ("best (ViLMA: 10)", "Best (ViLMA: 10)"),
        ("", ""),
    ],
)
def test_the_help_of_a_parameter_is_a_sentence_on_its_page(words, shown):
    assert as_sentence(words) == shown
