"""The teacher's similarities in shards: the same training as in one process, and no text is embedded twice."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.queue import retry
from foilworks.core.jobs.runner import execute, run_now
from foilworks.site.teacher import asking
from foilworks.site.teacher.actions.trainings import start_teacher
from foilworks.site.teacher.sources import KEPT
from foilworks.site.teacher.training_request import TrainingRequest
from tests.evaluation.teacher.asked_worker import BATCH, CAPTIONS, NEGATIVES
from tests.evaluation.teacher.shapes import Shapes
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def shapes(db, settings, monkeypatch):
    monkeypatch.setattr(asking, "CAPTIONS_PER_BATCH", 2)
    return Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))


def started(shapes, **fields):
    return start_teacher(
        shapes.owner,
        shapes.project,
        TrainingRequest(params=shapes.settings(steps=1, **fields), action_runs=(shapes.action_run.pk,)),
    )


def ended(training):
    assert run_now(training.job).state == JobState.DONE
    training.refresh_from_db()
    return training


def test_shards_give_the_model_of_one_process(shapes, settings):
    whole = ended(started(shapes))
    assert not whole.job.shards.exists()
    settings.SHARD_ITEMS = 4
    cut = ended(started(shapes))
    assert list(cut.job.shards.values_list("state", "done", "total")) == [(JobState.DONE, 2, 2)] * 2
    assert cut.model_spec == whole.model_spec
    assert not asking.work_of(cut).exists()


def test_no_shard_is_made_if_no_loss_needs_the_teacher(shapes, settings):
    settings.SHARD_ITEMS = 4
    assert not ended(started(shapes, lgt=0.0, lbl=1.0)).job.shards.exists()


def test_batches_that_were_removed_are_computed_again(shapes, settings):
    whole = ended(started(shapes))
    settings.SHARD_ITEMS = 4
    training = started(shapes)
    execute(str(training.job_id))
    for shard in training.job.shards.all():
        execute(str(shard.pk))
    removed = sorted((asking.work_of(training) / asking.FOLDER).glob("*.npz"))
    assert len(removed) == 4
    removed[0].unlink()
    assert ended(training).model_spec == whole.model_spec


def test_a_host_without_the_shared_folder_is_named(shapes, settings):
    settings.SHARD_ITEMS = 4
    training = started(shapes)
    execute(str(training.job_id))
    stored = asking.work_of(training) / KEPT
    stored.rename(stored.with_suffix(".elsewhere"))
    with pytest.raises(EvaluationError, match=f"{stored}: not found; share the models folder among all hosts"):
        execute(str(training.job.shards.first().pk))
    stored.with_suffix(".elsewhere").rename(stored)
    training.job.refresh_from_db()
    for shard in training.job.shards.filter(state=JobState.WAITING):
        execute(str(shard.pk))
    training.job.refresh_from_db()
    with pytest.raises(Exception, match="1 of 2 shards failed"):
        execute(str(training.job_id))
    training.job.refresh_from_db()
    assert retry(training.job)
    training.job.refresh_from_db()
    assert ended(training).model_spec


def test_similarities_of_two_different_teachers_do_not_train(shapes):
    training = started(shapes)
    folder = asking.work_of(training) / asking.FOLDER
    folder.mkdir(parents=True)
    np.savez(folder / "0-2.npz", cosines=np.zeros(10, np.float32), encoder=np.array("another@1"))
    with pytest.raises(EvaluationError, match="different files of the teacher: another@1, "):
        run_now(training.job)


def process(home: Path, *arguments: object) -> subprocess.Popen:
    others = ("PYTEST_", "DATABASE_", "REDIS_", "FOILWORKS_")
    given = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    given |= {"FOILWORKS_HOME": str(home), "FOILWORKS_SHARD_ITEMS": str(CAPTIONS // 2), "FOILWORKS_LEASE_SECONDS": "2"}
    command = [sys.executable, "-m", "tests.evaluation.teacher.asked_worker", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(child: subprocess.Popen) -> dict:
    out, error = child.communicate(timeout=PATIENCE_SECONDS)
    assert child.returncode == 0, error[-3000:]
    return json.loads(out.splitlines()[-1])


def noted(log: Path) -> list[tuple[int, str]]:
    """The process and the text of each whole line."""
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    return [tuple(json.loads(line)) for line in lines if line.endswith("\n")]


@pytest.mark.machines
@pytest.mark.slow(seconds=12)
def test_a_killed_worker_s_shard_is_continued_and_no_stored_text_is_embedded_again(tmp_path):
    made = answer(process(tmp_path, "make", tmp_path / "models"))
    log, go, files = tmp_path / "calls", tmp_path / "go", Path(made["files"])
    per_call = BATCH * (1 + NEGATIVES)
    # Killed in the third of four calls of its shard.
    killed = process(tmp_path, "work", made["job"], log, 2, go)
    wait_until(lambda: len(noted(log)) == 3 * per_call, processes=[killed], log=lambda: killed.communicate()[1])
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    assert len(list(files.glob("*.npz"))) == 2
    first = noted(log)
    both = [process(tmp_path, "work", made["job"], log, 0, go) for _ in range(2)]
    wait_until(lambda: len({pid for pid, _ in noted(log)}) == 3, processes=both, log=lambda: both[0].communicate()[1])
    go.touch()
    assert {state for child in both for state in answer(child)["states"]} == {"done"}
    asked = Counter(text for _, text in noted(log))
    again = {text for text, n in asked.items() if n > 1}
    assert (len(asked), max(asked.values())) == (CAPTIONS * (1 + NEGATIVES), 2)
    assert again == {text for _, text in first[2 * per_call :]}
    assert len(list(files.glob("*.npz"))) == CAPTIONS // BATCH
