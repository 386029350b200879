"""From an imported video to a valid item, each person by keyboard alone, each in a browser of their own."""

import pytest
from django.templatetags.static import static
from playwright.sync_api import Page, expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.reviews import ReviewAnswer, submit_review
from annotation.actions.submissions.submit_edit import submit_edit
from annotation.models import Edit, Review, Slot, Stage, Vote
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.models import Project, User
from generation.models import Candidate
from tests.e2e.conftest import CAPTION, IN_BOTH_WIDTHS, WORK, SignIn, assert_accessible
from tests.factories import make_member

pytestmark = pytest.mark.django_db(transaction=True)

FOIL = "a red dot moves to the left."


def start(page: Page, stage: str) -> None:
    """From the landing page into the only queue, by its key."""
    page.goto("/projects/dots/work/")
    page.keyboard.press("1")
    page.wait_for_url(f"**/work/{stage}/*/")
    page.wait_for_selector(WORK)


def send(page: Page, *keys: str) -> None:
    """Presses the keys; the last one sends, and the next page (here: an empty queue) follows."""
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_url("**/?done=*")
    expect(page.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()


def answer_of(page: Page, choice: str = CAPTION) -> str:
    """The number key of "only this text is true", as the page shows the two texts."""
    texts = [text.strip() for text in page.locator(".pair .sentence").all_text_contents()]
    return str(texts.index(choice) + 1)


def edit(page: Page) -> None:
    start(page, "edit")
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="Foil")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(FOIL[:-1])
    page.keyboard.press(".")  # types a full stop: the player's key rests in a text box
    expect(page.locator("[data-changed]")).to_have_text("1")
    expect(page.locator("[data-diff] del")).to_have_text("removed: right")
    expect(page.locator("[data-diff] ins")).to_have_text("added: left")
    page.keyboard.press("Alt+k")  # the same key with Alt reaches the player
    send(page, "Control+Enter")


def validate(page: Page) -> bool:
    """Answers truly; returns whether the caption was shown first."""
    start(page, "validation")
    key = answer_of(page)
    send(page, key, "Control+Enter")
    return key == "1"


def test_a_clip_becomes_a_valid_item_by_keyboard_alone(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", name="ann")
    edit(sign_in(ann))
    candidate = Candidate.objects.get(state="in_review")
    assert (candidate.text, Edit.objects.get().person) == (FOIL, ann)

    page = sign_in(make_member(project, "reviewer", name="rev"))
    start(page, "review")
    expect(page.locator(".diff ins").first).to_have_text("added: left")
    send(page, "a")
    item = Item.objects.get()
    assert item.state == ItemState.IN_VALIDATION

    validators = [make_member(project, "validator", name=name) for name in ("vera", "vic", "val")]
    shown_first = [validate(sign_in(person)) for person in validators]

    item.refresh_from_db()
    assert (item.state, item.unanimous) == (ItemState.VALID, True)
    votes = Vote.objects.order_by("pk")
    assert [vote.choice for vote in votes] == ["caption"] * 3
    # What was stored is what stood on the screen, and the caption did not always stand in one place.
    assert [vote.caption_first for vote in votes] == shown_first
    assert len(set(shown_first)) == 2
    assert all(0 < vote.watch["covered"] <= 1 and vote.seconds_spent > 0 for vote in votes)


def edited(ann: User) -> None:
    """What `edit` does, without a browser."""
    work = claim(ann, Project.objects.get(slug="dots"), Stage.EDIT)
    submit_edit(ann, work.token, "edited", [FOIL], [Candidate.objects.get(author=None).pk])


@pytest.fixture
def item(project: Project) -> Item:
    """The same way up to the review's end, by ann and rev; the walk above went it in a browser."""
    edited(make_member(project, "annotator", "reviewer", "validator", name="ann"))
    rev = make_member(project, "reviewer", name="rev")
    submit_review(rev, claim(rev, project, Stage.REVIEW).token, "accepted", ReviewAnswer("accept"))
    return Item.objects.get()


def queue_says(page: Page, stage: str, words: str) -> None:
    """Asks the queue for work: nothing is handed out, and the page says why."""
    page.goto(f"/projects/dots/work/{stage}/")
    with page.expect_navigation():
        page.keyboard.press("n")
    expect(page).to_have_url(f"{page.url.split('/projects')[0]}/projects/dots/work/{stage}/")
    expect(page.get_by_role("main")).to_contain_text(words)


@pytest.mark.full
def test_the_author_can_neither_review_nor_judge(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", "reviewer", "validator", name="ann")
    page = sign_in(ann)
    edit(page)
    queue_says(page, "review", "1 on videos that you wrote or edited a foil for")
    rev = sign_in(make_member(project, "reviewer", name="rev"))
    start(rev, "review")
    send(rev, "a")
    queue_says(page, "validation", "3 on videos that you wrote or edited a foil for")
    assert not Slot.objects.filter(person=ann, stage__in=["review", "validation"]).exists()


@pytest.mark.full
def test_a_fourth_vote_is_refused(item: Item, sign_in: SignIn) -> None:
    project = item.subtest.project
    last = None
    for name in ("vera", "vic", "val"):
        last = sign_in(make_member(project, "validator", name=name))
        validate(last)
    fourth = make_member(project, "validator", name="vito")
    page = sign_in(fourth, expected=["404 (Not Found)"])
    queue_says(page, "validation", "All tasks of this stage are done")
    token = Vote.objects.latest("pk").slot.leases.get().token
    status = page.evaluate(
        """async ([token, address]) => {
          const { post } = await import(address);
          const vote = { answer: "first", idempotency_key: "k" };
          return (await post(`/projects/dots/work/validation/${token}/`, vote)).status;
        }""",
        [token, static("foilworks/dom.js")],
    )
    assert status == 404
    assert (Vote.objects.count(), Vote.objects.filter(person=fourth).count()) == (3, 0)


@pytest.mark.full
def test_a_double_click_gives_one_vote(item: Item, sign_in: SignIn) -> None:
    vera = make_member(item.subtest.project, "validator", name="vera")
    page = sign_in(vera)
    start(page, "validation")
    page.keyboard.press(answer_of(page))
    page.get_by_role("button", name="Submit and continue").dblclick()
    page.wait_for_url("**/?done=*")
    assert Vote.objects.filter(person=vera).count() == 1


@pytest.mark.full
def test_the_same_form_sent_four_times_at_once_gives_one_vote(item: Item, sign_in: SignIn) -> None:
    vera = make_member(item.subtest.project, "validator", name="vera")
    page = sign_in(vera)
    start(page, "validation")
    page.keyboard.press("3")
    statuses = page.evaluate(
        """async () => {
          const form = document.getElementById("answer");
          const send = () => fetch(location.href, { method: "POST", body: new FormData(form) });
          const answers = await Promise.all([send(), send(), send(), send()]);
          return answers.map((answer) => answer.status);
        }"""
    )
    assert statuses == [200] * 4
    assert [vote.choice for vote in Vote.objects.filter(person=vera)] == ["neither"]


@pytest.mark.full
def test_the_last_vote_can_be_undone_and_given_again(item: Item, sign_in: SignIn) -> None:
    page = sign_in(make_member(item.subtest.project, "validator", name="vera"))
    start(page, "validation")
    send(page, "5", "Control+Enter")
    page.keyboard.press("u")
    page.wait_for_selector(WORK)
    send(page, answer_of(page), "Control+Enter")
    assert sorted(Vote.objects.values_list("choice", "state")) == [("cannot_tell", "undone"), ("caption", "counted")]


@pytest.mark.full
def test_the_key_of_undo_ends_with_its_button(item: Item, sign_in: SignIn) -> None:
    # Of its own: its clock is ours for good.
    page = sign_in(make_member(item.subtest.project, "validator", name="vera"), alone=True)
    page.clock.install()
    start(page, "validation")
    send(page, "5", "Control+Enter")
    expect(page.locator("[data-undo]")).to_be_visible()
    page.clock.fast_forward(31_000)
    expect(page.locator("[data-undo].over")).to_have_count(1)
    page.evaluate("""addEventListener("submit", (event) => {
      event.preventDefault();
      window.pressed = true;
    }, { capture: true })""")
    page.keyboard.press("u")
    assert page.evaluate("window.pressed") is None


def test_who_wants_it_answers_with_one_key(item: Item, sign_in: SignIn) -> None:
    page = sign_in(make_member(item.subtest.project, "validator", name="vera"))
    start(page, "validation")
    page.get_by_role("checkbox", name="Number keys submit immediately").check()
    page.get_by_role("checkbox", name="Number keys submit immediately").blur()
    send(page, "4")
    assert Vote.objects.get().choice == "both"


@pytest.mark.full
def test_a_returned_task_shows_its_reasons_and_a_drop_asks_for_one(project: Project, sign_in: SignIn) -> None:
    annotator = make_member(project, "annotator", name="ann")
    edited(annotator)
    ann = sign_in(annotator)
    rev = sign_in(make_member(project, "reviewer", name="zacharias"))
    start(rev, "review")
    rev.keyboard.press("x")
    expect(rev.get_by_text("Choose at least one reason.")).to_be_visible()
    assert not Review.objects.exists()
    rev.keyboard.press("4")
    rev.keyboard.press("c")
    rev.keyboard.type("capital letter <b>first</b>")
    rev.keyboard.press("Tab")
    send(rev, "b")
    start(ann, "edit")
    expect(ann.get_by_text("Sent back by a reviewer:")).to_be_visible()
    expect(ann.locator(".foil .notice")).to_contain_text("language or spelling")
    expect(ann.locator(".foil .notice q")).to_have_text("capital letter <b>first</b>")
    expect(ann.get_by_role("textbox", name="Foil")).to_have_value(FOIL)
    expect(ann.get_by_role("main")).not_to_contain_text("zacharias")


@pytest.mark.full
def test_a_reviewer_fixes_in_place(project: Project, sign_in: SignIn) -> None:
    edited(make_member(project, "annotator", name="ann"))
    rev = make_member(project, "reviewer", name="rev")
    page = sign_in(rev)
    start(page, "review")
    page.keyboard.press("f")
    expect(page.get_by_role("textbox", name="Corrected foil")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(CAPTION)
    expect(page.get_by_text("it is the same as the caption")).to_be_visible()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a red dot moves to the top.")
    expect(page.get_by_text("it is the same as the caption")).to_be_hidden()
    send(page, "Control+Enter")
    fixed = Candidate.objects.get(state="accepted")
    assert (fixed.text, fixed.author) == ("a red dot moves to the top.", rev)


@pytest.mark.full
def test_a_refused_text_comes_back_with_the_reason(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"), expected=["400 (Bad Request)"])
    start(page, "edit")
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(CAPTION.upper())
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert").filter(has_text="Not submitted.")).to_contain_text("it is the same as the caption")
    expect(page.get_by_role("textbox", name="Foil")).to_have_value(CAPTION.upper())
    assert not Edit.objects.exists()


def test_the_pages_work_without_scripts(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"), java_script_enabled=False)
    page.goto("/projects/dots/work/")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("textbox", name="Foil").fill("a red dot moves to the bottom.")
    page.get_by_role("button", name="Submit and continue").click()
    assert Candidate.objects.get(state="in_review").text == "a red dot moves to the bottom."


@IN_BOTH_WIDTHS
def test_every_page_of_work_is_accessible(project: Project, sign_in: SignIn, narrow: bool) -> None:
    people: dict[str, User] = {
        stage: make_member(project, role, name=role)
        for stage, role in (("edit", "annotator"), ("review", "reviewer"), ("validation", "validator"))
    }
    finish = {"edit": "Control+Enter", "review": "a", "validation": None}
    for stage, person in people.items():
        page = sign_in(person, narrow=narrow)
        page.goto("/projects/dots/work/")
        assert_accessible(page)
        start(page, stage)
        assert_accessible(page)
        if finish[stage]:
            send(page, finish[stage])
            assert_accessible(page)
