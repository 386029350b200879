"""A researcher's small benchmark of own videos: real mp4 files, real people, a release, a score, an export."""

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Lease
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Item
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import Invitation, User
from foilworks.site.imports.models import Import
from generation.models import GenerationRun
from tests.e2e.conftest import WORK, OpenTab, SignIn, moving_dot
from tests.factories import make_user

pytestmark = pytest.mark.django_db(transaction=True)

CAPTIONS = {"right": "a red dot moves to the right.", "left": "a red dot moves to the left."}
PASSWORD = "nine correct horses"
# From own clips to a public release, whatever the number of clips: 31 in 0.1.0.
MAX_CLICKS = 18
COUNT_CLICKS = """
addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);
"""
HELPERS = {"ann": "annotator", "rita": "reviewer", "vera": "validator", "vic": "validator", "val": "validator"}


def own_files(folder: Path) -> tuple[Path, list[Path]]:
    """Two clips of one's own, one the reverse of the other, and the lines that say what is true of them."""
    frames = moving_dot()
    clips = [folder / f"{name}.mp4" for name in CAPTIONS]
    for clip, pictures in zip(clips, (frames, frames[::-1]), strict=True):
        write_mp4(clip, pictures, 12.0)
    lines = [json.dumps({"id": name, "video": f"{name}.mp4", "caption": text}) for name, text in CAPTIONS.items()]
    records = folder / "direction.jsonl"
    records.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return records, clips


def set_up(page: Page) -> None:
    """A project, its subtest and its people, by the pages."""
    page.goto("/")
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Name", exact=True).fill("Own clips")
    page.get_by_role("button", name="Create project").click()
    page.get_by_role("link", name="Create subtest").click()
    page.locator("[name='name']").fill("direction")
    page.get_by_role("button", name="Create subtest").click()
    expect(page.get_by_role("row").filter(has_text="direction")).to_be_visible()


def invite(page: Page) -> dict[str, str]:
    """Role -> the link that admits its people, made with one press."""
    page.get_by_role("link", name="Invite people").click()
    page.get_by_role("button", name="Create links").click()
    expect(page.get_by_text("3 links created")).to_be_visible()
    made = {", ".join(each.roles): token_of(each) for each in Invitation.objects.all()}
    return {role: f"/join/{token}/" for role, token in made.items()}


def join(page: Page, link: str, name: str) -> None:
    """A person's own steps: the link, an account, and the project is there."""
    page.goto(link)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password confirmation").fill(PASSWORD)
    page.locator("main form button").first.click()
    expect(page.get_by_text("Own clips").first).to_be_visible()


def worker_does(job: Job) -> None:
    """What the worker beside the web server does with a job that a page has started."""
    assert run_now(job).state == JobState.DONE


def bring_in(page: Page, folder: Path) -> None:
    """Files are sent, looked at, and stored when the researcher says so."""
    records, clips = own_files(folder)
    page.get_by_role("link", name="Import videos and captions").click()
    page.locator("[name='videos']").set_input_files([records, *clips])
    page.get_by_role("button", name="Upload and preview").click()
    page.wait_for_url(re.compile(r"/imports/\d+/$"))
    worker_does(Import.objects.get().job)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("importing")).to_be_visible()
    worker_does(Import.objects.get().job)
    expect(page.get_by_text("Imported.")).to_be_visible()


def generate(page: Page) -> None:
    page.get_by_role("link", name="Generate foils").click()
    # The scripts are there once the page has loaded; a choice made before would ask for no fields.
    page.wait_for_url("**/runs/new/")
    page.locator("[name=method][value=preposition]").check()
    page.locator("[name='method-pairs']").fill("to the right:to the left")
    page.get_by_role("button", name="Start run").click()
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    worker_does(GenerationRun.objects.get().job)
    expect(page.get_by_text("a red dot moves to the").first).to_be_visible()


def work_through(page: Page, stage: str, act: Callable[[Page], None], pieces: int = 2) -> None:
    """Every piece of the only queue, by the keys of `act`; the last one leads to an empty queue."""
    page.goto("/projects/own-clips/work/")
    page.keyboard.press("1")
    page.wait_for_url(f"**/work/{stage}/*/")
    for _piece in range(pieces):
        page.wait_for_selector(WORK)
        with page.expect_navigation():
            act(page)
    expect(page.get_by_role("heading", name="You have completed all tasks here")).to_be_visible()


def sends(page: Page) -> None:
    page.keyboard.press("Control+Enter")


def accepts(page: Page) -> None:
    page.keyboard.press("a")


def answers_truly(page: Page) -> None:
    """By the picture alone: where the dot stands first says which way it goes."""
    texts = [text.strip() for text in page.locator(".pair .sentence").all_text_contents()]
    # Nothing on the page names the clip; its caption is what a person would see.
    token = page.url.split("?")[0].rstrip("/").split("/")[-1]
    truth = Lease.objects.get(token=token).slot.item.caption.text
    page.keyboard.press(str(texts.index(truth) + 1))
    page.keyboard.press("Control+Enter")


@pytest.mark.full
def test_a_small_benchmark_of_own_videos(sign_in: SignIn, open_tab: OpenTab, tmp_path: Path) -> None:
    owner = sign_in(make_user("olga", is_superuser=True), alone=True)
    owner.context.add_init_script(COUNT_CLICKS)
    set_up(owner)
    bring_in(owner, tmp_path)
    generate(owner)
    links = invite(owner)
    for name, role in HELPERS.items():
        join(open_tab(), links[role], name)

    people = {name: User.objects.get(username=name) for name in HELPERS}
    work_through(sign_in(people["ann"]), "edit", sends)
    work_through(sign_in(people["rita"]), "review", accepts)
    for name in ("vera", "vic", "val"):
        work_through(sign_in(people[name]), "validation", answers_truly)
    assert list(Item.objects.values_list("state", "unanimous")) == [(ItemState.VALID, True)] * 2

    owner.get_by_role("navigation", name="Project").get_by_role("link", name="Overview", exact=True).click()
    owner.get_by_role("link", name="Freeze release").first.click()
    owner.get_by_label("Name").fill("v1")
    owner.get_by_role("button", name="Freeze release").click()
    expect(owner.get_by_role("heading", name="v1")).to_be_visible()
    release_page = owner.url
    owner.get_by_role("link", name="Public page").click()
    owner.get_by_role("button", name="Publish page").click()
    expect(owner.locator("a[href^='/r/']").first).to_be_visible()
    # And the files of the picker.
    clicks = int(owner.evaluate("sessionStorage.clicks")) + 1
    assert clicks <= MAX_CLICKS, clicks

    owner.goto("/projects/own-clips/items/")
    expect(owner.get_by_role("img", name="3 of 3 votes for the caption")).to_have_count(2)
    owner.goto("/projects/own-clips/reports/")
    expect(owner.get_by_role("row").filter(has_text="direction")).to_contain_text("2")
    owner.goto(release_page)
    owner.get_by_label("Model", exact=True).fill("fake:")
    owner.get_by_role("button", name="Start").click()
    owner.wait_for_url(re.compile(r"/scoring/\d+/$"))
    worker_does(Run.objects.get().job)
    expect(owner.get_by_role("heading", name="Results")).to_be_visible()

    owner.goto(release_page)
    with owner.expect_download() as download:
        owner.get_by_role("button", name="Download as JSON lines").click()
    archive = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
    rows = [
        json.loads(line)
        for name in archive.namelist()
        if name.endswith(".jsonl")
        for line in archive.read(name).decode().splitlines()
    ]
    assert {row["caption"] for row in rows if "caption" in row} == set(CAPTIONS.values())
