"""A researcher's small benchmark of own videos: real mp4 files, real people, a release, a score, an export."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation.actions.claims.claim import claim
from annotation.actions.submissions.judgements import submit_vote
from annotation.actions.workflow.make_tasks import make_tasks
from annotation.models import Lease, Stage
from annotation.queries.cards import claim_card
from evaluation.scoring.models import Run
from foilworks.core.corpus.models import Foil, Item
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.invitations import token_of
from foilworks.core.projects.models import Invitation, Project, User
from foilworks.site.imports.models import Import
from generation.models import Candidate, GenerationRun
from tests.e2e.conftest import WORK, OpenTab, SignIn, moving_dot
from tests.factories import make_member, make_user
from tests.media.test_probe import encode

pytestmark = pytest.mark.django_db(transaction=True)

CAPTIONS = {"right": "a red dot moves to the right.", "left": "a red dot moves to the left."}
PASSWORD = "nine correct horses"
# From own clips to a public release, whatever the number of clips: 31 in 0.1.0.
MAX_CLICKS = 18
MAX_IMPORT_CLICKS = 5
COUNT_CLICKS = """
addEventListener("click", (event) => {
  if (event.isTrusted) sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true);
"""
MAX_TYPED = 4
# A person's own table: other names of columns, two wrong sentences, semicolons, columns about nothing of ours.
ODD_TABLE = """\ufeffFilename;What happens;Wrong version;Wrong version 2;Notes;Who typed it;Length (s)
ball rolls.mp4;A red ball rolls from left to right.;A red ball rolls from right to left.;A blue ball rolls from left to right.;ok;PK;2,5
kitchen cam (2).mp4;A yellow ball bounces beside a blue ball.;A yellow ball bounces beside a green ball.;A yellow ball rests beside a blue ball.;;PK;2,5
phone-portrait.mov;A green box moves up.;A green box moves down.;;portrait;MM;2,5
drone_take3.webm;One of three brown boxes disappears.;Two of three brown boxes disappear.;One of three brown boxes appears.;;MM;2,5
grow.mkv;A purple square grows.;A purple square shrinks.;A purple circle grows.;check;PK;2,5
"""  # noqa: E501
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


def work_through(page: Page, stage: str, act: Callable[[Page], None], pieces: int) -> None:
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


def odd_files(folder: Path) -> list[Path]:
    """A folder of clips in several containers, and the table beside them."""
    folder.mkdir()
    (folder / "my texts.csv").write_text(ODD_TABLE, encoding="utf-8")
    names = [line.partition(";")[0] for line in ODD_TABLE.splitlines()[1:]]
    for number, name in enumerate(names):
        encode(folder / name, "libvpx" if name.endswith("webm") else "libx264", n=24 + number)
    return sorted(folder.iterdir())


def judge_truly(project: Project, people: Sequence[User]) -> None:
    """Each person answers all that they are given, by the caption."""
    for number, person in enumerate(people):
        while work := claim(person, project, Stage.VALIDATION):
            card = claim_card(person, work)
            truth = Lease.objects.get(token=work.token).slot.item.caption.text
            choice = "first" if card.validation.first.text == truth else "second"
            submit_vote(person, work.token, f"{number}-{work.token}", choice)


@pytest.mark.full
def test_an_odd_table_and_own_clips_become_a_public_release_with_a_ladder(
    sign_in: SignIn, tmp_path: Path, settings
) -> None:
    settings.UPLOAD_ROOT = tmp_path / "uploads"
    owner = sign_in(make_user("olga", is_superuser=True), alone=True)
    owner.context.add_init_script(COUNT_CLICKS)
    typed: list[str] = []

    def fill(name: str, text: str) -> None:
        typed.append(name)
        owner.locator(f"main [name='{name}']").fill(text)

    def clicks() -> int:
        # And the folder of the picker.
        return int(owner.evaluate("sessionStorage.clicks")) + 1

    owner.goto("/")
    owner.get_by_role("link", name="New project").click()
    fill("name", "Own clips")
    owner.get_by_role("button", name="Create project").click()
    owner.wait_for_url("**/own-clips/")
    before_import = clicks() - 1
    owner.locator("main").get_by_role("link", name="Import", exact=True).click()
    owner.get_by_label("Files", exact=True).set_input_files(odd_files(tmp_path / "clips"))
    owner.get_by_role("button", name="Upload and preview").click()
    owner.wait_for_url(re.compile(r"/imports/\d+/$"))
    worker_does(Import.objects.get().job)
    # The contents show what the columns are: nothing is asked or corrected.
    expect(owner.get_by_text("Wrong version, Wrong version 2")).to_be_visible()
    owner.get_by_role("button", name="Import").click()
    expect(owner.get_by_text("importing")).to_be_visible()
    worker_does(Import.objects.get().job)
    expect(owner.get_by_text("Imported.")).to_be_visible()
    assert clicks() - before_import <= MAX_IMPORT_CLICKS
    assert sorted(Item.objects.values_list("caption__text", flat=True)) == sorted(
        line.split(";")[1] for line in ODD_TABLE.splitlines()[1:]
    )
    assert Foil.objects.count() == 9

    owner.get_by_role("navigation", name="Project").get_by_role("link", name="Overview", exact=True).click()
    owner.get_by_role("link", name="Invite people").first.click()
    owner.get_by_role("button", name="Create links").click()
    # As many as are missing, and only for the role that is.
    (invitation,) = Invitation.objects.all()
    assert invitation.roles == ["validator"]
    project = Project.objects.get()
    team = [make_member(project, "validator", name=f"v{number}") for number in range(invitation.most_uses)]
    make_tasks(project)
    judge_truly(project, team)
    assert set(Item.objects.values_list("state", flat=True)) == {ItemState.VALID}

    owner.get_by_role("navigation", name="Project").get_by_role("link", name="Overview", exact=True).click()
    owner.get_by_role("link", name="Freeze release").first.click()
    fill("name", "v1")
    owner.get_by_role("button", name="Freeze release").click()
    expect(owner.get_by_role("heading", name="v1")).to_be_visible()
    fill("spec", "fake:")
    owner.get_by_text("Name, rungs, device and limits").click()
    owner.locator("[name='controls']").check()
    owner.get_by_role("button", name="Start").click()
    owner.wait_for_url(re.compile(r"/scoring/\d+/$"))
    worker_does(Run.objects.get().job)
    owner.locator("main").get_by_role("link", name="v1", exact=True).first.click()
    owner.get_by_role("link", name="Public page").first.click()
    owner.get_by_role("button", name="Publish page").click()
    address = owner.locator("a[href^='/r/']").first
    expect(address).to_be_visible()
    assert clicks() <= MAX_CLICKS, clicks()
    assert len(typed) <= MAX_TYPED, typed
    for job in Job.objects.filter(state=JobState.WAITING):
        run_now(job)
    address.click()
    expect(owner.get_by_role("heading", name="What this benchmark measures")).to_be_visible()


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
    # The balanced draw takes one or two of the two opposite foils.
    n = Candidate.objects.filter(state=CandidateState.QUEUED).count()
    assert n in (1, 2)
    work_through(sign_in(people["ann"]), "edit", sends, n)
    work_through(sign_in(people["rita"]), "review", accepts, n)
    for name in ("vera", "vic", "val"):
        work_through(sign_in(people[name]), "validation", answers_truly, n)
    assert list(Item.objects.values_list("state", "unanimous")) == [(ItemState.VALID, True)] * n

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
    expect(owner.get_by_role("img", name="3 of 3 votes for the caption")).to_have_count(n)
    owner.goto("/projects/own-clips/reports/validation/")
    expect(owner.get_by_role("row").filter(has_text="direction")).to_contain_text(str(n))
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
    captions = [row["caption"] for row in rows if "caption" in row]
    assert len(captions) == n
    assert set(captions) <= set(CAPTIONS.values())
