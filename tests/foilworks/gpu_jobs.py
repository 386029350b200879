"""One job of each kind of the gpu queue: `python -m tests.foilworks.gpu_jobs first|second|run` on the database of the
environment. `first` makes a project and queues most of them, `second` those that need results; `run` runs what waits.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def first() -> dict[str, str]:
    from django.conf import settings
    from django.core.management import call_command

    from evaluation.blind.actions.score_texts import score_blind
    from evaluation.proximity.actions.measure_proximity import measure_proximity
    from evaluation.scoring.actions.start_run import start_run as start_scoring
    from evaluation.scoring.run_request import RunRequest
    from evaluation.utd.actions.biases import check_shortcuts, measure_bias
    from evaluation.utd.actions.descriptions import describe_videos
    from evaluation.utd.requests import BiasRequest, DescriptionRequest
    from foilworks.core.corpus.models import Caption
    from foilworks.site.teacher.actions.trainings import start_teacher
    from foilworks.site.teacher.training_request import TrainingRequest
    from generation.actions.runs import start_run as start_generation
    from generation.actions.runs import start_tuning
    from generation.run_request import FoilRequest
    from tests.evaluation.teacher.shapes import Shapes
    from tests.hub import folders

    call_command("migrate", verbosity=0)
    models = Path(settings.MODEL_ROOT)
    shapes = Shapes(Path(settings.MEDIA_ROOT), models)
    project, owner, release = shapes.project, shapes.owner, shapes.release
    told = _described(project)
    start_scoring(owner, release, RunRequest(f"clip:{folders.clip(models / 'clip')}", device="cpu"))
    start_generation(
        owner,
        project,
        FoilRequest(
            subtest=shapes.objects,
            method="mask_fill",
            params={"model": "fake-mask:", "foils": "2", "tagger": "offline"},
            filters={},
        ),
    )
    base = folders.text_to_text(models / "base", steps=0)
    start_tuning(owner, project, params={"model": str(base), "device": "cpu", "epochs": 1, "batch": 8})
    score_blind(owner, project, f"lm:{folders.causal_lm(models / 'lm')}", device="cpu")
    measure_proximity(owner, release, "fake-words:")
    describe_videos(owner, project, DescriptionRequest(describer="fake-generator:", extractor="fake-reader:", frames=2))
    measure_bias(owner, told, BiasRequest(encoder="fake-words:", name="measured"))
    check_shortcuts(owner, told, encoder="fake-words:")
    params = shapes.settings(steps=1)
    start_teacher(owner, project, TrainingRequest(params=params, action_runs=(shapes.action_run.pk,), label="trained"))
    return {"captions": str(Caption.objects.count())}


def _described(project: Any) -> Any:
    """Return descriptions from a file, for classes that the scenes of the project have."""
    from django.conf import settings

    from evaluation.utd.actions.descriptions import import_descriptions
    from tests.evaluation.utd import texts

    told = {}
    for number, video in enumerate(project.videos.order_by("pk")):
        way, thing = texts.WAYS[number % 2], texts.THINGS[number // 2 % 3]
        video.class_label = f"moves {way}"
        video.save(update_fields=["class_label"])
        told[video.key] = texts._frames(thing, way, texts.TIED[way])
    path = Path(settings.FOILWORKS_HOME) / "descriptions.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    return import_descriptions(None, project, [path], name="from a file")


def second() -> dict[str, str]:
    from evaluation.utd.actions.biases import predict_samples
    from evaluation.utd.models import BiasRun
    from evaluation.utd.requests import PredictionRequest
    from foilworks.core.corpus.models import Release
    from foilworks.site.teacher.actions.trainings import read_release
    from foilworks.site.teacher.models import TeacherTraining

    read_release(None, TeacherTraining.objects.get(), Release.objects.get())
    predict_samples(
        None, BiasRun.objects.get(), PredictionRequest("fake:", zero_shot=True, label="looks", device="cpu")
    )
    return {}


def run() -> dict[str, list[str]]:
    """Run all jobs in this process: the states of each kind, of shards too."""
    from foilworks.core.jobs.models import Job
    from foilworks.core.jobs.runner import run_now
    from foilworks.site.teacher import asking

    # A shard of the teacher has whole batches.
    asking.CAPTIONS_PER_BATCH = 2
    for job in Job.objects.filter(parent=None, state="waiting").order_by("created_at"):
        run_now(job)
    states: dict[str, set[str]] = {}
    for dotted, state in Job.objects.values_list("dotted", "state"):
        states.setdefault(dotted, set()).add(state)
    return {dotted: sorted(found) for dotted, found in states.items()}


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    import django

    django.setup()
    print(json.dumps(globals()[sys.argv[1]]()))  # noqa: T201
