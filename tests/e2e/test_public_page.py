"""The public page of a release and its form, by somebody without an account; the owner's forms, wide and on a phone."""

import json

import pytest
from playwright.sync_api import Page, expect

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.jobs.runner import run_now
from foilworks.site.documents.models import DatasheetAnswer, PublicationFacts, SourceLicence
from foilworks.site.publishing.actions.set_public_page import set_public_page
from foilworks.site.publishing.models import PublicPage, Submission
from tests.annotation.world import make_world
from tests.e2e.conftest import IN_BOTH_WIDTHS, OpenTab, SignIn, assert_accessible, film, moving_dot
from tests.e2e.tabs import WIDE
from tests.factories import make_caption, make_item

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = '<img src=x onerror="document.title=1"> \u202eabc'


@pytest.fixture
def opened() -> PublicPage:
    """A scored release with a video that may be shown and one that may not, and hostile words all over."""
    world = make_world({"slug": "dots", "name": "Dots"})
    for number, source in enumerate(("films", "secret")):
        video = film(world.project, moving_dot(6), 6, source_dataset=source, key=f"clip{number}")
        caption = make_caption(video, f"a red dot {number} moves to the right {HOSTILE}.")
        make_item(
            world.subtest,
            caption,
            (f"a red dot {number} moves to the left {HOSTILE}.",),
            state="valid",
            key=f"dot-{number}",
            unanimous=True,
        )
    cited = {"title": f"Dots {HOSTILE}", "authors": "Doe, Ann", "abstract": HOSTILE}
    PublicationFacts.objects.create(project=world.project, **cited)
    terms = {"licence": "CC0", "notes": HOSTILE, "url": "https://example.org/films"}
    SourceLicence.objects.create(project=world.project, source_dataset="films", may_show=True, **terms)
    release = freeze_release(world.owner, world.project, name="v1")
    run_now(start_run(world.owner, release, RunRequest("fake:text", label=f"Fake {HOSTILE}")).job)
    page = set_public_page(world.owner, release, is_open=True, offers_export=True, takes_scores=True)
    run_now(page.job)
    return page


@pytest.fixture(params=[False, True], ids=["wide", "narrow"])
def visitor(open_tab: OpenTab, request) -> Page:
    """A browser without a session."""
    return open_tab(narrow=request.param, expected=["422"])


def test_a_stranger_reads_the_page_and_sends_scores(opened: PublicPage, visitor, tmp_path) -> None:
    visitor.goto(f"/r/{opened.key}/")
    expect(visitor.get_by_role("heading", level=1)).to_contain_text("<img src=x")
    expect(visitor.locator("video")).to_have_count(1)
    expect(visitor.get_by_text("No licence is stated for this video, so this page does not play it.")).to_be_visible()
    assert visitor.evaluate("document.images.length") == 0
    assert_accessible(visitor)
    visitor.locator("summary", has_text="Cite").click()
    expect(visitor.locator(".cite-menu").get_by_role("button", name="Copy the BibTeX entry")).to_be_visible()
    assert_accessible(visitor)
    visitor.keyboard.press("Escape")
    for tab in ("Data", "Leaderboard", "Validation", "Versions"):
        visitor.get_by_role("navigation", name="Release").get_by_role("link", name=tab).click()
        expect(visitor.locator("a[aria-current=page]", has_text=tab)).to_be_visible()
        expect(visitor.get_by_role("heading", level=1)).to_contain_text("<img src=x")
        assert_accessible(visitor)
    visitor.goto(f"/r/{opened.key}/leaderboard/")
    visitor.get_by_role("columnheader", name="T", exact=True).get_by_role("link").click()
    expect(visitor.locator("th[aria-sort=descending]")).to_contain_text("T")
    expect(visitor.locator(".ci-bar").first).to_be_visible()
    assert_accessible(visitor)
    visitor.get_by_role("link", name="Submit scores of your model").click()
    expect(visitor.get_by_label("Score file")).to_be_visible()
    assert_accessible(visitor)
    path = tmp_path / "scores.jsonl"
    records = [member.record for member in opened.release.members.order_by("position")]
    path.write_text(json.dumps({"id": HOSTILE, "caption": 1, "foils": [0]}))
    visitor.get_by_label("Model name").fill(f"Theirs {HOSTILE[:-5]}")
    visitor.get_by_label("Submitted by").fill("A lab")
    visitor.get_by_label("Contact").fill("ann@example.org")
    visitor.get_by_label("Score file").set_input_files(path)
    visitor.get_by_role("button", name="Submit scores").click()
    expect(visitor.get_by_text("is not an item of the release")).to_be_visible()
    assert_accessible(visitor)
    path.write_text("".join(json.dumps({"id": each["id"], "caption": 1, "foils": [0]}) + "\n" for each in records))
    visitor.get_by_label("Score file").set_input_files(path)
    visitor.get_by_role("button", name="Submit scores").click()
    expect(visitor.get_by_role("heading", name="Scores submitted")).to_be_visible()
    assert_accessible(visitor)
    assert Submission.objects.get().state == "waiting"


def test_a_stranger_reads_in_one_screen_what_it_is_for(visitor, live_server) -> None:
    seen: list[str] = []
    visitor.on("response", lambda response: seen.append(response.url))
    visitor.goto("/", wait_until="networkidle")
    expect(visitor.get_by_role("heading", level=1)).to_contain_text("Does your video benchmark need the video?")
    assert visitor.evaluate("document.images[0].naturalWidth") > 1000
    assert_accessible(visitor)
    # Modules of scripts are files of their own, preloaded at once.
    assert len(seen) < 20
    assert all(url.startswith(live_server.url) for url in seen)
    if visitor.viewport_size == WIDE:
        assert visitor.evaluate("document.documentElement.scrollHeight <= innerHeight")
    visitor.get_by_role("link", name="Sign in").click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_the_owner_decides_and_fills_in_what_only_people_know(
    opened: PublicPage, sign_in: SignIn, narrow: bool
) -> None:
    Submission.objects.create(
        release=opened.release,
        label=f"Theirs {HOSTILE}",
        sent_by="A lab",
        contact="a@b.example",
        notes=HOSTILE,
        file_name="x",
        path="none/x",
        sha256="1" * 64,
        n_items=2,
    )
    page = sign_in(opened.opened_by, narrow=narrow)
    page.goto(f"/projects/dots/releases/{opened.release_id}/public/")
    assert_accessible(page)
    page.get_by_label("Reason to reject Theirs").fill("trained on it")
    page.get_by_role("button", name="Reject Theirs").click()
    expect(page.get_by_text("trained on it")).to_be_visible()
    page.goto("/projects/dots/datasheet/")
    assert_accessible(page)
    # The first section with open questions is shown.
    page.get_by_role("link", name="Collection process").click()
    expect(page.get_by_role("heading", name="Collection process")).to_be_visible()
    page.get_by_label("Were any ethical review processes conducted").fill(HOSTILE)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. New exports contain the change.")).to_be_visible()
    expect(page.get_by_label("Were any ethical review processes conducted")).to_have_value(HOSTILE)
    page.goto("/projects/dots/publication/")
    assert_accessible(page)


@pytest.mark.full
def test_an_answer_is_saved_on_the_way_out_of_its_field_and_no_text_is_lost(
    opened: PublicPage, sign_in: SignIn
) -> None:
    """Two windows answer one question: the second one reads both texts before it replaces the first."""
    page = sign_in(opened.opened_by)
    address, question = "/projects/dots/datasheet/?section=uses", "What (other) tasks could the dataset be used for?"
    page.goto(address)
    other = page.context.new_page()
    other.goto(address)
    before = page.locator("#sheet-progress").inner_text()
    page.get_by_label(question).fill("Teaching.")
    page.get_by_label(question).blur()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    expect(page.locator("#sheet-progress")).not_to_have_text(before)
    assert DatasheetAnswer.objects.get().text == "Teaching."
    other.get_by_label(question).fill("Research.")
    other.get_by_label(question).blur()
    expect(other.get_by_text("Your text is not saved.")).to_be_visible()
    expect(other.get_by_label(question)).to_have_value("Research.")
    expect(other.locator(".sheet-theirs")).to_have_text("Teaching.")
    assert_accessible(other)
    other.get_by_role("button", name="Replace it with my text").click()
    expect(other.get_by_text("Saved", exact=True)).to_be_visible()
    assert DatasheetAnswer.objects.get().text == "Research."
    # A link waits for the answer that is on its way.
    other.get_by_label(question).fill("Research, and teaching.")
    other.get_by_role("link", name="Maintenance").click()
    expect(other.get_by_role("heading", name="Maintenance")).to_be_visible()
    assert DatasheetAnswer.objects.get().text == "Research, and teaching."
    other.close()
