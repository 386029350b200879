"""Work for several hosts: `python -m tests.foilworks.shared_work make FOLDER|alone|look` on the database of the
environment. `make` makes videos and captions, `sample` the sample project; `scoring`, `describing` and `generating`
queue a job and print its id, and `make FOLDER KIND…` does both.
"""

import json
import os
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

CLIPS, CAPTIONS, FRAMES = 24, 1200, 4
SERVE = """
import hashlib, json, sys, time

if __name__ == "__main__":
    print(json.dumps({"protocol": 1, "model_id": "slow", "revision": "1", "interface": "scorer", "kind": "logit",
                      "frames": 2, "size": None}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        time.sleep(0.1)
        key = asked["video"]["key"]
        scores = [int(hashlib.sha256(f"{key} {text}".encode()).hexdigest()[:6], 16) / 2**24 for text in asked["texts"]]
        print(json.dumps({"id": asked["id"], "scores": scores}), flush=True)
"""


def _make_model(model: Path) -> None:
    if not model.exists():
        model.mkdir()
        (model / "serve.py").write_text(SERVE.replace("slow", model.name))
        (model / "foilworks.json").write_text(json.dumps({"command": ["{python}", "serve.py"]}))


def sample() -> dict[str, int]:
    """Make the sample project with its release. Its two own models train little."""
    from django.core.management import call_command

    from foilworks.site.demo.plan import Sizes
    from foilworks.site.demo.run import make_demo

    call_command("migrate", verbosity=0)
    numbers = make_demo(0, lambda things, _total, _label: iter(things), sizes=Sizes(training=14, described=8))
    return {"release": numbers["release"]}


def make(folder: str, *kinds: str) -> dict[str, str]:
    """Make the videos and captions, and the model in this folder, which the hosts share."""
    from django.core.management import call_command
    from django.db import transaction

    from evaluation.releases.actions.freeze_release import freeze_release
    from foilworks.core.corpus.models import Foil
    from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
    from foilworks.core.corpus.video_files.stored_files import store
    from foilworks.core.media.encode import write_mp4
    from tests import factories
    from tests.media.painted import painted_clip

    _make_model(Path(folder))
    call_command("migrate", verbosity=0)
    project, texts = factories.make_project(slug="shared"), factories.make_project(slug="texts")
    subtest, painted = factories.make_subtest(project, name="s"), painted_clip(CLIPS + 2)
    with transaction.atomic(), tempfile.TemporaryDirectory() as made:
        for number in range(CLIPS):
            path = Path(made) / f"{number}.mp4"
            write_mp4(path, painted[number : number + 3], fps=8)
            store(path, path.name)
            content = sha256(path.read_bytes()).hexdigest()
            video = factories.make_video(project, key=f"c{number}", file=path.name, sha256=content)
            caption = factories.make_caption(video, f"ball {number} rises")
            factories.make_item(subtest, caption, (f"ball {number} falls",), state=ItemState.VALID)
        video = factories.make_video(texts)
        for number in range(CAPTIONS):
            factories.make_caption(video, f"a man folds a shirt and {number} towels.")
        factories.make_subtest(texts, name="t")
    Foil.objects.update(verdict=FoilVerdict.VALID)
    freeze_release(None, project)
    return {kind: globals()[kind](folder)["job"] for kind in kinds}


def scoring(model: str) -> dict[str, str]:
    from evaluation.scoring.actions.start_run import start_run
    from evaluation.scoring.run_request import RunRequest
    from foilworks.core.corpus.models import Release

    _make_model(Path(model))
    return {"job": str(start_run(None, Release.objects.get(), RunRequest(f"external:{model}", device="cpu")).job.pk)}


def describing(model: str) -> dict[str, str]:
    from evaluation.utd.actions.descriptions import describe_videos
    from evaluation.utd.requests import DescriptionRequest
    from foilworks.core.projects.models import Project

    project = Project.objects.get(slug="shared")
    models = {"describer": "fake-generator:", "extractor": "fake-reader:"}
    return {
        "job": str(describe_videos(None, project, DescriptionRequest(**models, frames=FRAMES, device="cpu")).job_id)
    }


def generating(model: str) -> dict[str, str]:
    from foilworks.core.corpus.models import Subtest
    from generation.actions.runs import start_run
    from generation.run_request import FoilRequest

    subtest = Subtest.objects.get(name="t")
    params = {"model": "fake-mask:", "foils": "2", "tagger": "offline"}
    run = start_run(None, subtest.project, FoilRequest(subtest=subtest, method="mask_fill", params=params, filters={}))
    return {"job": str(run.job.pk)}


def alone() -> dict[str, str]:
    """Run all jobs in this process."""
    from foilworks.core.jobs.models import Job
    from foilworks.core.jobs.runner import run_now

    waiting = Job.objects.filter(parent=None, state="waiting", queue="gpu")
    return {str(job.pk): run_now(job).state for job in waiting}


def look() -> dict[str, list]:
    """What is stored."""
    from evaluation.scoring.models import Score
    from evaluation.utd.models import FrameText
    from generation.models import Candidate

    frames = FrameText.objects.order_by("video__key", "place")
    return {
        "scores": list(
            Score.objects.order_by("clip_key", "text_sha256").values_list("clip_key", "text_sha256", "value")
        ),
        "frames": [[row.video.key, row.place, row.time, row.raw] for row in frames.select_related("video")],
        "candidates": list(
            Candidate.objects.order_by("group__caption__text", "text").values_list("group__caption__text", "text")
        ),
    }


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    from foilworks.site.server.gc_freeze import lasting

    with lasting():
        django.setup()
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))  # noqa: T201
