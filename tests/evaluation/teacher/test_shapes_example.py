"""The script of docs/how-to/teacher.md runs to its end on a few small clips; what it shows takes its own steps."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import torch

from foilworks.site.teacher.readings import R1, RANK, STANDARD, above_zero

SCRIPT = Path(__file__).resolve().parents[3] / "docs/examples/teacher_shapes.py"


@pytest.fixture
def example():
    spec = spec_from_file_location("teacher_shapes", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.KEPT_FRAMES, module.SIDE = 4, 16
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield module
    torch.set_num_threads(threads)


@pytest.mark.full
def test_the_script_reports_what_every_arm_changed(example):
    sizes = example.Sizes(clips=12, pairs=3, pretraining=2, steps=4, batch=6, teacher_steps=2, curve_every=2)
    arms = {name: example.ARMS[name] for name in ("contrastive", "contrastive + lgt")}
    found = example.report(example.experiment([0, 1], sizes, arms, {"10 actions": (10, 0), "5 actions": (5, 0)}))
    assert set(found["arms"]) == set(arms)
    difference = found["against contrastive"]["contrastive + lgt"]
    assert {STANDARD, R1, RANK, above_zero("action"), above_zero("object")} <= set(difference)
    # Two seeds of six clips each.
    assert difference[R1]["n"] == 12
    assert difference[R1]["n_clusters"] == 6
    assert len(found["against contrastive, by seed"]["contrastive + lgt"]) == 2
    assert found["sources"]["10 actions"] == found["arms"]["contrastive + lgt"]
    assert [step for step, *_ in found["curves"]["contrastive"]] == [1, 2, 4]
