"""Runs that wait for the same release read each clip once, and score as they would alone."""

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Score
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.shared_reads import of_other_runs
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.frame_cache import FramesAsked
from foilworks.core.media.sampling import CENTRES, Sampling
from tests import factories
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db

SPECS = ("colours:?frames=4", "colours:?frames=7", "fake:1")
CAPTIONS = ("a red ball", "a blue cube")


@pytest.fixture
def release():
    project = factories.make_project(slug="together")
    subtest = factories.make_subtest(project, name="things")
    for number, text in enumerate(CAPTIONS):
        name = f"videos/together{number}.mp4"
        path = Path(settings.MEDIA_ROOT) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_mp4(path, painted_clip(20)[number:], fps=8)
        video = factories.make_video(project, key=f"clip{number}", file=name, sha256=f"{number + 70:064d}")
        caption = factories.make_caption(video, text)
        factories.make_item(subtest, caption, ("a green thing",), key=f"t{number}", state=ItemState.VALID)
    return freeze_release(None, project)


def scores():
    return sorted(Score.objects.values_list("model_key", "clip_key", "text_sha256", "value"))


def clear_caches():
    for name in ("frames", "vectors"):
        shutil.rmtree(Path(settings.CACHE_ROOT) / name, ignore_errors=True)


def test_waiting_runs_read_every_clip_once_and_score_as_alone(release):
    clear_caches()
    for spec in SPECS:
        assert run_now(start_run(None, release, RunRequest(spec)).job).state == JobState.DONE
        clear_caches()
    alone = scores()
    assert len(alone) == len(SPECS) * len(CAPTIONS) * 2
    Score.objects.all().delete()
    first, *others = [start_run(None, release, RunRequest(spec)) for spec in SPECS]
    assert run_now(first.job).state == JobState.DONE
    # Nobody can decode a clip again.
    for file in (Path(settings.MEDIA_ROOT) / "videos").glob("together*.mp4"):
        file.unlink()
    for run in others:
        assert run_now(run.job).state == JobState.DONE
        run.refresh_from_db()
        assert run.problems == {}
    assert scores() == alone


def test_only_waiting_runs_with_known_frames_count(release):
    done = start_run(None, release, RunRequest(SPECS[0]))
    run_now(done.job)
    waiting = start_run(None, release, RunRequest(SPECS[0]))
    start_run(None, release, RunRequest("colours:?frames=9"))
    asking = start_run(None, release, RunRequest(SPECS[1]))
    assert of_other_runs(asking) == (FramesAsked(Sampling(CENTRES, 4), (64, 64)),)
    assert of_other_runs(waiting) == ()
