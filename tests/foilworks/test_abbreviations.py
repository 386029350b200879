"""An abbreviation says what it means where a page first uses it, and the glossary lists all of them."""

import re
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import override_settings

from foilworks.core.projects.abbreviations import ABBREVIATIONS, explain, found_in
from foilworks.site.help_pages import DOCS
from tests.every_page import Visit, page_of, visits

PART = re.compile(r"(<!--.*?-->|<[^>]+>)", re.DOTALL)
# Code, what cannot hold an element, and the title of the window.
SKIPPED = {"head", "code", "kbd", "option", "pre", "samp", "script", "style", "svg", "textarea", "time"}


@pytest.fixture(scope="module")
def walk(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[list[Visit]]:
    folder = tmp_path_factory.mktemp("pages")
    files = {"MEDIA_ROOT": folder, "UPLOAD_ROOT": folder / "uploads"}
    with django_db_blocker.unblock(), transaction.atomic(), override_settings(**files):
        yield [visit for visit in visits(folder) if visit.data is None and not visit.name.startswith("help")]
        transaction.set_rollback(True)


def unexplained(page: str) -> list[str]:
    """Return each known abbreviation whose first appearance on the page is in no `<abbr>`, with its text."""
    seen: set[str] = set()
    faults, opened, skipped = [], "", ""
    for part in PART.split(page):
        if part.startswith("<"):
            opened = part
            name = re.match(r"</?(\w*)", part)[1]
            if not skipped and name in SKIPPED and not part.startswith("</"):
                skipped = name
            elif part == f"</{skipped}>":
                skipped = ""
            continue
        for known, _match in found_in(part) if not skipped else ():
            if known not in seen and not opened.startswith("<abbr title="):
                faults.append(f"{known}: {' '.join(part.split())[:80]}")
            seen.add(known)
    return faults


@pytest.mark.django_db
def test_every_abbreviation_of_every_page_is_explained(walk: list[Visit]) -> None:
    found, explained = {}, set()
    for visit in walk:
        with transaction.atomic():
            page = page_of(visit)
            transaction.set_rollback(True)
        explained |= {known for known in ABBREVIATIONS if f">{known}</abbr>" in page}
        if faults := unexplained(page):
            found[visit.name] = faults
    assert found == {}
    assert {"P+T", "T", "P", "JS", "alpha", "kappa", "UTD", "RCAD", "API"} <= explained


def test_the_first_of_a_part_is_explained_and_the_others_stay() -> None:
    html = explain("<p title='JS'>JS is not <code>JS</code>, JS</p>")
    title = ABBREVIATIONS["JS"]
    assert html == f"<p title='JS'><abbr title=\"{title}\">JS</abbr> is not <code>JS</code>, JS</p>"
    assert unexplained("<p>a JS</p>") == ["JS: a JS"]
    assert unexplained(html) == []
    # A part inside another.
    assert explain(html) == html


@pytest.mark.parametrize("text", ["a T shirt", "P. Smith", "item-JS", "APIs.md", "Capital alphabet", "a.js"])
def test_other_letters_are_not_explained(text: str) -> None:
    assert explain(f"<p>{text}</p>") == f"<p>{text}</p>"


@pytest.mark.parametrize("text", ["T", "ranked by T.", "T, P and P+T", "Alpha", "Fleiss' kappa"])
def test_metrics_are_abbreviations_where_the_text_speaks_of_them(text: str) -> None:
    assert "<abbr title=" in explain(f"<th>{text}</th>")


def test_the_glossary_lists_every_abbreviation_with_the_same_words() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", (DOCS / "reference/glossary.md").read_text(encoding="utf-8"), re.M)
    assert {name: str(meaning) for name, meaning in ABBREVIATIONS.items()}.items() <= dict(rows).items()
