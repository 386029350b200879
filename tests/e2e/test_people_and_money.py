"""Pay, crowd entries and translators, in browsers of two languages."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Vote
from annotation.queries.paid_work import rates_of
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.models import CrowdPlace, CrowdStudy, Project
from tests.e2e.conftest import CAPTION, WORK, OpenTab, SignIn, film, moving_dot, wait_for
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.full]

LOCALES = pytest.mark.parametrize("locale", ["en-US", "de-DE"])
FOIL = "a red dot moves to the left."
# What the translator of Chrome does: it wraps and replaces the text of what may be translated, or of everything.
TRANSLATE = """(everything) => {
  document.documentElement.classList.add("translated-ltr");
  document.documentElement.lang = "de";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  for (const node of nodes) {
    const parent = node.parentElement;
    if (!parent || !node.data.trim() || !(everything || parent.translate)) continue;
    if (["SCRIPT", "STYLE", "TEXTAREA"].includes(parent.tagName)) continue;
    const outer = document.createElement("font"), inner = document.createElement("font");
    inner.textContent = node.data.replace(/left|right/g, "links");
    outer.append(inner);
    node.replaceWith(outer);
  }
}"""


@pytest.fixture
def dots() -> Subtest:
    subtest = make_subtest(make_project(slug="dots", name="Dots"), name="direction")
    for number in range(3):
        video = film(subtest.project, moving_dot(), 12.0, key=f"clip{number}")
        make_item(subtest, caption=make_caption(video, CAPTION), foils=(FOIL,))
    make_tasks(subtest.project)
    return subtest


def opened_study(project: Project, **fields: object) -> CrowdStudy:
    rest = {"platform_study": "S1", "stage": "validation", "role": "validator", "pieces": 2, "places": 1, **fields}
    return CrowdStudy.objects.create(project=project, name="pilot", completion_code="CODE42", **rest)


def enter(page: Page, study: CrowdStudy) -> None:
    page.goto(f"/enter/{study.key}/?PROLIFIC_PID=worker1&STUDY_ID=S1&SESSION_ID=visit1")
    page.get_by_role("button", name="Take a place and start").click()


def judge(page: Page, key: str = "1") -> None:
    page.wait_for_selector(WORK)
    before = page.url
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)


def forget(page: Page) -> None:
    """Lose the browser: no request that is still under way sets a cookie again."""
    page.goto("about:blank")
    page.context.clear_cookies()


def texts(page: Page) -> list[str]:
    return sorted(text.strip() for text in page.locator(".pair .sentence").all_text_contents())


@LOCALES
def test_an_amount_with_a_comma_is_stored_and_repeated_in_words(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    page = sign_in(make_member(dots.project, "researcher"), locale=locale, expected=("422",))
    for typed in ("0,12", "0.12"):
        page.goto("/projects/dots/people/pay/")
        box = page.get_by_label("Amount for: validation")
        box.press_sequentially(typed) if not box.input_value() else box.fill(typed)
        page.get_by_role("button", name="Save").click()
        words = "0.12 EUR per task; 10 tasks pay 1.20 EUR"
        expect(page.get_by_role("cell", name=words)).to_be_visible()
        assert rates_of(dots.project)["validation"].amount == Decimal("0.12")
    box.fill("1.234,5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("can be read in several ways")).to_be_visible()
    assert (box.input_value(), rates_of(dots.project)["validation"].amount) == ("1.234,5", Decimal("0.12"))


@LOCALES
@pytest.mark.parametrize("way", ["the same link", "the one-time link"])
def test_a_worker_who_lost_the_browser_comes_back(
    dots: Subtest, sign_in: SignIn, open_tab: OpenTab, locale: str, way: str
) -> None:
    study, owner = opened_study(dots.project), make_member(dots.project, "researcher")
    page = open_tab(locale=locale, expected=("403",))
    enter(page, study)
    judge(page)
    forget(page)
    enter(page, study)
    expect(page.get_by_text("ask the researchers to release your place")).to_be_visible()

    desk = sign_in(owner)
    desk.goto(f"/projects/dots/crowd/{study.pk}/")
    desk.get_by_role("button", name=re.compile("^Release")).click()
    link = re.search(r"http\S+/enter/\S+", desk.get_by_text("one-time link").inner_text())
    if way == "the same link":
        enter(page, study)
    else:
        # A closed study is no obstacle for those who are in it.
        CrowdStudy.objects.update(is_open=False)
        page.goto(link[0])
        page.get_by_role("button", name="Take a place and start").click()
    judge(page)
    place = CrowdPlace.objects.get()
    assert (place.state, Vote.objects.filter(person=place.person, state="counted").count()) == ("active", 2)
    page.goto("/projects/dots/place/")
    page.get_by_role("button", name=re.compile("Finish and show")).click()
    expect(page.get_by_text("CODE42")).to_be_visible()

    # A person who closed the page before copying the code gets it back by a new link, once.
    forget(page)
    desk.goto(f"/projects/dots/crowd/{study.pk}/")
    desk.get_by_role("button", name=re.compile("^Return link")).click()
    link = re.search(r"http\S+/enter/\S+", desk.get_by_text("one-time link").inner_text())
    for words in ("CODE42", "The link was already used"):
        page.goto(link[0])
        page.get_by_role("button", name="Take a place and start").click()
        expect(page.get_by_text(words)).to_be_visible()
        forget(page)


@LOCALES
@pytest.mark.parametrize("everything", [False, True], ids=["obedient", "disobedient"])
def test_a_translated_sentence_is_restored_and_judged_again(
    dots: Subtest, sign_in: SignIn, locale: str, everything: bool
) -> None:
    vera = make_member(dots.project, "validator")
    page = sign_in(vera, locale=locale)
    page.goto("/projects/dots/work/validation/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    assert texts(page) == [FOIL, CAPTION]
    assert {e.evaluate("e => [e.translate, e.lang, e.dir].join()") for e in page.locator(".sentence").all()} == {
        "false,und,auto"
    }
    page.keyboard.press("3")
    page.evaluate(TRANSLATE, everything)
    assert texts(page) == [FOIL, CAPTION]
    if everything:
        expect(page.get_by_text("Your browser changed a sentence.")).to_be_visible()
        before = page.url
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(300)
        assert (page.url, Vote.objects.count()) == (before, 0)
    judge(page, "1" if everything else "3")
    wait_for(page, Vote.objects.exists)
    watch = Vote.objects.get().watch
    assert (watch.get("changed", 0), watch["translated"]) == (int(everything), 1)
    # The next card is whole and says nothing.
    expect(page.locator("[data-stimulus-changed]")).to_be_hidden()


def test_an_extension_that_never_stops_changing_a_sentence_sends_nothing(dots: Subtest, sign_in: SignIn) -> None:
    page = sign_in(make_member(dots.project, "validator"))
    page.goto("/projects/dots/work/validation/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)
    for number in range(6):
        page.locator(".sentence").first.evaluate("(e, n) => { e.textContent = `word ${n}` }", number)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert not Vote.objects.exists()
    # The way out stays: the task can be skipped.
    page.locator(".work-actions button[form='skip']").click()
    expect(page.locator("#skip-why")).to_be_visible()
