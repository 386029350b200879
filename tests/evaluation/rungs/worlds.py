"""A release of moving clips, each of its own source, and tiny models with random weights that see them."""

from pathlib import Path

import torch
from django.conf import settings

from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from tests import factories
from tests.media.painted import painted_clip

CLIPS, FOILS, FRAMES = 6, 2, 8
TEXTS = [f"{noun} {verb}" for noun in ("ball", "cube", "cone") for verb in ("rises", "turns", "falls", "stops")]


def make_release(sources: int = CLIPS) -> Release:
    """Six items of two foils on as many clips of eight frames, of `sources` source videos."""
    project = factories.make_project(slug="rungs")
    subtest = factories.make_subtest(project, name="moves", foils_per_item=FOILS)
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    painted = painted_clip(16 * CLIPS)
    for number in range(CLIPS):
        # Every frame differs from its neighbours in several cells.
        write_mp4(folder / f"{number}.mp4", painted[number : number + 13 * FRAMES : 13][:FRAMES], fps=8)
        video = factories.make_video(
            project,
            key=f"c{number}",
            file=f"{number}.mp4",
            sha256=f"{number:064d}",
            source_id=f"s{number % sources}",
        )
        caption = factories.make_caption(video, TEXTS[number])
        foils = (TEXTS[number + 3], TEXTS[number + 6])
        factories.make_item(subtest, caption, foils, key=f"i{number}", state=ItemState.VALID)
    return freeze_release(None, project)


def tiny(folder: Path, architecture: str) -> str:
    """A tiny model of random weights; its last layer is wide, so that clips and texts differ."""
    torch.manual_seed(3)
    words = Words.of(TEXTS)
    config = TinyConfig(architecture, f"tiny/{architecture}", frames=FRAMES, size=32, width=16, dimensions=8)
    model = TinyVideoText(config, len(words.entries))
    save_model(folder / architecture, model, words, {"category": "video"})
    return f"tiny:{folder / architecture}"


def score(release: Release, spec: str, ends: JobState = JobState.DONE, **options) -> Run:
    run = start_run(None, release, RunRequest(spec, **{"controls": True, **options}))
    assert run_now(run.job).state == ends
    return Run.objects.get(pk=run.pk)
