"""The pages at /help/: every page of docs/ for users, whole, and every "Learn more" leads to one."""

import html
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from foilworks.site.help_pages import DOCS, help_address, help_names, help_page
from scripts.doc_pages import anchors
from tests.rows import for_each

TEMPLATES = Path(settings.BASE_DIR) / "templates"
LEARN_MORE = re.compile(r'{% learn_more "([^"]*)" %}')
CODE = re.compile(r"<(pre|code)\b.*?</\1>", re.DOTALL)
# Pages where a researcher needs the reasons or the steps.
NEED_HELP = (
    "generation/new_run.html",
    "evaluation/release.html",
    "evaluation/bias/overview.html",
    "annotation/gold.html",
    "annotation/quality.html",
    "evaluation/new_import.html",
    "evaluation/releases.html",
    "projects/create_project.html",
    "projects/tokens.html",
)

pytestmark = pytest.mark.django_db


def targets() -> dict[str, list[str]]:
    found = {path: LEARN_MORE.findall(path.read_text(encoding="utf-8")) for path in TEMPLATES.rglob("*.html")}
    return {path.relative_to(TEMPLATES).as_posix(): targets for path, targets in found.items() if targets}


def test_the_shelves_for_users_are_served() -> None:
    assert {"index", "tutorial", "how-to/score", "explanation/agreement", "reference/formulas"} <= help_names()
    # For developers: they have the clone.
    assert not [name for name in help_names() if name.startswith(("decisions", "testing", "where-to-change"))]


@for_each("name", sorted(help_names()))
def test_a_page_is_whole(name: str) -> None:
    answer = Client().get(help_address(name))
    assert answer.status_code == 200
    page, body = help_page(name), answer.content.decode()
    assert f'<h1 lang="en">{html.escape(page.title, quote=True)}</h1>' in body
    prose = CODE.sub("", page.html)
    # No Markdown, directive or comment is left.
    assert not re.findall(r"\]\(|\{toctree|```|&lt;!--|<!--|\)=|&lt;br|^#+ ", prose, re.MULTILINE)
    ids = re.findall(r' id="([^"]+)"', body)
    assert len(ids) == len(set(ids))


@for_each("name", sorted(help_names()))
def test_every_link_of_a_page_leads_to_a_page_and_a_place(name: str) -> None:
    links = re.findall(r'href="([^"]+)"', help_page(name).html)
    inside = [link for link in links if not link.startswith(("https://", "http://", "mailto:"))]
    places = {help_address(other): help_page(other).anchors for other in help_names()}
    for link in inside:
        page, _hash, anchor = link.partition("#")
        assert page in places, link
        assert not anchor or anchor in places[page], link


@for_each("name", sorted(help_names()))
def test_the_anchors_are_those_of_the_repository(name: str) -> None:
    assert help_page(name).anchors >= anchors((DOCS / f"{name}.md").read_text(encoding="utf-8"))


def test_every_learn_more_leads_to_a_page_and_a_place() -> None:
    found = targets()
    assert set(NEED_HELP) <= set(found)
    for target in {target for of_page in found.values() for target in of_page}:
        page, _hash, anchor = target.partition("#")
        name = page.removeprefix("docs/").removesuffix(".md")
        assert page == f"docs/{name}.md"
        assert name in help_names(), target
        assert not anchor or anchor in help_page(name).anchors, target
        assert Client().get(help_address(name)).status_code == 200


@pytest.mark.parametrize("name", ["nowhere", "decisions/index", "../README", "how-to/../index", "how-to/score.md"])
def test_nothing_else_is_served(name: str) -> None:
    assert Client().get(f"/help/{name}/").status_code == 404


def test_a_link_to_a_page_for_developers_is_its_text() -> None:
    page = Client().get(reverse("help")).content.decode()
    assert "<a" not in page[page.index("where to change") - 5 : page.index("where to change")]


def test_html_in_a_page_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tutorial.md").write_text("# T\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n")
    monkeypatch.setattr("foilworks.site.help_pages.DOCS", tmp_path)
    page = help_page.__wrapped__("tutorial")
    assert "<script" not in page.html
    assert "href" not in page.html


def test_the_menu_of_a_person_leads_there(client: Client, django_user_model) -> None:
    client.force_login(django_user_model.objects.create_user("ann"))
    assert f'href="{reverse("help")}"' in client.get(reverse("home")).content.decode()
