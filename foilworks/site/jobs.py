"""Train the demo's two models on the train split of a sample project. Each job takes the project's id."""

from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption, MediaState, Split
from foilworks.core.corpus.video_files.stored_files import clip_file
from foilworks.core.hub.adapters.tiny_video import TinyConfig, save_model
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.media.frames import sample_frames
from foilworks.core.projects.models import Project
from foilworks.site.demo import plan
from foilworks.site.demo.training import EPOCHS, TrainingSet, train

FRAMES, SIZE = 8, 32


def train_average(project_id: int, job: Job) -> None:
    """Train the model that averages its frames: it recognizes objects, but not their direction."""
    _train(project_id, "average", job)


def train_temporal(project_id: int, job: Job) -> None:
    """Train the model that sees the order of its frames."""
    _train(project_id, "temporal", job)


def _train(project_id: int, architecture: str, job: Job) -> None:
    """Train and save one model. A second run gives the same files: the seed is the sample project's own."""
    project = Project.objects.get(pk=project_id)
    seed = plan.seed_of(project)
    epochs = EPOCHS[architecture]
    progress(job, 0, epochs, "reading the train split")
    data = _training_set(project)
    config = TinyConfig(architecture, f"tiny/{architecture}", frames=FRAMES, size=SIZE)
    model, vocabulary = train(
        data,
        config,
        seed=seed,
        heard=lambda epoch, loss: progress(job, epoch, epochs, f"loss: {loss:.2f}"),
    )
    card = {
        "category": "video",
        "pretraining data": f"{len(data.clips)} synthetic clips, the train split of {project.name}",
        "objective": "contrastive, with flipped and reversed clips",
        "parameters": sum(weights.numel() for weights in model.parameters()),
        "zero-shot": False,
        "seed": seed,
    }
    save_model(plan.model_folder(project, architecture), model, vocabulary, card)


def _training_set(project: Project) -> TrainingSet:
    """Return the clips of the train split that have both captions, in the order of their keys."""
    rows = Caption.objects.filter(
        video__project=project, video__split=Split.TRAIN, video__media_state=MediaState.READY
    ).select_related("video")
    captions_by_clip: dict[str, dict[str, str]] = {}
    files: dict[str, PathLike[str]] = {}
    for row in rows.order_by("video__key"):
        kind = next((prefix for prefix in (plan.DIRECTION, plan.OBJECT) if row.key.startswith(prefix)), "")
        captions_by_clip.setdefault(row.video.key, {})[kind] = row.text
        files[row.video.key] = clip_file(row.video)
    keys = [key for key, texts in captions_by_clip.items() if {plan.DIRECTION, plan.OBJECT} <= texts.keys()]
    if not keys:
        raise EvaluationError("the project has no clips to train on; run `foilworks demo` again")
    return TrainingSet(
        clips=np.stack([_frames(files[key]) for key in keys]),
        directions=[captions_by_clip[key][plan.DIRECTION] for key in keys],
        objects=[captions_by_clip[key][plan.OBJECT] for key in keys],
    )


def _frames(path: PathLike[str]) -> NDArray[np.uint8]:
    return sample_frames(Path(path), FRAMES, size=(SIZE, SIZE)).frames
