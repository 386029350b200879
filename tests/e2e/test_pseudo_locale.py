"""No text is cut off when a language is 40 % longer, on a phone and on a desk."""

from typing import Any

import pytest
from playwright.sync_api import Page

from foilworks.core.projects.models import User
from tests import pseudo
from tests.e2e.conftest import SignIn
from tests.e2e.tabs import NARROW, WIDE
from tests.every_page import Visit, page_of, visits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full, pytest.mark.slow(seconds=120)]
# Texts that their box hides, and controls that their text leaves. What scrolls is not cut, nor what only screen readers
# hear, nor data: an ellipsis shortens names.
CUT = """() => {
  const cut = [];
  const say = (why, one) => cut.push(`${why}: ${one.tagName.toLowerCase()} “${one.innerText.trim().slice(0, 80)}”`);
  const hides = (value) => value === "hidden" || value === "clip";
  const left_out = ".visually-hidden, [translate=no], svg, dialog:not([open])";
  for (const one of document.querySelectorAll("body *")) {
    if (!one.innerText?.includes("⟦") || one.closest(left_out) || !one.checkVisibility()) continue;
    const style = getComputedStyle(one);
    if (style.display === "inline" || style.clipPath.startsWith("inset(50")) continue;
    const wider = one.scrollWidth - one.clientWidth, higher = one.scrollHeight - one.clientHeight;
    if (hides(style.overflowX) && wider > 1) say("hidden at the side", one);
    if (hides(style.overflowY) && higher > 2) say("hidden below", one);
    const control = one.matches("button, .btn, .badge, .chip, summary");
    if (control && style.overflowX === "visible" && wider > 1) say("leaves its box", one);
  }
  for (const one of document.querySelectorAll("input[placeholder]")) {
    // A placeholder widens nothing; a value does.
    const typed = one.value;
    one.value = one.placeholder;
    if (one.checkVisibility() && one.scrollWidth > one.clientWidth + 1) cut.push(`placeholder: ${one.placeholder}`);
    one.value = typed;
  }
  const page = document.documentElement.scrollWidth - window.innerWidth;
  if (page > 0) cut.push(`the page is ${page} px wider than its window`);
  return cut;
}"""


@pytest.fixture
def walk(settings: Any, tmp_path: Any) -> dict[User | None, list[Visit]]:
    """The whole pages that a GET answers, by the person who sees them."""
    pseudo.install(settings, tmp_path)
    settings.MEDIA_ROOT, settings.UPLOAD_ROOT = tmp_path, tmp_path / "uploads"
    found: dict[User | None, list[Visit]] = {}
    for visit in visits(tmp_path):
        if visit.data is None and "<html" in page_of(visit):
            found.setdefault(visit.person, []).append(visit)
    return found


def test_no_page_cuts_a_longer_text(walk: dict[User | None, list[Visit]], open_tab: Any, sign_in: SignIn) -> None:
    faults: dict[str, list[str]] = {}
    for person, seen in walk.items():
        wishes: dict[str, Any] = {"locale": "en-XA", "expected": ["status of 4", "404", "Failed to load"]}
        page: Page = sign_in(person, **wishes) if person else open_tab(**wishes)
        for visit in seen:
            page.goto(visit.address)
            assert "⟦" in page.content()
            page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
            for size in (WIDE, NARROW):
                page.set_viewport_size(size)
                if cut := page.evaluate(CUT):
                    faults[f"{visit.name} {size['width']}"] = cut
    assert faults == {}


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<p style="width: 9ch; overflow: hidden; white-space: nowrap">⟦{}⟧</p>', "hidden at the side: p"),
        ('<p style="width: 9ch; height: 1em; overflow: hidden">⟦{}⟧</p>', "hidden below: p"),
        ('<button style="width: 9ch; white-space: nowrap; overflow: visible">⟦{}⟧</button>', "leaves its box: button"),
        ('<input style="width: 9ch" placeholder="⟦{}⟧">', "placeholder: "),
        ('<p style="width: 200vw">⟦{}⟧</p>', "the page is 1280 px wider"),
    ],
)
def test_a_text_that_is_cut_is_found(open_tab: Any, html: str, fault: str) -> None:
    page: Page = open_tab()
    page.set_content("<style>* { margin: 0 }</style>" + html.format("Ŝåṽé " * 5))
    found = page.evaluate(CUT)
    assert len(found) == 1
    assert found[0].startswith(fault)
