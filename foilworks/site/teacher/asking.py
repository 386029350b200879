"""Compute the teacher's similarities of captions and negatives, in shards. Only jobs load it.

A batch of captions is one file in the training's folder, which all hosts share (decision 81). A killed worker loses at
most one batch.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.shards import Problems, Stage, finish, ranges, run_stages, shard_size
from foilworks.core.jobs.spread import Spread
from foilworks.core.projects.model_folders import models_of
from foilworks.core.text.quoting import quoted
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.sources import TrainingTexts, stored_captions

CAPTIONS_PER_BATCH = 256
# The smallest and the largest shard.
CAPTIONS_PER_SHARD = (1024, 16_384)
STAGE, FOLDER = "teacher", "teacher"
SHARD = "teacher.ask"


def work_of(training: TeacherTraining) -> Path:
    """Return the folder of an unfinished training."""
    return models_of(training.project_id) / "teaching" / str(training.pk)


def ask_teacher(training: TeacherTraining, training_texts: TrainingTexts, job: Job) -> Spread | None:
    """Compute and store all similarities. Returns the `Spread` to return from the job, or None once done.

    JobError: a shard failed; EvaluationError, HubError: the teacher does not load, or returns no vectors.
    """
    stage = Stage(
        STAGE,
        SHARD,
        lambda: ranges(
            _missing(training, training_texts), max(1, _captions_per_shard(training_texts) // CAPTIONS_PER_BATCH)
        ),
        lambda payload, worker: ask(training, training_texts, payload, worker),
    )
    outcome = run_stages(job, len(_batches(training_texts)), [stage])
    if isinstance(outcome, Spread):
        return outcome
    # The folder was removed after its shards had ended.
    if missing := _missing(training, training_texts):
        ask(training, training_texts, {"first": missing[0], "last": missing[-1]}, job)
    return None


def ask_shard(training: TeacherTraining, shard: Job) -> None:
    """Compute the missing similarities of one range of captions."""
    finish(shard, ask(training, stored_captions(work_of(training)), shard.payload, shard))


def ask(training: TeacherTraining, training_texts: TrainingTexts, payload: Mapping[str, Any], job: Job) -> Problems:
    """Compute the batches of a range that have no file; there are no problems with single captions."""
    missing = [start for start in _missing(training, training_texts) if payload["first"] <= start <= payload["last"]]
    if not missing:
        return {}
    folder = work_of(training) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    message = "asking the teacher"
    progress(job, max(0, job.total - len(missing)), message=message)
    encoder = open_teacher(training.params["teacher"], training.params["device"])
    key = f"{encoder.info.model_id}@{encoder.info.revision}"
    for done, start in enumerate(missing, max(0, job.total - len(missing))):
        progress(job, done, message=message)
        values = [
            value
            for row in cosines_by_caption(encoder, training_texts.chunk(start, CAPTIONS_PER_BATCH))
            for value in row
        ]
        _write(
            _file(training, training_texts, start), cosines=np.array(values, dtype=np.float32), encoder=np.array(key)
        )
    return {}


def open_teacher(name: str, device: str) -> Any:
    """Load the teacher. EvaluationError, HubError: it does not load, or returns no vectors."""
    encoder = open_helper(name, ENCODER, device=device)
    if not hasattr(encoder, "encode_text"):
        raise EvaluationError(f"teacher: {quoted(name)} returns no text vectors; choose an encoder")
    return encoder


def cosines_by_caption(encoder: Any, training_texts: TrainingTexts) -> list[list[float]]:
    """Return the cosines of each caption with its negatives; every distinct text is encoded once."""
    texts = list(dict.fromkeys([*training_texts.captions, *(text for row in training_texts.negatives for text in row)]))
    rows = encoder.encode_text(texts)
    row_by_text = {text: at for at, text in enumerate(texts)}
    return [
        (rows[[row_by_text[text] for text in negatives]] @ rows[row_by_text[caption]]).tolist() if negatives else []
        for caption, negatives in zip(training_texts.captions, training_texts.negatives, strict=True)
    ]


def cosines_of(training: TeacherTraining, training_texts: TrainingTexts) -> list[list[float]]:
    """Return the cosines of each caption with its negatives, as stored.

    EvaluationError: hosts have different files of the teacher.
    """
    keys: set[str] = set()
    every: list[NDArray[np.float32]] = []
    for start in _batches(training_texts):
        with np.load(_file(training, training_texts, start), allow_pickle=False) as stored:
            keys.add(str(stored["encoder"]))
            every.append(stored["cosines"])
    if len(keys) > 1:
        raise EvaluationError(
            f"hosts have different files of the teacher: {', '.join(sorted(keys))}; install the same files on all "
            "hosts, then start a new training"
        )
    ends = np.cumsum([len(row) for row in training_texts.negatives])[:-1]
    return [row.tolist() for row in np.split(np.concatenate(every), ends)]


def _captions_per_shard(training_texts: TrainingTexts) -> int:
    return shard_size(len(training_texts.captions), *CAPTIONS_PER_SHARD)


def _batches(training_texts: TrainingTexts) -> range:
    return range(0, len(training_texts.captions), CAPTIONS_PER_BATCH)


def _missing(training: TeacherTraining, training_texts: TrainingTexts) -> list[int]:
    return [start for start in _batches(training_texts) if not _file(training, training_texts, start).is_file()]


def _file(training: TeacherTraining, training_texts: TrainingTexts, start: int) -> Path:
    end = min(start + CAPTIONS_PER_BATCH, len(training_texts.captions))
    return work_of(training) / FOLDER / f"{start}-{end}.npz"


def _write(path: Path, **arrays: NDArray[Any]) -> None:
    """Store the arrays whole: two workers may write the same batch if one lost its lease."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        np.savez(file, **arrays)
    Path(file.name).replace(path)
