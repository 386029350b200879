"""What all pages share: the links of the app bar, the content policy, the pages of errors."""

import re

import pytest
from django.conf import settings
from django.templatetags.static import static
from django.test import Client
from django.urls import reverse

from evaluation.ladder.ladders import ladder_of_release
from evaluation.ladder.needs_context import needs_context
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, Role
from foilworks.core.projects.templatetags.wording import stimulus
from foilworks.site.navigation import PAGES
from tests.evaluation.ladders import make_laddered
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

pytestmark = pytest.mark.django_db

INLINE = re.compile(rb"""\sstyle\s*=|\son[a-z]+\s*=\s*["']|javascript:|<style""", re.IGNORECASE)
OF_A_DATASET = re.compile(
    r'<\w+ class="(choice-text )?(sentence( muted)?|diff js-only)"[^>]*>|<textarea class="input"[^>]*>'
)
SCRIPT = re.compile(rb"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL | re.IGNORECASE)


def links_of(response) -> list[dict]:
    return [link for group in response.context["navigation"]() for link in group["links"]]


@pytest.mark.parametrize("role", Role.values)
def test_every_link_of_the_bar_opens_for_the_people_who_see_it(role: str) -> None:
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
    response = client.get(reverse("dashboard:dashboard", args=[project.slug]))
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


def test_texts_of_a_dataset_use_their_own_text_direction() -> None:
    """Captions, foils and the boxes that they are written in; the landing page's examples name their language."""
    pages = [path.read_text(encoding="utf-8") for path in (settings.PACKAGE / "templates").rglob("*.html")]
    found = [tag.group() for page in pages for tag in OF_A_DATASET.finditer(page)]
    assert len(found) > 20
    assert [tag for tag in found if not any(said in tag for said in ('dir="auto"', 'lang="', "{% stimulus "))] == []
    assert 'dir="auto"' in stimulus("a dot moves")


def test_an_unknown_address_says_so() -> None:
    client = Client()
    client.force_login(make_member(make_project(), "annotator"))
    response = client.get("/projects/no-such-project/work/")
    assert response.status_code == 404
    assert b"Page not found" in response.content


def test_a_role_that_is_missing_is_named() -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "annotator"))
    response = client.get(reverse("annotation:queue", args=[project.slug, "review"]))
    assert response.status_code == 403
    assert b"You need the role reviewer" in response.content


def test_a_form_without_its_token_is_explained() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_member(project := make_project(), "annotator"))
    response = client.post(reverse("annotation:queue", args=[project.slug, "edit"]))
    assert response.status_code == 403
    assert b"Form expired" in response.content


def test_an_address_for_forms_only_says_so_and_links_on() -> None:
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "annotator"))
    response = client.get(reverse("annotation:skip", args=[project.slug, "x"]))
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert b"This address only accepts form submissions" in response.content
    assert b'href="/"' in response.content


@pytest.mark.parametrize("signed_in", [False, True])
def test_the_page_of_a_database_crash_queries_no_database(signed_in: bool, django_db_blocker) -> None:
    client = Client(raise_request_exception=False, headers={"X-Request-ID": "asked-number-1"})
    if signed_in:
        client.force_login(make_member(make_project(), "annotator"))
    with django_db_blocker.block():
        response = client.get("/projects/shapes/work/" if signed_in else "/sign-in/")
    page = response.content.decode()
    assert response.status_code == 500
    assert "Something went wrong on our side" in page
    assert static("foilworks/base.css") in page
    # By this it is found in the log.
    assert response.headers["X-Request-ID"] == "asked-number-1"
    assert ">asked-number-1<" in page
    assert INLINE.findall(response.content) == []


def test_a_visitor_reads_about_foilworks_but_not_about_this_installation(django_assert_num_queries) -> None:
    make_project(name="Secret kitchen")
    client = Client()
    with django_assert_num_queries(1):  # whether a sample project offers accounts
        response = client.get("/")
    page = response.content.decode()
    assert response.status_code == 200
    assert "a blue ring moves" in page
    assert reverse("projects:sign_in") in page
    assert "Secret kitchen" not in page
    assert "sample project" not in page
    assert INLINE.findall(response.content) == []
    make_project(is_simulated=True, sign_in_hint={"accounts": []})
    assert "sample project" in client.get("/").content.decode()


def test_a_visitor_sees_what_the_sample_project_needs() -> None:
    project = make_project()
    person, subtest = make_member(project, "researcher"), make_subtest(project)
    for number in range(24):
        # Each word is right as often as wrong, so that no solver of texts answers the items.
        right, wrong = ("runs", "walks") if number % 2 else ("walks", "runs")
        caption = make_caption(make_video(project), f"a dog {right} past number {number}.")
        make_item(subtest, caption, (f"a dog {wrong} past number {number}.",), state=ItemState.VALID)
    release = freeze_release(person, project, override="the words are those of a test of ladders")
    ids = [record["id"] for record in release.members.order_by("position").values_list("record", flat=True)]
    reach = {"no_clip": 8, "best_frame": 16, "shuffled": 20, "full": 23}
    make_laddered(person, release, {rung: ids[:count] for rung, count in reach.items()})
    Project.objects.filter(pk=project.pk).update(is_simulated=True, sign_in_hint={"accounts": []})
    page = Client().get("/").content.decode()
    shown = page[page.index("What the sample project needs") :].partition("</section>")[0]
    assert f"<p>{needs_context(ladder_of_release(release))['headline']}</p>" in shown
    assert re.search(r'<figure class="chart waterfall">.*<svg', shown, re.DOTALL)
    assert INLINE.findall(page.encode()) == []
