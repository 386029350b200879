"""Pay, crowd entries, consent, quotas and translators, in browsers of two languages."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import PayEntry, Vote
from annotation.queries.paid_work import rates_of
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.projects.actions.consent import publish_consent_text
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
    page.get_by_role("button", name="Accept and start").click()


def judge(page: Page, key: str = "1") -> None:
    page.wait_for_selector(WORK)
    before = page.url
    page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)


def begin(page: Page) -> None:
    page.goto("/projects/dots/work/validation/")
    page.keyboard.press("n")
    page.wait_for_selector(WORK)


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
        page.get_by_role("button", name="Accept and start").click()
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
        page.get_by_role("button", name="Accept and start").click()
        expect(page.get_by_text(words)).to_be_visible()
        forget(page)


@LOCALES
@pytest.mark.parametrize("everything", [False, True], ids=["obedient", "disobedient"])
def test_a_translated_sentence_is_restored_and_judged_again(
    dots: Subtest, sign_in: SignIn, locale: str, everything: bool
) -> None:
    vera = make_member(dots.project, "validator")
    page = sign_in(vera, locale=locale)
    begin(page)
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
    begin(page)
    for number in range(6):
        page.locator(".sentence").first.evaluate("(e, n) => { e.textContent = `word ${n}` }", number)
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(300)
    assert not Vote.objects.exists()
    # The way out stays: the task can be skipped.
    page.locator(".work-actions button[form='skip']").click()
    expect(page.locator("#skip-why")).to_be_visible()


@LOCALES
def test_a_new_rate_leaves_earlier_work_as_it_was_paid(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    desk = sign_in(make_member(dots.project, "researcher"), locale=locale)
    page = sign_in(make_member(dots.project, "validator"), locale=locale)
    begin(page)
    for typed, rate, earned in (("0,5", "0.50", "0.50"), ("0,25", "0.25", "0.75")):
        desk.goto("/projects/dots/people/pay/")
        desk.get_by_label("Amount for: validation").fill(typed)
        desk.get_by_role("button", name="Save").click()
        expect(desk.get_by_role("cell", name=f"{rate} EUR per task")).to_be_visible()
        n = Vote.objects.count()
        judge(page)
        wait_for(page, lambda n=n: Vote.objects.count() == n + 1)
        figures = page.context.new_page()
        figures.goto("/projects/dots/work/figures/")
        expect(figures.get_by_text(f"{earned} EUR", exact=False).first).to_be_visible()
        figures.close()


@LOCALES
def test_an_entry_page_keeps_the_pay_that_it_showed(
    dots: Subtest, sign_in: SignIn, open_tab: OpenTab, locale: str
) -> None:
    desk, study = sign_in(make_member(dots.project, "researcher"), locale=locale), opened_study(dots.project)
    page = open_tab(locale=locale, expected=("422",))

    def pay(typed: str) -> None:
        desk.goto("/projects/dots/people/pay/")
        desk.get_by_label("Amount for: validation").fill(typed)
        desk.get_by_role("button", name="Save").click()
        expect(desk.get_by_text("Rates saved for work submitted from now on.")).to_be_visible()

    pay("0,5")
    page.goto(f"/enter/{study.key}/?PROLIFIC_PID=worker1&STUDY_ID=S1&SESSION_ID=visit1")
    expect(page.get_by_text("0.50 EUR per task; 2 tasks pay 1.00 EUR")).to_be_visible()
    pay("0,25")
    start = page.get_by_role("button", name="Accept and start")
    start.click()
    expect(page.get_by_text("The pay has changed.")).to_be_visible()
    expect(page.get_by_text("0.25 EUR per task; 2 tasks pay 0.50 EUR")).to_be_visible()
    assert not CrowdPlace.objects.exists()
    start.click()
    page.wait_for_selector(WORK)
    # What this page showed holds, whatever the rate is when the task is done.
    pay("0,1")
    judge(page)
    wait_for(page, Vote.objects.exists)
    assert PayEntry.objects.get().amount == Decimal("0.25")


@LOCALES
def test_a_person_who_refuses_consent_has_the_rule_of_the_text(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    page = sign_in(make_member(dots.project, "validator"), locale=locale)
    begin(page)
    judge(page)
    wait_for(page, Vote.objects.exists)
    publish_consent_text(make_member(dots.project, "researcher"), dots.project, "You watch clips.", "remove")
    page.goto("/projects/dots/work/")
    expect(page.get_by_role("heading", name="Consent text")).to_be_visible()
    page.get_by_role("link", name="I do not agree. Leave the project").click()
    page.get_by_label("I want to leave.").check()
    page.get_by_role("button", name="Leave project").click()
    expect(page.get_by_text("1 answer was removed")).to_be_visible()
    assert not Vote.objects.exists()


@LOCALES
def test_back_and_a_second_tab_say_that_the_answer_was_submitted(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    page = sign_in(make_member(dots.project, "validator"), locale=locale)
    begin(page)
    second = page.context.new_page()
    second.goto(page.url)
    second.wait_for_selector(WORK)
    judge(page)
    page.wait_for_selector(WORK)
    page.go_back()
    expect(page.get_by_text("You have already submitted your answer")).to_be_visible()
    second.bring_to_front()
    second.keyboard.press("2")
    second.keyboard.press("Control+Enter")
    expect(second.get_by_text("already submitted")).to_be_visible()
    assert Vote.objects.count() == 1


@LOCALES
def test_an_item_that_was_imported_by_mistake_is_retracted_and_restored(
    dots: Subtest, sign_in: SignIn, locale: str
) -> None:
    item = Item.objects.first()
    page = sign_in(make_member(dots.project, "researcher"), locale=locale)
    page.goto(f"/projects/dots/items/{item.pk}/")
    for button, state in (("Retract item", "retracted"), ("Restore item", "in_validation")):
        page.get_by_label("Reason", exact=True).fill("imported by mistake")
        page.get_by_role("button", name=button).click()
        wait_for(
            page,
            lambda state=state: Item.objects.get(pk=item.pk).state == state,
            lambda: page.locator("main").inner_text(),
        )
        page.goto(f"/projects/dots/items/{item.pk}/")


@LOCALES
def test_an_assigned_person_sees_the_quota_and_its_end(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    vera = make_member(dots.project, "validator", name="vera")
    desk, page = (sign_in(who, locale=locale) for who in (make_member(dots.project, "researcher"), vera))
    desk.goto("/projects/dots/people/assignments/")
    desk.get_by_role("combobox", name="Work").select_option("validation")
    desk.get_by_label("vera").check()
    desk.get_by_label("Tasks per person").fill("2")
    desk.get_by_label("Due date").fill("2099-12-31")
    desk.get_by_role("button", name="Assign tasks").click()
    expect(desk.get_by_role("cell", name="0/2")).to_be_visible()
    page.goto("/projects/dots/work/")
    expect(page.get_by_text("0 of 2 tasks, due 31 Dec 2099.")).to_be_visible()
    begin(page)
    judge(page)
    judge(page)
    expect(page.get_by_text("Your assignment is done.")).to_be_visible()
    expect(page.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()
    desk.reload()
    expect(desk.get_by_role("cell", name="2/2")).to_be_visible()
    desk.goto("/projects/dots/")
    expect(desk.get_by_text("Nobody may take the open tasks.", exact=True)).to_be_visible()


@LOCALES
def test_the_overview_asks_for_the_people_that_are_needed(dots: Subtest, sign_in: SignIn, locale: str) -> None:
    """Two foils per item, two votes: four people, although each pair needs two. Two of them cannot finish."""
    project = make_project(slug="foils", judge_caption_once=False)
    subtest = make_subtest(project, name="two foils", votes_wanted=2, votes_needed=2)
    for _ in range(2):
        make_item(subtest, foils=("a red dot moves down.", FOIL))
    make_tasks(project)
    people = [make_member(project, "validator") for _ in range(2)]
    page = sign_in(make_member(project, "researcher"), locale=locale)
    for _ in range(2):
        page.goto("/projects/foils/")
        expect(page.get_by_text("Still missing: 2 validators.")).to_be_visible()
        for person in people:
            while (work := claim(person, project, "validation")) is not None:
                submit_vote(person, work.token, f"key-{work.token}", "first")
    expect(page.get_by_text("cannot finish with these people and quotas")).to_be_visible()
    validator = sign_in(people[0], locale=locale)
    validator.goto("/projects/foils/work/validation/")
    expect(validator.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()
    expect(page.get_by_text("work on 4 open tasks")).to_have_count(0)
