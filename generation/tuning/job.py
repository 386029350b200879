"""The job that tunes a text-to-text model on a project's train captions. It writes the row's losses and folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from foilworks.core.corpus.models import Split
from foilworks.core.hub.training.text_to_text import SpanTraining, Text, folder_hash, resumes_at, tune
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import Project
from foilworks.core.text.language.tools import tagger
from generation.errors import GenerationError
from generation.grammar.spans import verb_spans
from generation.models.side_work import Tuning
from generation.run_captions import captions_to_use

# Points of the loss curve on a page.
POINTS = 100
CHUNK = 1000


def train_captions(project: Project, last_caption: int) -> Iterator[str]:
    """Return the distinct texts of the train split up to a row, in order."""
    seen_texts: set[str] = set()
    rows = captions_to_use(project).filter(video__split=Split.TRAIN, pk__lte=last_caption).order_by("pk")
    for text in rows.values_list("text", flat=True).iterator(CHUNK):
        if text not in seen_texts:
            seen_texts.add(text)
            yield text


def run_tuning(tuning: Tuning, job: Job) -> None:
    """Tune a model, resuming at the last checkpoint. It is moved to the installation's models, named by its hash.

    GenerationError: the train split is empty by now. HubError: the model cannot be loaded.
    """
    work = models_of(tuning.project_id) / "tuning" / str(tuning.pk)
    if tuning.folder:
        # A worker was killed after storing the model.
        shutil.rmtree(work, ignore_errors=True)
        return
    params = tuning.params
    tags = tagger(params["tagger"])
    texts = [_marked(text, tags) for text in train_captions(tuning.project, tuning.last_caption)]
    if not texts:
        raise GenerationError("the train split has no captions; assign videos to the split train, then start again")
    plan = SpanTraining(
        epochs=params["epochs"],
        batch=params["batch"],
        learning_rate=params["learning_rate"],
        density=params["density"],
        mean_span=params["mean_span"],
        verb_share=params["verb_share"],
        seed=tuning.seed,
        checkpoint_every=params["checkpoint_every"],
    )
    tuning.captions, tuning.steps = len(texts), plan.steps(len(texts))
    tuning.losses = [point for point in tuning.losses if point[0] <= resumes_at(work)]
    tuning.save(update_fields=["captions", "steps", "losses"])
    _learn(tuning, texts, plan, work, job)
    tuning.folder = _publish_model(tuning, work)
    tuning.save(update_fields=["folder"])
    shutil.rmtree(work, ignore_errors=True)
    progress(job, tuning.steps, tuning.steps, "done")


def _learn(tuning: Tuning, texts: list[Text], plan: SpanTraining, work: Path, job: Job) -> None:
    # Checkpoints are at points of the curve, so that a resumed run has the same curve.
    every = _interval(tuning.steps, plan.checkpoint_every)
    since: list[float] = []
    progress(job, resumes_at(work), tuning.steps, "loading the model")
    for step, loss in tune(tuning.base_model, texts, plan, work, device=tuning.params["device"]):
        since.append(loss)
        if step % every == 0 or step == tuning.steps:
            tuning.losses.append([step, round(sum(since) / len(since), 5)])
            tuning.save(update_fields=["losses"])
            since = []
        progress(job, step, tuning.steps, f"loss: {loss:.3f}")


def _interval(steps: int, checkpoint_every: int) -> int:
    """Return the steps between two points: a divisor of the checkpoints' interval, for about POINTS points."""
    ideal_interval = max(1, steps // POINTS)
    return max(n for n in range(1, checkpoint_every + 1) if checkpoint_every % n == 0 and n <= ideal_interval)


def _marked(text: str, tags: object) -> Text:
    spans = verb_spans(tags.tag(text), "both", "every")  # type: ignore[attr-defined]
    return Text(text, tuple((span.start, span.end) for span in spans))


def _publish_model(tuning: Tuning, work: Path) -> str:
    """Move the tuned model to the project's models, and return its folder."""
    name = f"tuned/{folder_hash(work / 'model')}"
    target = models_of(tuning.project_id) / name
    if target.exists():
        # The same training made the same files before.
        return name
    target.parent.mkdir(parents=True, exist_ok=True)
    (work / "model").rename(target)
    return name
