"""Uploads that are cut: by the network, by a person who pauses, and by leaving the page."""

import filecmp
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.storage import default_storage
from playwright.sync_api import Page, Request, Route, expect

from foilworks.core.projects.models import Role
from foilworks.site.imports.declarations import FILE_PARTS
from foilworks.site.imports.models import Import
from foilworks.site.imports.object_parts import PREFIX
from foilworks.site.imports.uploads import fetch_files, videos_folder
from foilworks.site.monitoring.requests import content_policy
from tests.e2e.conftest import SignIn, assert_accessible, wait_for, wait_until
from tests.factories import make_member, make_project
from tests.object_store import Store, running_store

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


@pytest.fixture
def store(tmp_path: Path, settings) -> Iterator[Store]:
    """An object store that pages may send to, as STORAGE_URL names it."""
    with running_store(tmp_path / "buckets") as running:
        backend = {"BACKEND": "foilworks.core.corpus.video_files.object_store.ObjectStore", "OPTIONS": running.options}
        settings.STORAGES = {**settings.STORAGES, "default": backend}
        directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
        allowed = {**directives, "connect-src": [*directives["connect-src"], running.url]}
        settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": allowed}
        content_policy.cache_clear()
        yield running
    content_policy.cache_clear()


@pytest.mark.full
def test_a_large_video_goes_straight_to_the_object_store(sign_in: SignIn, tmp_path: Path, settings, store) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads" / "arriving"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True)
    size = 4 * FILE_PARTS.part_bytes + 5
    path = large_file(tmp_path / "film.mp4", size)
    project = make_project(slug="dots", name="Dots")
    page = sign_in(make_member(project, Role.RESEARCHER), alone=True, expected=("ERR_",))
    numbers: list[str] = []
    held: list[Route] = []

    def part(route: Route) -> None:
        numbers.append(parse_qs(urlsplit(route.request.url).query)["partNumber"][0])
        if numbers == ["1", "2"]:
            route.abort("connectionreset")
        elif numbers[-1] == "4" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route(f"{store.url}/**", part)
    page.goto("/projects/dots/imports/")
    page.get_by_label("Files", exact=True).set_input_files(path)
    page.get_by_role("button", name="Upload and preview").click()
    # The second part was lost once and sent again; the fourth is on its way when the person pauses.
    wait_for(page, lambda: bool(held))
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status").filter(has_text="Paused.")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    page.wait_for_url("**/imports/*/", timeout=PATIENCE_MS)
    assert numbers == ["1", "2", "2", "3", "4", "4", "5"]
    upload = Import.objects.get()
    assert not list(settings.FILE_UPLOAD_TEMP_DIR.iterdir())
    assert [default_storage.size(f"{PREFIX}/{name}") for name in default_storage.listdir(PREFIX)[1]] == [size]
    fetch_files(upload)
    assert filecmp.cmp(videos_folder(upload) / "film.mp4", path, shallow=False)
    assert [entry.name for entry in videos_folder(upload).iterdir()] == ["film.mp4"]
    assert default_storage.listdir(PREFIX)[1] == []
