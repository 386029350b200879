"""What all pages share: the links of the app bar, the content policy, the pages of errors."""

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from foilworks.navigation import PAGES
from projects.models import Role
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db

INLINE = re.compile(rb"""\sstyle\s*=|\son[a-z]+\s*=\s*["']|javascript:|<style""", re.IGNORECASE)
SCRIPT = re.compile(rb"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL | re.IGNORECASE)


def links_of(response) -> list[dict]:
    return [link for group in response.context["navigation"]() for link in group["links"]]


@pytest.mark.parametrize("role", Role.values)
def test_every_link_of_the_bar_opens_for_who_sees_it(role: str) -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, role))
    first = client.get(reverse("annotation:work", args=[project.slug]))
    groups = first.context["navigation"]()
    assert [group["label"] for group in groups if group["current"]] == ["Work"]
    for link in links_of(first):
        page = client.get(link["url"], follow=True)
        assert (link["url"], page.status_code) == (link["url"], 200)
        assert [other["url"] for other in links_of(page) if other["current"]] == [link["url"]]


def test_a_researcher_sees_every_page_of_the_bar_and_nobody_outside_a_project_any() -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "researcher"))
    response = client.get(reverse("evaluation:dashboard", args=[project.slug]))
    assert len(links_of(response)) == len(PAGES)
    # Few enough words to stand beside the project's name.
    assert len(response.context["navigation"]()) <= 8
    assert client.get(reverse("home")).context["navigation"] == []


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_pages_carry_no_inline_style_or_script_and_forbid_them(name: str) -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, *Role.values))
    response = client.get(reverse(name, args=[project.slug]), follow=True)
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert INLINE.findall(response.content) == []
    for script in SCRIPT.finditer(response.content):
        assert b"src=" in script["attributes"] or b"application/json" in script["attributes"]


def test_an_address_that_leads_nowhere_says_so() -> None:
    client = Client()
    client.force_login(make_member(make_project(), "annotator"))
    response = client.get("/projects/no-such-project/work/")
    assert response.status_code == 404
    assert b"There is nothing at this address" in response.content


def test_a_role_that_is_missing_is_named() -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "annotator"))
    response = client.get(reverse("annotation:queue", args=[project.slug, "review"]))
    assert response.status_code == 403
    assert b"This needs the role reviewer" in response.content


def test_a_form_without_its_token_is_explained() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_member(project := make_project(), "annotator"))
    response = client.post(reverse("annotation:queue", args=[project.slug, "edit"]))
    assert response.status_code == 403
    assert b"This form had expired" in response.content


def test_the_page_of_a_crash_needs_no_context() -> None:
    page = render_to_string("500.html")
    assert "Something broke on our side" in page
    assert "/static/foilworks/tokens.css" in page
