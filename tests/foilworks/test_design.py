"""The page of the design system shows every component that the style sheet has."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from foilworks.core.projects.models import User

pytestmark = pytest.mark.django_db
STYLES = Path("static/foilworks")
CLASS = re.compile(r"\.([a-zA-Z][\w-]*)")
# Colors of a drawing: each chart has those that it needs.
OF_DRAWINGS = re.compile(r"(fill|stroke)-")
# The last part of the style sheet of components: only pages about a clip have a player.
PLAYER = "/* The video player"
# A script makes them, or only error pages and lists of Django have them.
ELSEWHERE = {"errorlist", "undo-offer", "waterfall", "waterfall-headline"}


class Classes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update((dict(attrs).get("class") or "").split())


def classes_of(sheet: str) -> set[str]:
    text = (STYLES / sheet).read_text(encoding="utf-8").partition(PLAYER)[0]
    rules = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return {name for name in CLASS.findall(rules) if not OF_DRAWINGS.match(name)}


@pytest.fixture
def page() -> str:
    client = Client()
    client.force_login(User.objects.create_user("ann", password="correct horse battery"))
    return client.get(reverse("design")).content.decode()


def test_every_class_of_the_components_is_on_the_page(page):
    shown = Classes()
    shown.feed(page)
    wanted = classes_of("components.css")
    assert len(wanted) > 50
    assert sorted(wanted - shown.found - ELSEWHERE) == []


def test_every_class_of_its_own_style_sheet_is_used(page):
    shown = Classes()
    shown.feed(page)
    assert sorted(classes_of("design.css") - shown.found) == []


def test_a_field_shows_its_help_and_its_error(page):
    assert "Shown on the leaderboard." in page
    assert "errorlist" in page
    assert 'aria-invalid="true"' in page


def test_visitors_sign_in_first():
    response = Client().get(reverse("design"))
    assert (response.status_code, response["Location"].partition("?")[0]) == (302, reverse("projects:sign_in"))
