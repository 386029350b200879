"""Uploads that are cut: by the network, by a person who pauses, and by leaving the page."""

import filecmp
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from foilworks.core.projects.models import Role
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import videos_folder
from tests.e2e.conftest import SignIn, assert_accessible, wait_until
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)
GIB = 1024**3
PATIENCE_MS = 240_000


def large_file(path: Path, size: int) -> Path:
    """A file of which each part begins with its own bytes, so that none can be doubled, lost or misplaced unseen."""
    with path.open("wb") as file:
        for offset in range(0, size, FILE_PARTS.part_bytes):
            file.seek(offset)
            file.write(f"part at {offset}".encode())
        file.truncate(size)
    return path


def offsets_of(page: Page) -> list[int]:
    """Where the parts begin that the page sends from now on."""
    offsets: list[int] = []

    def note(request: Request) -> None:
        if request.method == "PATCH":
            offsets.append(int(request.headers["upload-offset"]))

    page.on("request", note)
    return offsets


def until(page: Page, percent: int) -> None:
    wait_until(page, f"document.querySelector('.drop-progress').value * 100 >= {percent}")


@pytest.mark.full
def test_an_upload_of_2_gb_that_is_cut_twice_continues(sign_in: SignIn, tmp_path: Path, settings) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads" / "arriving"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True)
    path = large_file(tmp_path / "film.mp4", 2 * GIB)
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), alone=True, expected=("ERR_INTERNET_DISCONNECTED",))
    page.goto("/projects/dots/imports/")
    offsets = offsets_of(page)
    page.get_by_label("Files", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    until(page, 20)
    assert_accessible(page)
    page.context.set_offline(True)
    expect(page.get_by_role("status").filter(has_text="The connection was lost.")).to_be_visible()
    page.context.set_offline(False)
    until(page, 40)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status").filter(has_text="Paused.")).to_be_visible()
    n_sent = len(offsets)
    page.get_by_role("button", name="Resume").click()
    until(page, 50)
    assert len(offsets) > n_sent
    expect(page.locator("[data-drop-numbers]")).to_contain_text("left")
    # The page is left, and the same file is chosen again.
    page.goto("/projects/dots/imports/")
    page.get_by_label("Files", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    page.wait_for_url("**/imports/*/", timeout=PATIENCE_MS)
    upload = Import.objects.get()
    assert filecmp.cmp(videos_folder(upload) / "film.mp4", path, shallow=False)
    # Each of the cuts cost the part that was on its way, no more.
    assert len(offsets) <= 2 * GIB // FILE_PARTS.part_bytes + 3 + 3
    assert not list(settings.FILE_UPLOAD_TEMP_DIR.iterdir())


@pytest.mark.full
def test_a_folder_is_sent_once_although_its_form_has_a_mistake(sign_in: SignIn, tmp_path: Path, settings) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads" / "arriving"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True)
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), alone=True, expected=("422",))
    page.goto("/projects/dots/imports/")
    announced: list[str] = []
    page.on("request", lambda request: announced.append(request.url) if request.url.endswith("/files/") else None)
    paths = [large_file(tmp_path / f"{name}.csv", 20) for name in ("a", "b")]
    page.get_by_label("Files", exact=True).set_input_files(paths)
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("alert")).to_contain_text("Not uploaded.")
    page.get_by_role("group", name="Which file has the records?").get_by_label("b.csv").check()
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("heading", name="b.csv")).to_be_visible()
    assert len(announced) == 2
    wait_until(page, "!document.querySelector('[data-drop-sending]')")
