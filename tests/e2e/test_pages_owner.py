"""A researcher's pages in a real browser: readable, quiet, no wider than a phone, and alive where they should be."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import SlotState, Vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.pages import PAGES
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from generation.models import FilterScore, GenerationRun, Tuning
from tests.e2e.conftest import (
    OpenTab,
    SignIn,
    assert_accessible,
    assert_accessible_wide_and_narrow,
    film,
    moving_dot,
    wait_until,
)
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_task,
)

pytestmark = pytest.mark.django_db(transaction=True)
LONG = "a red square moves exactly three times from left to right behind a small blue circle that does not move at all."


@pytest.fixture
def world():
    """A project with rows on every page: long texts, every state, a release with scored, failed and waiting runs."""
    project = make_project(slug="shapes", name="Shapes that move", is_simulated=True)
    owner = make_member(project, *Role.values, name="owner")
    validators = [make_member(project, Role.VALIDATOR, is_simulated=True) for _ in range(3)]
    simpler = make_subtest(project, name="Objects", kind="proficiency", votes_wanted=1, votes_needed=1)
    subtest = make_subtest(project, name="Direction of motion", test="Motion", proficiency_subtest=simpler)
    run = make_run(subtest, method="preposition", skipped={"no preposition": 3}, params={"top": 10})
    for n, state in enumerate(CandidateState):
        video = film(project, moving_dot(), 12, key=f"shapes-{n:04}")
        caption = make_caption(video, f"{n}: {LONG}")
        candidate = make_candidate(make_group(run, caption), caption.text.replace("left to right", "up"), state=state)
        passed = state != CandidateState.FILTERED_OUT
        FilterScore.objects.create(
            run=candidate.group.run, candidate=candidate, filter="minimal_edit", filter_version="1", passed=passed
        )
        pair = make_item(simpler, caption, state=ItemState.VALID)
        verdict = (ItemState.VALID, ItemState.INVALID, ItemState.VALID)[n % 3]
        item = make_item(subtest, caption, (candidate.text,), state=verdict, proficiency_item=pair, unanimous=False)
        task = make_task(project, "validation", video, 3, item=item, foil=item.foils.get())
        for slot, person in zip(task.slots.order_by("index"), validators, strict=True):
            slot.state, slot.person = SlotState.DONE, person
            slot.save()
            choice = "foil" if verdict == ItemState.INVALID or (slot.index == 2 and n % 2) else "caption"
            Vote.objects.create(
                item=item,
                foil=item.foils.get(),
                person=person,
                slot=slot,
                choice=choice,
                idempotency_key=f"k{item.pk}",
                caption_first=bool((n + slot.index) % 2),
            )
    release = freeze_release(owner, project, name="v1")
    assert run_now(start_run(owner, release, RunRequest("fake:1", label="A fake model")).job).state == JobState.DONE
    start_run(owner, release, RunRequest("fake:2", label="A waiting model"))
    losses = [[step, 4.0 / step] for step in range(1, 30)]
    job = Job.objects.create(dotted="generation.tune", target_id=1, state=JobState.DONE, project_id=project.pk)
    tuning = Tuning.objects.create(
        project=project, base_model="google-t5/t5-base", captions=40, steps=29, losses=losses, created_by=owner, job=job
    )
    return {
        "project": project,
        "owner": owner,
        "run": run,
        "release": release,
        "video": video,
        "candidate": candidate,
        "tuning": tuning,
    }


def addresses(world) -> dict[str, str]:
    def url(name: str, *args) -> str:
        return reverse(name, args=[world["project"].slug, *args])

    return {
        "home": reverse("home"),
        "new project": reverse("projects:create"),
        "methods": reverse("generation:methods"),
        "dashboard": url("dashboard:dashboard"),
        "videos": url("corpus:videos"),
        "video": url("corpus:video", world["video"].pk),
        "subtests": url("corpus:subtests"),
        "runs": url("generation:runs"),
        "new run": url("generation:new_run"),
        "run": url("generation:run", world["run"].pk),
        "candidate": url("generation:candidate", world["candidate"].pk),
        "pairs": url("pairs:pairs"),
        "choices": url("choices:choices"),
        "tunings": url("generation:tunings"),
        "tuning": url("generation:tuning", world["tuning"].pk),
        **{kind: url("reports:report", kind) for kind in PAGES},
        "releases": url("releases:releases"),
        "freeze": url("releases:freeze"),
        "release": url("releases:release", world["release"].pk),
        "scoring run": url("scoring:run", world["release"].runs.order_by("pk")[0].pk),
        "waiting run": url("scoring:run", world["release"].runs.order_by("pk")[1].pk),
    }


@pytest.mark.full
def test_every_page_is_accessible_quiet_and_fits(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    for name, address in addresses(world).items():
        response = page.goto(address)
        assert response.status == 200, name
        expect(page.locator("h1")).to_have_count(1)
        loaded = "[...document.images].every(image => image.complete && image.naturalWidth > 0)"
        wait_until(page, loaded)
        assert_accessible_wide_and_narrow(page)


@pytest.mark.full
def test_the_overview_fits_one_screen_and_starts_with_its_next_action(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(addresses(world)["dashboard"])
    # A run waits, so its progress is unfolded.
    page.locator(".folds summary").filter(has_text="Runs").click()
    assert page.evaluate("document.documentElement.scrollHeight") <= 1100
    page.locator("#main").focus()
    page.keyboard.press("Tab")
    action = page.locator(".next-line .btn-primary")
    expect(action).to_be_focused()
    expect(page.locator(".btn-primary")).to_have_count(1)
    fold = page.locator(".folds summary").filter(has_text="Releases")
    fold.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".folds table").filter(has_text="Content hash")).to_be_visible()


@pytest.mark.full
def test_pages_of_an_empty_project_say_what_to_do(sign_in: SignIn):
    project = make_project(slug="empty")
    page = sign_in(make_member(project, Role.RESEARCHER))
    for name in (
        "dashboard:dashboard",
        "corpus:videos",
        "corpus:subtests",
        "generation:runs",
        "generation:new_run",
        "releases:releases",
        "releases:freeze",
    ):
        page.goto(reverse(name, args=[project.slug]))
        assert_accessible_wide_and_narrow(page)
    for kind in PAGES:
        page.goto(reverse("reports:report", args=[project.slug, kind]))
        assert_accessible_wide_and_narrow(page)


@pytest.mark.full
def test_the_parameters_change_with_the_method_and_a_run_starts_by_keyboard(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    page.goto(addresses(world)["new run"])
    page.locator("[name=method][value=fake]").check()
    expect(page.locator("[name='method-lexicon']")).to_be_visible()
    expect(page.locator("[name='method-top']")).to_have_count(0)
    page.locator("[name='method-lexicon']").fill("square:circle")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = GenerationRun.objects.order_by("-pk")[0]
    assert (run.method, run.params["lexicon"]) == ("fake", "square:circle")
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()


def test_a_run_shows_how_far_it_is_and_then_what_it_made(world, sign_in: SignIn):
    project = world["project"]
    words = "generating foils"
    job = Job.objects.create(dotted="x", target_id=1, state=JobState.RUNNING, done=3, total=10, message=words)
    run = make_run(world["run"].subtest, method="fake", job=job)
    page = sign_in(world["owner"])
    page.goto(reverse("generation:run", args=[project.slug, run.pk]))
    expect(page.get_by_text("3 of 10 captions processed")).to_be_visible()
    Job.objects.filter(pk=job.pk).update(done=7)
    expect(page.get_by_text("7 of 10 captions processed")).to_be_visible()
    make_candidate(make_group(run), "a man tears a shirt.")
    Job.objects.filter(pk=job.pk).update(done=10, state=JobState.DONE)
    # The part that polls loads the whole page once, and is quiet from then on.
    expect(page.locator("[data-row]").filter(has_text="tears")).to_be_visible()
    expect(page.locator("#run-progress[hx-get]")).to_have_count(0)


def test_a_video_plays_from_our_own_stream(world, sign_in: SignIn):
    page = sign_in(world["owner"])
    page.goto(addresses(world)["video"])
    # Until then the player seeks the first frame.
    expect(page.locator("[data-player][data-ready]")).to_be_visible()
    seeked = """async () => {
        const video = document.querySelector("video");
        video.currentTime = 1.2;
        await new Promise(done => video.addEventListener("seeked", done, {once: true}));
        return video.currentTime;
    }"""
    assert abs(page.evaluate(seeked) - 1.2) < 0.1


def test_a_demo_is_entered_with_one_press(open_tab: OpenTab):
    hint = {"accounts": [{"username": "demo-annotator", "role": "annotator", "password": "correct horse"}]}
    project = make_project(slug="demo", name="The demo", is_simulated=True, sign_in_hint=hint)
    make_member(project, Role.ANNOTATOR, name="demo-annotator")
    page = open_tab()
    page.goto("/")
    page.get_by_role("link", name="Try the sample project").click()
    expect(page.get_by_role("button", name="Sign in as annotator")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Sign in as annotator").click()
    expect(page.get_by_role("heading", name="Your projects")).to_be_visible()
    page.get_by_role("link", name=re.compile("The demo")).click()
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()


def test_a_release_is_frozen_scored_and_exported(world, sign_in: SignIn):
    project = world["project"]
    make_item(world["run"].subtest, state=ItemState.VALID)
    page = sign_in(world["owner"], expected=["422"])
    page.goto(reverse("releases:freeze", args=[project.slug]))
    page.get_by_label("Name").fill("v2")
    page.get_by_role("button", name="Freeze release").click()
    expect(page.get_by_role("heading", name="v2")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as JSON lines").click()
    assert download.value.suggested_filename == "shapes-v2-jsonl.zip"
    page.get_by_label("Model", exact=True).fill("nonsense")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("is not a model name")).to_be_visible()
    page.get_by_label("Model", exact=True).fill("fake:3")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
