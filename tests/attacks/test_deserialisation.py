"""Files and messages that would run a program when they are opened: pickled jobs, arrays, weights; code beside weights.

What an owner may allow for one model of theirs is in tests/evaluation/test_trusted_models.py.
"""

import json
import os
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command
from django_rq import get_queue
from rq import Queue
from rq.serializers import DefaultSerializer, JSONSerializer

from evaluation.errors import EvaluationError
from evaluation.score_files.scores import read_matrix
from evaluation.utd.utd_files import read_descriptions
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import Trust
from foilworks.core.jobs.affinity_worker import ModelAffinityWorker
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.jobs.conftest import RedisServer

LOAD = np.load


class Bomb:
    """Unpickled, it makes the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


class Guest(ModelAffinityWorker):
    def _install_signal_handlers(self) -> None:
        pass


def _pickles_are_read(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("foilworks.core.jobs.affinity_worker.is_ours", lambda job: True)
    patch.setattr("tests.attacks.test_deserialisation.SERIALIZER", DefaultSerializer)


SERIALIZER = JSONSerializer
MESSAGES = Guard("RQ_QUEUES[…]['SERIALIZER']", "queue messages are JSON and never unpickled", _pickles_are_read)
OURS = replaced(
    "foilworks.core.jobs.affinity_worker.is_ours",
    "a worker calls one fixed function, whatever a message names",
    lambda job: True,
)
ARRAYS = Guard(
    "evaluation.score_files.scores.np.load(allow_pickle=False)",
    "arrays contain numbers, never objects",
    lambda patch: patch.setattr(
        "evaluation.score_files.scores.np.load", lambda path, **_: LOAD(path, allow_pickle=True)
    ),
)
WEIGHTS = replaced(
    "foilworks.core.hub.loading.pretrained.allowed",
    "weights must be safetensors, unless an owner trusts the model",
    lambda: Trust(True, True),
)


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    server = RedisServer(settings.FOILWORKS_HOME)
    assert server.acquire()
    server.start()
    yield server
    server.stop()
    server.release()


def work_off(queue: Queue) -> None:
    Guest([queue], connection=queue.connection, serializer=SERIALIZER).work(burst=True, logging_level="CRITICAL")


@pytest.mark.django_db
@guarded_by(MESSAGES)
def test_a_pickled_message_is_not_opened(redis, tmp_path):
    plain = get_queue("default")
    forged = Queue("default", connection=plain.connection, serializer=DefaultSerializer)
    forged.enqueue_call("foilworks.core.jobs.runner.execute", args=(Bomb(tmp_path / "ran"),), job_id=tmp_path.name)
    work_off(Queue("default", connection=plain.connection, serializer=SERIALIZER))
    assert not (tmp_path / "ran").exists()


@pytest.mark.django_db
@guarded_by(OURS)
@pytest.mark.parametrize("as_callback", [False, True])
def test_a_message_that_names_another_function_calls_nothing(redis, tmp_path, as_callback):
    # RQ's own queue: the message is there at once, whatever transaction is open.
    plain = Queue("default", connection=get_queue("default").connection, serializer=JSONSerializer)
    wanted = f"{tmp_path}/ran"
    if as_callback:
        job = plain.create_job("foilworks.core.jobs.runner.execute", args=("no such job",), meta={"path": wanted})
        job._failure_callback_name = "tests.attacks.test_deserialisation.mark"
        plain.enqueue_job(job)
    else:
        plain.enqueue_call("os.mkdir", args=(wanted,))
    work_off(plain)
    assert not Path(wanted).exists()


def mark(job, connection, *error):
    """What a forged message would have called."""
    Path(job.meta["path"]).mkdir()


def test_every_queue_speaks_json():
    assert {options["SERIALIZER"] for options in settings.RQ_QUEUES.values()} == {"rq.serializers.JSONSerializer"}


@guarded_by(ARRAYS)
def test_an_array_of_objects_is_not_opened(tmp_path):
    np.save(tmp_path / "sim.npy", np.array([[Bomb(tmp_path / "ran")]], dtype=object), allow_pickle=True)
    with pytest.raises(EvaluationError):
        read_matrix(tmp_path / "sim.npy")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["descriptions.pickle", "descriptions.pkl"])
def test_a_pickle_of_descriptions_is_not_opened(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(EvaluationError):
        read_descriptions([tmp_path / name])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["pairwise", "rcad"])
def test_a_pickle_of_scores_is_not_opened(tmp_path, capsys, kind):
    (tmp_path / "scores.npy").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(SystemExit):
        call_command("metrics", kind, "--file", str(tmp_path / "scores.npy"), "--json")
    assert not (tmp_path / "ran").exists()


@guarded_by(WEIGHTS)
def test_pickled_weights_are_not_opened(tmp_path, monkeypatch):
    import torch
    from safetensors.torch import load_file

    from foilworks.core.hub.opening import open_adapter
    from tests.hub import folders

    folder = Path(shutil.copytree(folders.causal_lm(tmp_path / "plain"), tmp_path / "pickled"))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(HubError, match="is not a safetensors file and is not loaded"):
        open_adapter(f"lm:{folder}", device="cpu")
    (folder / "modeling_own.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\n")
    config = json.loads((folder / "config.json").read_text())
    named = {"auto_map": {"AutoModelForCausalLM": "modeling_own.Own", "AutoConfig": "modeling_own.Own"}}
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "own", **named}))
    with pytest.raises(HubError, match="code of its authors"):
        open_adapter(f"lm:{folder}", device="cpu")
    assert not (tmp_path / "ran").exists()
