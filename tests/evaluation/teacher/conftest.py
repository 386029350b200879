"""Trainings of tests take one thread each: threads that wait for each other cost more than they give."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.evaluation.teacher.shapes import Shapes


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def shapes(settings) -> Shapes:
    return Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
