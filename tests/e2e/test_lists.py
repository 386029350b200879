"""Lists with pictures: filters that act at once, rows by keys, the panel, what plays, selections and their undo."""

import pytest
from playwright.sync_api import expect

from foilworks.core.corpus.models import Item, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.corpus.video_files.film_strips import prepare_video
from foilworks.core.media.strips import MAX_BYTES
from foilworks.core.projects.models import Project, Role
from tests.e2e.conftest import SignIn, assert_accessible, assert_accessible_wide_and_narrow, film, moving_dot
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_score,
    make_subtest,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    """Thirty items of one clip: every third one is valid."""
    project = make_project(slug="dots")
    subtest = make_subtest(project)
    video = film(project, moving_dot(), 12)
    prepare_video(video)
    video.save()
    caption = make_caption(video, "a red dot moves to the right.")
    for n in range(30):
        state = ItemState.IN_VALIDATION if n % 3 else ItemState.VALID
        make_item(subtest, caption, (f"a red dot moves to the left {n}.",), key=f"item {n:02}", state=state)
    return project


@pytest.mark.full
def test_items_are_filtered_read_and_moved_without_leaving_the_list(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, Role.RESEARCHER))
    page.goto("/projects/dots/items/")
    expect(page.get_by_text("1–25 of 30").first).to_be_visible()
    rows = page.locator("[data-row]")
    assert_accessible_wide_and_narrow(page)
    # A chip filters at once, and the address says so.
    page.get_by_text("valid", exact=True).first.click()
    expect(rows).to_have_count(10)
    assert page.url.endswith("/items/?state=valid")
    # The film strip plays while the pointer rests on it.
    strip = page.locator("[data-strip]").first
    strip.hover()
    expect(strip.locator("video")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(strip.locator("video")).to_have_count(0)
    # j and k move, Enter opens the panel, and the panel follows.
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="item 24")).to_be_focused()
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Selected row")
    expect(panel.get_by_role("heading", name="item 24")).to_be_visible()
    page.keyboard.press("k")
    expect(panel.get_by_role("heading", name="item 27")).to_be_visible()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("link", name="item 27")).to_be_focused()
    # Selected rows move together, and come back.
    page.keyboard.press("x")
    page.get_by_role("checkbox", name="Select item 24").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_label("Reason").fill("the clip is too dark")
    page.get_by_role("button", name="Retract item").click()
    expect(page.get_by_text("You can undo these 2 decisions until")).to_be_visible()
    expect(rows).to_have_count(8)
    assert Item.objects.filter(state=ItemState.RETRACTED).count() == 2
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(10)
    assert not Item.objects.filter(state=ItemState.RETRACTED).exists()


@pytest.mark.full
def test_the_address_of_a_view_has_its_filters_and_the_open_panel(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, Role.RESEARCHER), permissions=["clipboard-read", "clipboard-write"])
    page.goto("/projects/dots/items/")
    page.get_by_text("valid", exact=True).first.click()
    expect(page.locator("[data-row]")).to_have_count(10)
    page.get_by_role("link", name="item 24").click()
    panel = page.get_by_role("complementary", name="Selected row")
    expect(panel.get_by_role("heading", name="item 24")).to_be_visible()
    page.get_by_role("button", name="Copy link to this view").click()
    expect(page.get_by_role("status").filter(has_text="Copied")).to_be_visible()
    view = page.evaluate("navigator.clipboard.readText()")
    assert view == page.url
    assert view.endswith(f"/items/?state=valid#row-{Item.objects.get(key='item 24').pk}")
    page.goto("/projects/dots/")
    page.goto(view)
    expect(panel.get_by_role("heading", name="item 24")).to_be_visible()
    expect(page.get_by_role("radio", name="valid", exact=True)).to_be_checked()
    # The panel stays while other filters show its row, and closes with it.
    page.get_by_text("All", exact=True).first.click()
    expect(page.locator("[data-row]")).to_have_count(25)
    expect(page).to_have_url(f"{view.split('?')[0]}#{view.split('#')[1]}")
    expect(page.locator("[data-row][data-shown]")).to_have_count(1)
    page.get_by_text("disputed", exact=True).first.click()
    expect(panel).to_be_hidden()
    assert "#" not in page.url


@pytest.mark.full
def test_captions_are_read_beside_their_list(project: Project, sign_in: SignIn) -> None:
    make_caption(Video.objects.get(), "a red dot stops.", facts={"maker": "cos_caption"})
    page = sign_in(make_member(project, Role.RESEARCHER))
    page.goto("/projects/dots/captions/list/")
    expect(page.locator("[data-row]")).to_have_count(2)
    assert_accessible_wide_and_narrow(page)
    page.get_by_text("generated", exact=True).first.click()
    expect(page.locator("[data-row]")).to_have_count(1)
    assert page.url.endswith("/captions/list/?source=generated")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name="Selected row")
    expect(panel.get_by_role("heading", name="a red dot stops.")).to_be_visible()
    expect(panel.locator("video")).to_have_count(1)
    assert_accessible(page)
    page.get_by_text("More filters").click()
    expect(page.get_by_label("Generated by")).to_be_visible()
    assert_accessible_wide_and_narrow(page)


def test_a_list_of_25_rows_asks_for_small_strips_and_moves_nothing(project: Project, sign_in: SignIn) -> None:
    page = sign_in(make_member(project, Role.RESEARCHER))
    answers: list[tuple[str, int]] = []
    page.on("response", lambda answer: answers.append((answer.url, len(answer.body()) if answer.ok else 0)))
    page.add_init_script(
        "window.shift = 0; new PerformanceObserver((list) => { for (const e of list.getEntries()) shift += e.value; })"
        ".observe({type: 'layout-shift', buffered: true})"
    )
    page.goto("/projects/dots/items/", wait_until="networkidle")
    strips = [size for url, size in answers if "/strip/" in url]
    assert strips
    assert max(strips) <= MAX_BYTES
    assert page.evaluate("shift") <= 0.01
    assert Video.objects.get().film_strip
    for width in (360, 768, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width


@pytest.mark.full
def test_a_full_list_with_its_panel_is_at_most_2000_px_tall(project: Project, sign_in: SignIn) -> None:
    run = make_run(project.subtests.get(), selection={})
    group = make_group(run, project.videos.get().captions.get())
    for n in range(30):
        candidate = make_candidate(group, f"a red dot moves to the left {n}.")
        make_score(candidate, "minimal_edit", passed=bool(n % 3), score=1 + n % 5)
    page = sign_in(make_member(project, Role.RESEARCHER))
    for address in ("/projects/dots/items/", "/projects/dots/videos/", f"/projects/dots/runs/{run.pk}/"):
        page.goto(address)
        before = page.locator("[data-row]").first.bounding_box()["height"]
        assert page.evaluate("document.documentElement.scrollHeight") <= 2000, address
        page.locator("[data-row] a[data-panel]").first.click()
        page.wait_for_selector("[data-list-panel] [data-player][data-ready]")
        # The row stays on its line; the panel scrolls inside itself.
        assert page.locator("[data-row]").first.bounding_box()["height"] == before, address
        assert page.evaluate("document.documentElement.scrollHeight") <= 2000, address
    page.get_by_text("Filter scores").click()
    expect(page.get_by_role("region", name="Filter scores")).to_be_visible()
    assert_accessible(page)
