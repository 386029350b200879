"""Two processes that share each step end where one ends that has the step for itself."""

import multiprocessing

import numpy as np
import pytest
import torch
from torch import distributed

from foilworks.site.teacher.examples import examples_of
from foilworks.site.teacher.plan import Objective, Plan
from foilworks.site.teacher.ranks import Together
from foilworks.site.teacher.several_gpus import PROGRESS_PREFIX, _lines, report_line
from foilworks.site.teacher.training import StepReport, train
from tests.evaluation.teacher.test_training import THINGS, VERBS, TinyStudent

OBJECTIVE = Objective(temperature=0.1, contrastive=0.5, lbl=1.0, contrastive_temperature=0.05)


def lesson():
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 4, (24, 2)).tolist()
    clips = rng.normal(size=(24, 8)).astype(np.float32)
    captions = [f"a man {VERBS[verb]} a {THINGS[thing]}" for verb, thing in pairs]
    negatives = [
        [f"a man {other} a {THINGS[thing]}" for other in VERBS if other != VERBS[verb]] for verb, thing in pairs
    ]
    return TinyStudent(clips, dropout=0.0), examples_of(captions, negatives)


def taught(folder, accumulate, ranks=None):
    student, examples = lesson()
    told = []
    plan = Plan(OBJECTIVE, steps=5, batch=8, accumulate=accumulate, learning_rate=0.02, save_every=2)
    assert train(student, examples, plan, folder=folder, on_step=told.append, ranks=ranks)
    return [(said.loss, said.negatives) for said in told], {
        name: value.numpy() for name, value in student.module.state_dict().items()
    }


def one_of_two(rank, folder, results):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    results.put((rank, taught(folder, 2, Together())))
    distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_two_processes_with_two_parts_each_equal_one_without_parts(tmp_path):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    # First of all: what the optimiser loads with its first step, the processes then have.
    alone, weights = taught(tmp_path / "one", 1)
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    (tmp_path / "two").mkdir()
    both = [context.Process(target=one_of_two, args=(rank, tmp_path / "two", results)) for rank in range(2)]
    for each in both:
        each.start()
    found = dict(results.get() for _ in both)
    for each in both:
        each.join()
    torch.set_num_threads(threads)
    for rank in range(2):
        assert [loss for loss, _ in found[rank][0]] == pytest.approx([loss for loss, _ in alone], abs=1e-5)
        # As many negatives as one process has, not those of a part of the step.
        assert [counts for _, counts in found[rank][0]] == [counts for _, counts in alone]
        assert all(counts["contrastive"] > 2 for _, counts in found[rank][0])
        for name, value in weights.items():
            np.testing.assert_allclose(found[rank][1][name], value, atol=1e-5, err_msg=name)


def test_messages_of_the_first_process_are_read():
    said, curve = StepReport(3, 0.5, {"lbl": 0.5}), {"rcad": 0.25}
    lines = ["something of torchrun\n", report_line(said, curve) + "\n", report_line(said, None) + "\n"]
    assert lines[1].startswith(PROGRESS_PREFIX)
    assert list(_lines(lines)) == [(said, curve), (said, None)]
