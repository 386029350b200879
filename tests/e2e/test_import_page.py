"""A researcher sends a table and real mp4 files by the page, looks, and imports; by keyboard, wide and narrow."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from foilworks.core.corpus.models import Item, Video
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.models import Project, Role
from tests.e2e.conftest import IN_BOTH_WIDTHS, SignIn, assert_accessible, moving_dot, wait_until
from tests.factories import make_member, make_project
from tests.media.test_probe import encode

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = """id,video,caption,foil
a,right.mp4,a red dot moves to the right.,a red dot moves to the left.
b,hevc.mp4,a dot stands still.,a dot moves.
c,c.mp4,,a dot is gone.
d,gone.mp4,a dot is there.,a dot is not there.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dots.csv").write_text(TABLE, encoding="utf-8")
    write_mp4(tmp_path / "right.mp4", moving_dot(), fps=12)
    encode(tmp_path / "hevc.mp4", "libx265")
    return tmp_path


def do_the_job() -> None:
    run_now(Job.objects.filter(state="waiting").latest("created_at"))


@IN_BOTH_WIDTHS
def test_files_are_sent_looked_at_and_imported(sign_in: SignIn, folder: Path, settings, narrow: bool) -> None:
    settings.UPLOAD_ROOT = folder / "uploads"
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), narrow=narrow)
    page.goto("/projects/dots/videos/")
    page.get_by_role("link", name="Import").click()
    expect(page.get_by_label("Files", exact=True)).to_be_visible()
    assert_accessible(page)
    page.get_by_label("Files", exact=True).set_input_files(
        [folder / "dots.csv", folder / "right.mp4", folder / "hevc.mp4"]
    )
    expect(page.get_by_text("Records: 1")).to_be_visible()
    expect(page.get_by_text("Videos: 2")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_text("being checked")).to_be_visible()
    assert_accessible(page)
    do_the_job()
    # The live part asks for the page once the job is over.
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    expect(page.get_by_text("1 of 4 records has an error")).to_be_visible()
    expect(page.get_by_role("row", name="4 left out caption is missing; give the text")).to_be_visible()
    expect(page.get_by_text("a red dot moves to the left.")).to_be_visible()
    assert_accessible(page)
    assert Item.objects.count() == 0
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("importing")).to_be_visible()
    do_the_job()
    expect(page.get_by_text("Imported.")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="Go to videos").click()
    page.get_by_role("link", name="hevc.mp4").click()
    # What no browser plays was converted on its way in.
    expect(page.locator("video")).to_be_visible()
    wait_until(page, "document.querySelector('video').readyState >= 2")
    assert sorted(Video.objects.values_list("key", "media_state")) == [
        ("gone.mp4", "missing"),
        ("hevc.mp4", "ready"),
        ("right.mp4", "ready"),
    ]
    assert Item.objects.count() == 3


@pytest.mark.full
def test_the_chosen_format_says_what_it_needs_and_the_files_name_says_the_format(
    sign_in: SignIn, folder: Path, settings
) -> None:
    settings.UPLOAD_ROOT = folder / "uploads"
    make_project(slug="dots", name="Dots")
    page = sign_in(make_member(Project.objects.get(), Role.RESEARCHER))
    page.goto("/projects/dots/imports/")
    page.get_by_text("Options: Hugging Face Hub, format").click()
    note = page.locator("#format-note")
    expect(note).to_contain_text("Required: id and caption")
    page.get_by_label("Format", exact=True).select_option("votes")
    expect(note).to_contain_text("item,annotator,choice")
    page.get_by_label("Format", exact=True).select_option("auto")
    expect(note).to_contain_text("id,video,caption,foil")
    page.get_by_label("Files", exact=True).set_input_files(folder / "dots.csv")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_text("being checked")).to_be_visible()
    do_the_job()
    expect(page.get_by_text("3 videos have no file yet:")).to_be_visible()
    expect(page.get_by_text("right.mp4, hevc.mp4, gone.mp4")).to_be_visible()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("importing")).to_be_visible()
    do_the_job()
    page.get_by_role("link", name="Clips without a file").click()
    expect(page.get_by_role("link", name="gone.mp4")).to_be_visible()


@pytest.mark.full
@IN_BOTH_WIDTHS
def test_differences_from_stored_records_are_shown_and_applied_if_ticked(
    sign_in: SignIn, tmp_path: Path, settings, narrow: bool
) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), narrow=narrow)
    path = tmp_path / "dots.csv"
    for table in (TABLE, TABLE.replace("to the left", "up").replace("a dot moves.", "a dot <b>jumps</b>.")):
        path.write_text(table, encoding="utf-8")
        page.goto("/projects/dots/imports/")
        page.get_by_label("Files", exact=True).set_input_files(path)
        page.get_by_role("button", name="Upload and preview").click()
        expect(page.get_by_text("being checked")).to_be_visible()
        do_the_job()
        expect(page.get_by_role("heading", name="Preview")).to_be_visible()
        if table != TABLE:
            break
        page.get_by_role("button", name="Import").click()
        expect(page.get_by_text("importing")).to_be_visible()
        do_the_job()
    expect(page.get_by_role("heading", name="Differs from stored")).to_be_visible()
    expect(page.get_by_text("a dot <b>jumps</b>.").first).to_be_visible()
    assert_accessible(page)
    page.get_by_label("Update 2 records that differ from the file").check()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("importing")).to_be_visible()
    do_the_job()
    expect(page.get_by_text("2 updated from the file")).to_be_visible()
    assert Item.objects.get(key="b").foils.get().text == "a dot <b>jumps</b>."


@pytest.mark.full
def test_a_page_that_is_long_in_coming_is_asked_for_once(sign_in: SignIn, tmp_path: Path, settings) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    (tmp_path / "dots.csv").write_text(TABLE, encoding="utf-8")
    project = make_project(slug="dots", name="Dots")
    # Of its own: a page that never came would keep it.
    page = sign_in(make_member(project, Role.RESEARCHER), alone=True)
    page.goto("/projects/dots/imports/")
    page.get_by_label("Files", exact=True).set_input_files(tmp_path / "dots.csv")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_text("being checked")).to_be_visible()
    held: list[Route] = []
    page.route(re.compile(r"/imports/\d+/$"), lambda route: held.append(route))
    with page.expect_request(re.compile(r"/imports/\d+/$")):
        do_the_job()
    # As long as the live part waits until it asks again, and a bit.
    page.wait_for_timeout(1500)
    assert len(held) == 1
    held[0].continue_()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()


@pytest.mark.full
def test_dropped_files_are_named_and_one_of_two_tables_is_chosen(sign_in: SignIn, tmp_path: Path, settings) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), expected=("422",))
    page.goto("/projects/dots/imports/")
    page.evaluate(
        """(table) => {
            const dataTransfer = new DataTransfer();
            for (const name of ["a.csv", "b.csv", "b.csv", "notes.docx", ".hidden"]) {
                dataTransfer.items.add(new File([table], name));
            }
            document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true }));
        }""",
        TABLE,
    )
    listed = page.locator("[data-drop-list]")
    expect(listed).to_contain_text("Left out: 2")
    expect(listed).not_to_contain_text("hidden")
    page.get_by_role("button", name="Upload and preview").click()
    # The answer of the form comes in its place.
    expect(page.get_by_role("alert")).to_contain_text("Not uploaded.")
    expect(page.get_by_text("Each of these files can be the records: a.csv, b.csv.")).to_be_visible()
    assert_accessible(page)
    page.get_by_text("Is your file a published set?").click()
    page.get_by_label("Find a format").press_sequentially("no such words")
    expect(page.get_by_text("No format has these words.")).to_be_visible()
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in paths:
        path.write_text(TABLE, encoding="utf-8")
    page.get_by_label("Files", exact=True).set_input_files(paths)
    page.get_by_role("group", name="Which file has the records?").get_by_label("b.csv").check()
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("heading", name="b.csv")).to_be_visible()
