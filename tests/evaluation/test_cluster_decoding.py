"""What a task of the cluster decodes, by plain values alone; tests/foilworks/test_ray_nodes.py has real nodes."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.scoring import cluster_decoding
from foilworks.core.jobs.ray.decoding import called, cluster
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.frame_cache import LOSSLESS, ClipRequest, unpacked
from foilworks.core.media.frames import sample_frames
from foilworks.core.media.sampling import CENTRES, Sampling
from tests.media.painted import painted_clip


@dataclass
class Task:
    """A cluster of one task, whose arguments are no more than JSON."""

    sent: list[Any] = field(default_factory=list)

    def call(self, function: Callable[..., Any], *given: Any) -> Any:
        self.sent.append(given)
        return called(f"{function.__module__}.{function.__qualname__}", tuple(json.loads(json.dumps(given))))


@pytest.fixture
def task(monkeypatch) -> Task:
    task = Task()
    monkeypatch.setattr(cluster_decoding, "cluster", lambda: task)
    return task


def test_a_clip_is_sent_as_its_name_and_comes_back_as_frames(task, tmp_path):
    path = tmp_path / "clip.mp4"
    write_mp4(path, painted_clip(8), fps=8)
    decode = cluster_decoding.elsewhere()
    kept = decode(ClipRequest(path, Sampling(CENTRES, 4), 0.25, None, (16, 32)), LOSSLESS)
    np.testing.assert_array_equal(unpacked(kept).frames, sample_frames(path, 4, 0.25, None, (16, 32)).frames)
    assert task.sent[0][0] == [str(path)]


def test_an_unusable_clip_is_an_error_of_the_clip(task):
    with pytest.raises(MediaError, match=r"/nowhere/clip\.mp4: there is no such file"):
        cluster_decoding.elsewhere()(ClipRequest(Path("/nowhere/clip.mp4"), Sampling(CENTRES, 4)), LOSSLESS)


def test_processes_outside_of_an_actor_decode_themselves(settings):
    settings.RAY_DECODERS = 4
    assert cluster() is None
    assert cluster_decoding.elsewhere() is None
