"""Typed text is not lost: not to a closed tab, an expired session, a lost network, nor a hasty submit."""

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Request, Route, expect

from annotation.models import Draft, Edit, Review
from foilworks.core.corpus.rules.states import CandidateState
from foilworks.core.projects.models import Membership, Project
from generation.models import Candidate
from tests.e2e.conftest import SignIn, assert_accessible, wait_for, wait_until
from tests.e2e.tabs import SILENCE
from tests.e2e.test_annotation_walk import FOIL, edited, send, start
from tests.factories import PASSWORD, make_member

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "a red dot stands still."
DISCONNECTED = ["ERR_INTERNET_DISCONNECTED"]


def box(page: Page):
    return page.get_by_role("textbox", name="Foil")


def write(page: Page, text: str = TEXT) -> None:
    page.keyboard.press("e")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def saved(page: Page, name: str = "text", value: str = TEXT) -> None:
    """Waits until the server has what was typed last; what was typed before may have been saved on its own."""
    wait_for(
        page,
        lambda: any(draft.payload["values"][name] == [value] for draft in Draft.objects.all()),
        lambda: list(Draft.objects.values_list("payload", flat=True)),
    )


def hold_drafts(page: Page) -> list[Route]:
    """The first draft that the page saves, once it does: it stays under way."""
    held: list[Route] = []
    page.route("**/draft/", lambda route: route.continue_() if held else held.append(route))
    return held


def test_a_closed_tab_keeps_the_draft_on_the_server(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", name="ann")
    page = sign_in(ann)
    start(page, "edit")
    write(page)
    saved(page)
    expect(page.locator("[data-draft-when='saved']")).to_be_visible()
    # It counts on, and a page that had no turn for a second leaves one out.
    expect(page.locator("[data-draft-ago]")).to_have_text(re.compile(r"^([3-9]|\d\d)$"))
    page.close()
    # Another browser: nothing of the first one is there.
    other = sign_in(ann)
    start(other, "edit")
    expect(other.get_by_text("Draft restored.")).to_be_visible()
    expect(box(other)).to_have_value(TEXT)
    other.get_by_role("button", name="Start over").click()
    expect(box(other)).to_have_value(FOIL)
    saved(other, value=FOIL)
    other.reload()
    expect(box(other)).to_have_value(FOIL)


def test_what_was_typed_last_is_kept_by_a_tab_closed_at_once(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", name="ann")
    page = sign_in(ann)
    start(page, "edit")
    write(page)
    again = page.context.new_page()
    with page.expect_event("close"):
        page.close(run_before_unload=True)
    start(again, "edit")
    expect(box(again)).to_have_value(TEXT)


@pytest.mark.full
def test_what_is_typed_while_a_draft_is_saved_is_saved_after_it(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    held = hold_drafts(page)
    write(page, "a red dot")
    wait_for(page, lambda: held)
    page.keyboard.type(" stands still.")
    # Longer than a pause in typing, after which it would be saved.
    page.wait_for_timeout(1200)
    assert (len(held), Draft.objects.count()) == (1, 0)
    held[0].continue_()
    saved(page)


@pytest.mark.full
def test_leaving_while_a_draft_is_saved_saves_it_again(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    held = hold_drafts(page)
    write(page)
    wait_for(page, lambda: held)
    page.goto("/projects/dots/work/")
    saved(page)


@pytest.mark.full
def test_a_draft_that_is_being_saved_does_not_come_after_the_work(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    ended: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            work = "work" if "x-foilworks-swap" in request.headers else "work from the outbox"
            ended.append("draft" if request.url.endswith("/draft/") else work)

    page.on("requestfailed", note)
    page.on("requestfinished", note)
    held = hold_drafts(page)
    write(page)
    wait_for(page, lambda: held)
    page.get_by_role("button", name="Submit and continue").click()
    page.wait_for_url("**/?done=*")
    # Given up before the work was there, not by the page that came then; and not taken for a network that is lost.
    assert ended == ["draft", "work"]


@pytest.mark.full
def test_an_expired_session_keeps_the_draft(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    Session.objects.all().delete()
    write(page)
    expect(page.get_by_text("You are signed out. Your text is saved in this browser.")).to_be_visible()
    assert not Draft.objects.exists()
    page.locator("[data-draft-when='signed_out']").get_by_role("link", name="Sign in").click()
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(box(page)).to_have_value(TEXT)
    expect(page.get_by_text("Draft restored.")).to_be_visible()
    saved(page)
    send(page, "Control+Enter")
    assert Candidate.objects.get(state=CandidateState.IN_REVIEW).text == TEXT
    assert not Draft.objects.exists()


@pytest.mark.full
def test_a_submit_with_an_expired_session_is_not_lost_either(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    write(page)
    saved(page)
    Session.objects.all().delete()
    page.keyboard.type(" now")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("will be sent when you sign in")).to_be_visible()
    assert_accessible(page)
    assert not Edit.objects.exists()
    page.locator("[data-outbox]").get_by_role("link", name="Sign in").click()
    page.get_by_label("Username").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    held: list[Route] = []
    piece = re.compile(r"^[^?]+/work/edit/[^/]+/$")
    page.route(piece, lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    drafts: list[Request] = []
    page.on("request", lambda request: drafts.append(request) if request.url.endswith("/draft/") else None)
    page.get_by_role("button", name="Sign in").click()
    wait_for(page, lambda: held)
    # The draft is back as well, and would be saved by now: after the work it would find its lease over.
    page.wait_for_timeout(1200)
    assert drafts == []
    held[0].continue_()
    page.wait_for_url("**/?done=*")
    assert Edit.objects.get().texts == [f"{TEXT} now"]


@pytest.mark.full
def test_a_draft_of_another_machine_that_is_newer_wins(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", name="ann")
    first, second = sign_in(ann), sign_in(ann)
    start(first, "edit")
    write(first, "a red dot moves up.")
    saved(first, value="a red dot moves up.")
    start(second, "edit")
    expect(box(second)).to_have_value("a red dot moves up.")
    write(second, "a red dot moves down.")
    saved(second, value="a red dot moves down.")
    first.reload()
    expect(box(first)).to_have_value("a red dot moves down.")


def test_a_submit_while_offline_is_kept_and_sent_when_back(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"), expected=DISCONNECTED)
    start(page, "edit")
    page.context.set_offline(True)
    write(page)
    expect(page.get_by_text("Saved in this browser. The server is not reachable.")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("will be sent when you reconnect")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Control+Enter")
    assert not Edit.objects.exists()
    page.context.set_offline(False)
    page.wait_for_url("**/?done=*")
    assert Edit.objects.get().texts == [TEXT]
    assert Candidate.objects.get(state=CandidateState.IN_REVIEW).text == TEXT


@pytest.mark.full
def test_what_was_sent_offline_leaves_from_the_next_page_and_arrives_once(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"), expected=DISCONNECTED)
    start(page, "edit")
    write(page)
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("will be sent when you reconnect")).to_be_visible()
    kept = page.evaluate("Object.entries(localStorage).filter(([key]) => key.startsWith('foilworks.outbox.'))")
    page.evaluate(SILENCE)
    page.goto("about:blank")
    page.context.set_offline(False)
    page.goto("/projects/dots/work/")
    expect(page.get_by_text("The answers that you gave while offline were received.")).to_be_visible()
    assert page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('foilworks.outbox.')).length") == 0
    # As if the answer had been lost on its way: it goes out again, under the same key.
    page.evaluate("([[key, text]]) => localStorage.setItem(key, text)", kept)
    page.reload()
    expect(page.get_by_text("The answers that you gave while offline were received.")).to_be_visible()
    assert Edit.objects.get().texts == [TEXT]


def send_two_kept(page: Page) -> None:
    """Two submits are in the outbox, and the network is back."""
    page.evaluate("""() => {
      const prefix = `foilworks.outbox.${document.querySelector("[data-outbox]").dataset.outbox}.`;
      const work = JSON.stringify({ url: "kept/", fields: [] });
      for (const key of ["one", "two"]) localStorage.setItem(prefix + key, work);
      dispatchEvent(new Event("online"));
    }""")


def test_what_another_tab_has_sent_meanwhile_is_not_sent_again(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    page.goto("/projects/dots/work/")
    held: list[Route] = []
    page.route("**/work/kept/", lambda route: held.append(route))
    send_two_kept(page)
    wait_for(page, lambda: held)
    page.evaluate("localStorage.clear()")
    held[0].fulfill(status=200, content_type="text/html", body="")
    expect(page.get_by_text("Answer rejected.")).to_be_visible()
    assert len(held) == 1


def outbox_keys(page: Page) -> list[str]:
    return page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('foilworks.outbox.'))")


def test_a_person_who_lost_the_role_sees_it_at_once(project: Project, sign_in: SignIn) -> None:
    ann = make_member(project, "annotator", "reviewer", name="ann")
    page = sign_in(ann, expected=["403 (Forbidden)"])
    start(page, "edit")
    Membership.objects.filter(person=ann, role="annotator").delete()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You need the role annotator")).to_be_visible()
    assert outbox_keys(page) == []


def test_a_kept_submit_that_is_denied_lets_the_next_one_go(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"), expected=["403 (Forbidden)"])
    page.goto("/projects/dots/work/")
    sent: list[Route] = []

    def answer(route: Route) -> None:
        sent.append(route)
        if len(sent) == 1:
            route.fulfill(status=403, headers={"X-Foilworks-Denied": "1"}, content_type="text/html", body="")
        else:
            route.fulfill(status=200, content_type="text/html", body="")

    page.route("**/work/kept/", answer)
    send_two_kept(page)
    expect(page.get_by_text("Answer rejected.")).to_be_visible()
    wait_until(page, "!Object.keys(localStorage).some((key) => key.startsWith('foilworks.outbox.'))")
    assert len(sent) == 2


@pytest.mark.full
def test_a_reviewers_half_written_decision_comes_back(project: Project, sign_in: SignIn) -> None:
    edited(make_member(project, "annotator", name="ann"))
    rev = make_member(project, "reviewer", name="rev")
    page = sign_in(rev)
    start(page, "review")
    page.keyboard.press("4")
    page.keyboard.press("c")
    page.keyboard.type("a comma is missing")
    saved(page, "comment", "a comma is missing")
    other = sign_in(rev)
    start(other, "review")
    expect(other.get_by_role("textbox", name="Comment")).to_have_value("a comma is missing")
    expect(other.get_by_role("checkbox", name="language or spelling")).to_be_checked()
    send(other, "b")
    assert Review.objects.get().comment == "a comma is missing"


@pytest.mark.full
def test_an_edit_is_undone_within_thirty_seconds_and_sent_again(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, "annotator", name="ann"))
    start(page, "edit")
    write(page)
    send(page, "Control+Enter")
    expect(page.locator("[data-undo-seconds]")).to_be_visible()
    page.keyboard.press("u")
    page.wait_for_selector("[data-player][data-ready]")
    expect(box(page)).to_have_value(TEXT)
    write(page, FOIL)
    send(page, "Control+Enter")
    assert sorted(Edit.objects.values_list("texts", flat=True)) == [[FOIL], [TEXT]]
    assert Candidate.objects.get(state=CandidateState.IN_REVIEW).text == FOIL


def test_an_open_page_renews_its_lease(project: Project, sign_in: SignIn) -> None:
    Project.objects.filter(pk=project.pk).update(lease_seconds=30)
    # Of its own: its clock is ours for good.
    page = sign_in(make_member(project, "annotator", name="ann"), alone=True)
    page.clock.install()
    start(page, "edit")
    before = page.locator("[data-lease-clock]").inner_text()
    assert before.startswith("0:")
    with page.expect_response("**/heartbeat/") as beat:
        page.clock.fast_forward(11_000)
    # Rounded, and less what the answer took.
    assert beat.value.json()["seconds_left"] in {29, 30}
