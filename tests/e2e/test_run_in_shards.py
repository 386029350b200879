"""The page of a run while its shards are at work: wide, narrow and dark, with nothing in the way."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from evaluation.scoring.models import Run
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.models import Role, User
from tests.e2e.conftest import SignIn, assert_accessible
from tests.evaluation.ranked import make_release
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)
MEASURED = {"decode": 71.0, "wait": 6.5, "compute": 210.0, "write": 3.2, "pairs": 2048, "halved": {"clips": 8}}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """One that six shards are at work on, for as long as the test lasts."""
    project = make_project(slug="ranked", name="Ranked")
    now = timezone.now()
    job = Job.objects.create(
        dotted="scoring.run",
        target_id=1,
        queue="gpu",
        state=JobState.SPREAD,
        title="Scores of X-CLIP",
        done=5300,
        total=12288,
        started_at=now,
    )
    states = [JobState.DONE, JobState.DONE, JobState.RUNNING, JobState.FAILED, JobState.WAITING, JobState.WAITING]
    for number, state in enumerate(states, 1):
        Job.objects.create(
            dotted="scoring.shard",
            target_id=1,
            parent=job,
            number=number,
            state=state,
            total=2048,
            done={JobState.DONE: 2048, JobState.RUNNING: 1204}.get(state, 0),
            attempts=int(state != JobState.WAITING),
            worker="scorer-2.example.org:4711" if state != JobState.WAITING else "",
            started_at=now - timedelta(minutes=6),
            lease_until=now + timedelta(hours=1),
            measured=MEASURED if state in {JobState.DONE, JobState.RUNNING} else {},
            error="The disk is full. Free some space, then retry." if state == JobState.FAILED else "",
        )
    return Run.objects.create(release=make_release(project), spec="fake:1", label="X-CLIP", job=job)


@pytest.fixture
def owner(run: Run) -> User:
    return make_member(run.release.project, Role.RESEARCHER, name="olga")


@pytest.mark.full
def test_shards_and_times_fit_any_screen_and_the_run_is_stopped(sign_in: SignIn, run: Run, owner: User) -> None:
    for narrow in (False, True):
        page = sign_in(owner, narrow=narrow, color_scheme="dark" if narrow else "light")
        page.goto(f"/projects/ranked/scoring/{run.pk}/")
        expect(page.get_by_text("6 shards, 3 not finished")).to_be_visible()
        expect(page.get_by_text("Time left")).to_be_visible()
        assert_accessible(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("The run is stopped. Finished scores are kept.")).to_be_visible()
    expect(page.get_by_role("button", name="Retry run")).to_be_visible()
    assert set(run.job.shards.values_list("state", flat=True)) == {"done", "failed", "cancelled"}


def rounds(page: Page, n: int = 2) -> None:
    """The part that shows the work has asked for itself anew so many times."""
    for _ in range(n):
        with page.expect_response("**/progress/"):
            pass


@pytest.mark.full
@pytest.mark.parametrize("by", ["pointer", "space bar"])
def test_a_press_that_outlasts_the_part_it_began_on_stops_the_run(sign_in: SignIn, run: Run, owner: User, by) -> None:
    """Both press on the way down and act on the way up, by when there was another button in this place."""
    page = sign_in(owner)
    page.goto(f"/projects/ranked/scoring/{run.pk}/")
    stop = page.get_by_role("button", name="Stop")
    if by == "pointer":
        stop.hover()
        page.mouse.down()
    else:
        stop.focus()
        page.keyboard.down(" ")
    Job.objects.filter(pk=run.job_id).update(done=5400)
    rounds(page)
    expect(page.get_by_text("5300 of 12288")).to_be_visible()
    if by == "pointer":
        page.mouse.up()
    else:
        page.keyboard.up(" ")
    expect(page.get_by_text("The run is stopped. Finished scores are kept.")).to_be_visible()


@pytest.mark.full
def test_what_somebody_did_to_a_part_outlasts_its_next_version(sign_in: SignIn, run: Run, owner: User) -> None:
    page = sign_in(owner, narrow=True)
    page.goto(f"/projects/ranked/scoring/{run.pk}/")
    page.get_by_text("Time used").click()
    shards = page.get_by_role("region", name="Shards")
    shards.evaluate("(wrap) => wrap.scrollTo(90, 0)")
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    Job.objects.filter(pk=run.job_id).update(done=5401)
    expect(page.get_by_text("5401 of 12288")).to_be_visible()
    expect(stop).to_be_focused()
    expect(page.get_by_text("Time left")).to_be_hidden()
    expect(page.get_by_text("6 shards, 3 not finished")).to_be_visible()
    assert shards.evaluate("(wrap) => wrap.scrollLeft") == 90
    # What is marked to be copied stays until it is no longer marked.
    why = page.get_by_text("The disk is full. Free some space, then retry.")
    why.evaluate("(words) => getSelection().selectAllChildren(words)")
    Job.objects.filter(pk=run.job_id).update(done=5402)
    rounds(page)
    assert page.evaluate("String(getSelection())") == "The disk is full. Free some space, then retry."
    page.evaluate("getSelection().removeAllRanges()")
    expect(page.get_by_text("5402 of 12288")).to_be_visible()


@pytest.mark.full
def test_the_page_is_not_reloaded_while_somebody_uses_it(sign_in: SignIn, run: Run, owner: User) -> None:
    """At a job's end all of the page comes anew: what is pressed, marked or typed anywhere on it comes first."""
    page = sign_in(owner)
    page.goto(f"/projects/ranked/scoring/{run.pk}/")
    page.evaluate("window.stayed = true")
    heading = page.get_by_role("heading", level=1)
    heading.hover()
    page.mouse.down()
    Job.objects.filter(pk=run.job_id).update(state=JobState.DONE)
    rounds(page)
    assert page.evaluate("window.stayed")
    page.mouse.up()
    heading.evaluate("(words) => getSelection().selectAllChildren(words)")
    rounds(page)
    assert page.evaluate("window.stayed")
    page.evaluate("""
      getSelection().removeAllRanges();
      document.querySelector("main").insertAdjacentHTML("afterbegin", `<form><input id="typed" value="as it came">
        <select id="next"><option>a</option><option>b</option></select></form>`);
      document.getElementById("next").focus();
      document.getElementById("typed").value = "not done yet";
    """)
    rounds(page)
    assert page.evaluate("window.stayed")
    with page.expect_navigation():
        page.evaluate("document.getElementById('typed').value = 'as it came'")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
