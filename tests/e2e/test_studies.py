"""The human baseline, the object check, judgements one after the other: by keyboard, on a wide and a narrow screen."""

from collections.abc import Callable

import pytest
from django.conf import settings
from playwright.sync_api import Page, Request, Response, Route, expect

from annotation.actions.decisions.items import take_down_video
from annotation.actions.studies import Sample, import_objects, open_baseline, open_choices, open_object_check
from annotation.models import Lease, ObjectAnswer, ObjectError, Stage, Vote
from annotation.rules.baseline import CAPTION
from foilworks.core.corpus.models import Item, Subtest
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import execute
from foilworks.core.projects.models import Project, User
from tests.e2e.conftest import CAPTION as TRUE
from tests.e2e.conftest import IN_BOTH_WIDTHS, WORK, SignIn, assert_accessible, film, moving_dot, wait_until
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)

MAX_REQUESTS, MAX_BYTES, MAX_TYPE_BYTES = 10, 150_000, 25_000
FOILS = tuple(f"a red dot moves {where}." for where in ("to the left", "up", "down", "in a circle", "nowhere"))


@pytest.fixture
def dots() -> Subtest:
    """A project with three clips of their own."""
    project = make_project(slug="dots", name="Dots")
    subtest = make_subtest(project, name="direction")
    for number in range(3):
        video = film(project, moving_dot(), 12.0, key=f"clip{number}")
        make_caption(video, TRUE)
    return subtest


def items(subtest: Subtest, state: str, *foils: str) -> list[Item]:
    made = [
        make_item(subtest, caption=video.captions.get(), foils=foils, state=state)
        for video in subtest.project.videos.order_by("pk")
    ]
    if state == "valid":
        for item in made:
            item.foils.update(verdict="valid")
    return made


def begin(page: Page, stage: str, ready: str = WORK) -> None:
    page.goto(f"/projects/dots/work/{stage}/")
    page.keyboard.press("n")
    page.wait_for_url(f"**/work/{stage}/*/")
    page.wait_for_selector(ready)


def go_on(page: Page, press: Callable[[], None]) -> None:
    """The next card takes the place of this one without a page being loaded."""
    page.evaluate("window.sameDocument = true")
    before = page.url
    press()
    page.wait_for_url(lambda url: url != before)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_the_human_baseline_by_keyboard(dots: Subtest, sign_in: SignIn, narrow: bool) -> None:
    items(dots, "valid", *FOILS)
    open_baseline(make_member(dots.project, "researcher"), dots.project)
    page = sign_in(make_member(dots.project, "annotator", name="ann"), narrow=narrow)
    page.goto("/projects/dots/work/")
    expect(page.get_by_role("heading", name="Human baseline")).to_be_visible()
    begin(page, "baseline")
    assert_accessible(page)
    for number in range(3):
        texts = [text.strip() for text in page.locator(".choice-text").all_text_contents()]
        assert sorted(texts) == sorted([TRUE, *FOILS])
        key = str(texts.index(TRUE) + 1)
        page.keyboard.press(key)
        go_on(page, lambda: page.keyboard.press("Control+Enter"))
        if number < 2:
            assert page.evaluate("window.sameDocument")
            expect(page.locator("[data-done-today]")).to_have_text(str(number + 1))
            page.wait_for_selector(WORK)
    expect(page.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()
    votes = Vote.objects.all()
    assert [(vote.choice, vote.stage) for vote in votes] == [("caption", "baseline")] * 3
    assert all(vote.order_shown.index(CAPTION) < 6 and vote.watch["covered"] > 0 for vote in votes)
    page.keyboard.press("u")
    page.wait_for_selector(WORK)
    assert Vote.objects.filter(state="undone").count() == 1


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_choices_without_the_clip_by_keyboard(dots: Subtest, sign_in: SignIn, narrow: bool) -> None:
    items(dots, "valid", *FOILS)
    open_choices(make_member(dots.project, "researcher"), dots.project, Stage.UNSEEN, Sample())
    page = sign_in(make_member(dots.project, "annotator", name="ann"), narrow=narrow)
    begin(page, "unseen", "main:not([data-new]) .choice-text")
    assert_accessible(page)
    assert page.locator("video").count() == 0
    page.keyboard.press("2")
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    vote = Vote.objects.get()
    assert (vote.stage, vote.order_shown.index(vote.foil_id or CAPTION)) == ("unseen", 1)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_undoing_a_choice_on_a_removed_video_says_so(dots, sign_in: SignIn, narrow: bool) -> None:
    items(dots, "valid", *FOILS)
    owner = make_member(dots.project, "researcher")
    open_baseline(owner, dots.project)
    page = sign_in(make_member(dots.project, "annotator", name="ann"), narrow=narrow)
    begin(page, "baseline")
    page.keyboard.press("1")
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    page.wait_for_selector(WORK)
    take_down_video(owner, "dots", Vote.objects.get().item.video_id, "asked to")
    page.keyboard.press("u")
    expect(page.get_by_text("This task was cancelled, so there is nothing to undo.")).to_be_visible()
    assert_accessible(page)
    assert Vote.objects.get().state == "counted"


@pytest.fixture
def checked(dots: Subtest) -> User:
    """An object check of one frame with three objects; its researcher."""
    owner = make_member(dots.project, "researcher", name="owner")
    line = '{"video": "clip0", "time": 1.0, "objects": ["red dot", "light field", "left-handed violin"]}'
    import_objects(owner, dots.project, [line], name="objects.jsonl")
    open_object_check(owner, dots.project, "import")
    execute(str(Job.objects.get().pk))
    return owner


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_the_object_check_by_keyboard(checked: User, sign_in: SignIn, narrow: bool) -> None:
    page = sign_in(make_member(Project.objects.get(), "annotator", name="ann"), narrow=narrow)
    begin(page, "objects", "[data-marked]")
    wait_until(page, "document.querySelector('.still img').naturalWidth === 64")
    assert_accessible(page)
    page.keyboard.press("x")
    page.keyboard.press("p")
    for key in ("v", "v", "x"):
        page.keyboard.press(key)
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/?done=*")
    assert ObjectAnswer.objects.get().visible == [True, True, False]

    owner = sign_in(checked, narrow=narrow)
    owner.goto("/projects/dots/studies/")
    assert_accessible(owner)
    owner.get_by_role("link", name="Classify unseen objects").click()
    expect(owner.get_by_role("heading", name="left-handed violin")).to_be_visible()
    assert_accessible(owner)
    owner.keyboard.press("3")
    expect(owner.get_by_text("All objects classified")).to_be_visible()
    assert ObjectError.objects.get().error_class == "hallucination"
    owner.goto("/projects/dots/reports/objects/")
    expect(owner.get_by_text("2 / 3")).to_be_visible()
    assert_accessible(owner)


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_judgements_follow_one_another_without_loading_a_page(dots: Subtest, sign_in: SignIn, narrow: bool) -> None:
    items(dots, "in_validation", FOILS[0])
    page = sign_in(make_member(dots.project, "validator", name="vera"), narrow=narrow)
    begin(page, "validation")
    ahead = page.locator("[data-next-clip]").get_attribute("data-next-clip")
    wait_until(page, f"performance.getEntriesByName(location.origin + {ahead!r}).length > 0")
    posted: list[Request] = []
    page.on("request", lambda request: posted.append(request) if request.method != "GET" else None)
    page.keyboard.press("1")
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    page.wait_for_selector(WORK)
    assert page.evaluate("window.sameDocument")
    # The clip that was named is the one that came, and it was there already.
    assert page.locator("video").get_attribute("src") == ahead
    assert len(posted) == 1
    assert_accessible(page)
    # The new card is as alive as the first: keys, evidence, undo.
    page.keyboard.press("2")
    expect(page.locator("input[value=second]")).to_be_checked()
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    page.keyboard.press("u")
    page.wait_for_url("**/work/validation/*/")
    page.wait_for_selector(WORK)
    assert sorted(Vote.objects.values_list("state", flat=True)) == ["counted", "undone"]
    assert all(vote.watch["covered"] > 0 and vote.seconds_spent >= 0 for vote in Vote.objects.all())


@pytest.mark.full
def test_undo_during_a_submit_undoes_that_answer(dots: Subtest, sign_in: SignIn) -> None:
    items(dots, "in_validation", FOILS[0])
    page = sign_in(make_member(dots.project, "validator", name="vera"))
    sent: list[Route] = []

    def hold_the_second(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(route)
        if sent[1:] != [route]:
            route.continue_()

    page.route("**/work/validation/*/", hold_the_second)
    begin(page, "validation")
    page.keyboard.press("1")
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    page.wait_for_selector(WORK)
    page.keyboard.press("2")
    with page.expect_request("**/work/validation/*/"):
        page.keyboard.press("Control+Enter")
    # The undo that is to be seen belongs to the first, and an answered piece cannot be skipped.
    page.keyboard.press("s")
    page.keyboard.press("u")
    sent[1].continue_()
    page.wait_for_url("**/work/validation/*/")
    page.wait_for_selector(WORK)
    assert list(Vote.objects.order_by("pk").values_list("state", flat=True)) == ["counted", "undone"]


@pytest.mark.full
def test_back_returns_and_a_reload_loads_the_card_again(dots: Subtest, sign_in: SignIn) -> None:
    items(dots, "in_validation", FOILS[0])
    page = sign_in(make_member(dots.project, "validator", name="vera"))
    begin(page, "validation")
    page.keyboard.press("1")
    go_on(page, lambda: page.keyboard.press("Control+Enter"))
    page.wait_for_selector(WORK)
    here = page.url
    page.reload()
    page.wait_for_selector(WORK)
    assert page.url == here
    page.go_back()
    expect(page.get_by_text("You have already submitted your answer")).to_be_visible()
    assert Vote.objects.count() == 1


@pytest.mark.full
def test_who_was_signed_out_meanwhile_loses_no_answer(dots: Subtest, sign_in: SignIn) -> None:
    items(dots, "in_validation", FOILS[0])
    vera = make_member(dots.project, "validator", name="vera")
    page = sign_in(vera)
    begin(page, "validation")
    cookies = page.context.cookies()
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You are signed out.")).to_be_visible()
    assert not Vote.objects.exists()
    page.context.add_cookies(cookies)
    page.evaluate("dispatchEvent(new Event('online'))")
    page.wait_for_url("**/?done=*")
    assert Vote.objects.get().choice == "neither"


@pytest.mark.full
def test_an_answer_that_meets_a_server_in_trouble_is_kept_and_sent_again(dots: Subtest, sign_in: SignIn) -> None:
    items(dots, "in_validation", FOILS[0])
    page = sign_in(make_member(dots.project, "validator", name="vera"), expected=["500 (Internal Server Error)"])
    troubled: list[str] = []

    def trouble(route: Route) -> None:
        if route.request.method == "POST" and not troubled:
            troubled.append(route.request.url)
            route.fulfill(status=500, content_type="text/html", body="<main>Something went wrong on our side</main>")
        else:
            route.continue_()

    # Before the page is there: what a page that stands already sends at once may pass a new route by.
    page.route("**/work/validation/*/", trouble)
    begin(page, "validation")
    page.keyboard.press("3")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/?done=*")
    assert len(troubled) == 1
    assert Vote.objects.get().choice == "neither"


@pytest.mark.full
def test_a_judgement_page_is_light_when_nothing_is_cached(dots: Subtest, sign_in: SignIn) -> None:
    """At most 10 requests, 150 kB of text and 25 kB of type before the clip itself, none of it packed."""
    items(dots, "in_validation", FOILS[0])
    page = sign_in(make_member(dots.project, "validator", name="vera"))
    begin(page, "validation")
    # A browser that has seen nothing yet.
    fresh = sign_in(User.objects.get(username="vera"))
    answers: list[Response] = []
    fresh.on("response", lambda answer: answers.append(answer))
    fresh.goto(page.url)
    fresh.wait_for_selector(WORK)
    fresh.wait_for_load_state("networkidle")
    page_files = [answer for answer in answers if "/clips/" not in answer.url]
    assert len(page_files) <= MAX_REQUESTS, [answer.url for answer in answers]
    sizes = {answer.url: len(answer.body()) for answer in page_files}
    type_bytes = sum(size for url, size in sizes.items() if url.endswith(".woff2"))
    assert sum(sizes.values()) - type_bytes <= MAX_BYTES, sizes
    assert type_bytes <= MAX_TYPE_BYTES
    assert Lease.objects.filter(task__stage=Stage.VALIDATION).count() == 1
