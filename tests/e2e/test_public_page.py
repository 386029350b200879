"""The public page of a release and its form, by somebody without an account; the owner's forms, wide and on a phone."""

import json

import pytest
from playwright.sync_api import Page, expect

from evaluation.documents.models import PublicationFacts, SourceLicence
from evaluation.publishing.actions.set_public_page import set_public_page
from evaluation.publishing.models import PublicPage, Submission
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from jobs.runner import run_now
from tests.annotation.world import make_world
from tests.e2e.conftest import OpenTab, SignIn, assert_accessible, film, moving_dot
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
    run_now(start_run(world.owner, release, "fake:text", label=f"Fake {HOSTILE}").job)
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
    assert visitor.evaluate("document.images.length") == 0
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


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
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
    # Only the first section with open questions is unfolded.
    page.locator("summary").filter(has_text="Collection process").click()
    page.get_by_label("Were any ethical review processes conducted").fill(HOSTILE)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Were any ethical review processes conducted")).to_have_value(HOSTILE)
    page.goto("/projects/dots/publication/")
    assert_accessible(page)
