"""Leaderboard, comparison, analyses, model card and changes of a release: wide and narrow, with nothing in the way."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.cache import cache
from playwright.sync_api import Page, expect

from annotation.models import Choice, Stage, Vote
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.models import describe_model
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Caption, Foil, Release, Video
from foilworks.core.corpus.rules.states import CandidateState, ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Project, Role, User
from tests.e2e.conftest import SignIn, assert_accessible_wide_and_narrow
from tests.evaluation.ranked import make_release, score
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_run,
    make_subtest,
    make_user,
    make_video,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    cache.clear()
    return make_project(slug="ranked", name="Ranked")


@pytest.fixture
def owner(project: Project) -> User:
    return make_member(project, Role.RESEARCHER, name="olga")


@pytest.fixture
def release(project: Project, owner: User, tmp_path: Path) -> Release:
    """A second release with all that the analyses read, four models and some people's choices."""
    first = make_release(project)
    score(first, tmp_path, "a steady model", lambda k: k % 5 > 0)
    for number, caption in enumerate(Caption.objects.filter(text__startswith="a ball").order_by("pk")):
        caption.facts = {
            "count": number % 4 + 1,
            "proximity": number / 24,
            "original_frequency": number,
            "swapped_frequency": 12,
            "edited": "action" if number % 2 else "object",
        }
        caption.save()
    for number, video in enumerate(Video.objects.order_by("pk")):
        video.start_time, video.end_time = 0.0, 1.0 + number
        video.save()
    Foil.objects.filter(text="a ball rests 3").update(text="a ball stands 3")
    found = freeze_release(None, project, name="second")
    rights: dict[str, Callable[[int], bool]] = {
        "a steady model": lambda k: k % 5 > 0,
        "InternVideo2-Stage2-1B fine-tuned on MSR-VTT": lambda k: k % 7 > 0,
        "CLIP ViT-L/14": lambda k: k % 2 == 0,
        "GPT-2": lambda k: k % 4 == 0,
    }
    runs = [score(found, tmp_path, label.replace("/", "-"), right) for label, right in rights.items()]
    describe_model(owner, runs[1], category="video", adaptation="fine_tuned", size="1 B")
    for member in found.members.all():
        Vote.objects.create(
            item=member.item,
            foil=member.item.foils.get(),
            person=make_user(),
            stage=Stage.BASELINE,
            choice=Choice.CAPTION,
            idempotency_key=f"{member.pk}",
        )
    return found


def looked_at(page: Page) -> None:
    """No serious violation, nothing wider than the window, wide or narrow; every chart drawn."""
    assert_accessible_wide_and_narrow(page)
    for image in page.locator(".chart img").all():
        expect(image).to_have_js_property("complete", True)
        assert image.evaluate("image => image.naturalWidth") > 0


@pytest.mark.full
def test_the_pages_of_models(project: Project, owner: User, release: Release, sign_in: SignIn) -> None:
    page = sign_in(owner)
    start = f"/projects/ranked/releases/{release.pk}/"
    page.goto(f"{start}leaderboard/?column=T")
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    looked_at(page)
    page.get_by_role("link", name="Compare two models").click()
    expect(page.get_by_role("heading", name="Difference")).to_be_visible()
    looked_at(page)
    page.get_by_role("link", name="Both are correct").click()
    expect(page.locator("a[aria-current=page]", has_text="Both are correct")).to_be_visible()
    for kind in ("delta", "proximity", "identity", "counts", "length"):
        page.goto(f"{start}analyses/{kind}/")
        expect(page.locator("table:visible, .chart-drawing").first).to_be_visible()
        looked_at(page)
    page.goto(f"{start}changes/")
    expect(page.get_by_role("heading", name="Edited (24)")).to_be_visible()
    looked_at(page)
    run = release.runs.first()
    page.goto(f"/projects/ranked/scoring/{run.pk}/")
    page.get_by_role("link", name="Model card").click()
    page.get_by_label("size").fill("151 M")
    looked_at(page)
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("is saved")).to_be_visible()
    looked_at(page)


@pytest.fixture
def judged(project: Project, owner: User) -> Run:
    """Eight items of two foils that three validators judged, one of them at odds with the others, made by machines and
    people; and a text-only model scored with the control."""
    subtest = make_subtest(project, name="verbs", foils_per_item=2)
    making = make_run(subtest)
    people = [make_member(project, Role.VALIDATOR) for _ in range(3)]
    for number in range(8):
        caption = make_caption(make_video(project), f"{('two', 'three', 'one')[number % 3]} men fold shirt {number}")
        foils = tuple(caption.text.replace("fold", verb) for verb in ("iron", "eat"))
        item = make_item(subtest, caption, foils, state=ItemState.VALID)
        group = make_group(making, caption)
        for place, (foil, verb) in enumerate(zip(item.foils.order_by("position"), ("iron", "eat"), strict=True)):
            make_candidate(
                group,
                foil.text,
                foil=foil,
                state=CandidateState.ACCEPTED,
                facts={"verb": verb},
                method="person" if place else "verb",
            )
        for person in people:
            choice = Choice.FOIL if person == people[2] or number == 7 else Choice.CAPTION
            Vote.objects.create(
                item=item,
                person=person,
                choice=choice,
                caption_first=number % 2 == 0,
                idempotency_key=f"{item.pk}-{person.pk}",
            )
    run = start_run(None, freeze_release(None, project, name="judged"), RunRequest("fake:text", control=True))
    assert run_now(run.job).state == JobState.DONE
    return run


@pytest.mark.full
def test_the_pages_of_votes_words_and_ranks(judged: Run, owner: User, sign_in: SignIn) -> None:
    page = sign_in(owner)
    page.goto("/projects/ranked/reports/skill/")
    looked_at(page)
    page.get_by_role("button", name="Compute").click()
    expect(page.locator("#report-progress .badge")).to_be_visible()
    run_now(Job.objects.get(dotted="reports.compute"))
    # The page asks for itself every two seconds while the job is alive.
    expect(page.get_by_role("heading", name="Differing verdicts")).to_be_visible()
    looked_at(page)
    for kind in ("agreement", "numbers", "verbs"):
        page.goto(f"/projects/ranked/reports/{kind}/")
        expect(page.locator("table:visible, .chart-drawing").first).to_be_visible()
        looked_at(page)
    page.goto(f"/projects/ranked/scoring/{judged.pk}/")
    expect(page.get_by_text("among captions of other videos (control)")).to_be_visible()
    looked_at(page)
    page.goto(f"/projects/ranked/releases/{judged.release_id}/scores/")
    expect(page.get_by_role("heading", name="Import scores")).to_be_visible()
    looked_at(page)
    page.goto(f"/projects/ranked/releases/{judged.release_id}/analyses/proximity/")
    page.get_by_label("Encoder").fill("fake:")
    page.get_by_label("Name (optional)").fill("SBERT")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator("#proximity-runs .badge")).to_be_visible()
    run_now(Job.objects.get(dotted="proximity.measure"))
    expect(page.get_by_role("cell", name="SBERT: high").first).to_be_visible()
    looked_at(page)
