"""Rates per group, decay, clipping, the logit scale, and activations that are computed twice."""

import numpy as np
import pytest
import torch

from evaluation.errors import EvaluationError
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.training.dual_encoders import open_student
from foilworks.core.text.registry import parse_params
from foilworks.site.teacher.examples import examples_of
from foilworks.site.teacher.plan import TEACHING, Objective, Plan, plan_of
from foilworks.site.teacher.training import groups_of, optimizer_of, train, update
from tests.evaluation.teacher.shapes import student as tiny
from tests.evaluation.teacher.test_training import TinyStudent
from tests.hub import folders, video_folders

CAPTIONS = ["a man folds a cup", "a man cuts a cup", "a man opens a box", "a man lifts a box"]
LEARNS_SCALE = {"temperatures": "separate", "contrastive": 1.0, "lgt": 0.0}
FRAMES, SIDE = 2, 32


def planned(**fields):
    return plan_of(parse_params(TEACHING, {"student": "tiny:x", **fields}), 0)


def opened(spec):
    clips = np.random.default_rng(0).integers(0, 255, (4, FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
    return open_student(spec, lambda place: (clips[place], VideoMeta(key=str(place))), device="cpu")


@pytest.mark.parametrize(
    ("given", "rates"),
    [
        ({"learning_rate": 0.5}, (0.5, None, 0.0)),
        ({"rates": "groups", "learning_rate": 0.5, "head_rate": 0.25}, (0.5, 0.25, 0.0)),
        ({"rates": "groups", **LEARNS_SCALE, "scale_rate": 0.125}, (1e-5, None, 0.125)),
        ({"rates": "clip4clip"}, (1e-7, 1e-4, 0.0)),
        ({"rates": "clip4clip", **LEARNS_SCALE}, (1e-7, 1e-4, 1e-7)),
    ],
)
def test_rates_of_a_named_choice(given, rates):
    plan = planned(**given)
    assert (plan.learning_rate, plan.head_rate, plan.scale_rate) == rates


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"head_rate": 0.1}, "no effect with rates=one; set rates=groups"),
        ({"rates": "clip4clip", "scale_rate": 0.1}, "no effect with rates=clip4clip"),
        ({"rates": "groups", "scale_rate": 0.1}, "no loss uses the logit scale"),
        ({"max_norm": -1.0}, "must be 0 or more"),
        ({"patience": -1}, "must be 0 or more"),
    ],
)
def test_settings_without_effect_are_refused(given, problem):
    with pytest.raises(EvaluationError, match=problem):
        planned(**given)


def test_added_layers_have_their_rate_and_only_matrices_decay(tmp_path):
    student = opened(f"xclip:{video_folders.xclip(tmp_path / 'x')}")
    plan = Plan(Objective(0.1, contrastive=1.0), 10, learning_rate=1e-7, head_rate=1e-4, weight_decay=0.2)
    groups = groups_of(student, plan)
    assert {group["name"]: group["peak"] for group in groups} == {
        "encoders": 1e-7,
        "added layers": 1e-4,
        "logit scale": 0.0,
    }
    names = {id(weight): name for name, weight in student.module.named_parameters()}
    found = [(names[id(weight)], group) for group in groups for weight in group["params"]]
    assert len(found) == len(names)
    for name, group in found:
        is_added = name.startswith(("mit.", "prompts_"))
        assert (group["name"] == "added layers") == is_added, name
        if name.endswith("bias") or "norm" in name or name == "logit_scale":
            assert group["weight_decay"] == 0, name
        if name.endswith("proj.weight"):
            assert group["weight_decay"] == 0.2, name


def test_gradients_are_clipped_to_the_norm_and_must_be_numbers():
    student = TinyStudent(np.zeros((1, 8), np.float32))
    weights = list(student.module.parameters())
    for limit, norm in ((1.0, 1.0), (0.0, 6.0), (100.0, 6.0)):
        for weight in weights:
            weight.grad = torch.zeros_like(weight)
        weights[0].grad[0, 0] = 6.0
        plan = Plan(Objective(0.1, contrastive=1.0), 10, max_norm=limit, learning_rate=1e-9)
        assert update(student, optimizer_of(student, plan), plan, 0) == pytest.approx(6.0)
        assert float(weights[0].grad.norm()) == pytest.approx(norm, rel=1e-5)
    weights[0].grad[0, 0] = float("nan")
    with pytest.raises(EvaluationError, match="the gradients of step 1 have the norm nan"):
        update(student, optimizer_of(student, plan), plan, 0)


@pytest.mark.parametrize(("rate", "changes"), [(0.0, False), (0.5, True)])
def test_the_logit_scale_is_learned_only_if_it_has_a_rate_and_is_limited(tmp_path, rate, changes):
    student = opened(f"clip:{folders.clip(tmp_path / 'c')}?frames={FRAMES}")
    before = float(student.scale_weight.detach())
    objective = Objective(0.1, contrastive=1.0, contrastive_temperature=student.own_temperature)
    plan = Plan(objective, 2, batch=4, accumulate=2, learning_rate=1e-4, scale_rate=rate, warmup=0.5)
    train(student, examples_of(CAPTIONS, [[] for _ in CAPTIONS]), plan, folder=tmp_path)
    assert (float(student.scale_weight.detach()) != before) == changes
    with torch.no_grad():
        student.scale_weight.fill_(7.0)
    student.limit_scale()
    assert float(student.temperature().detach()) == pytest.approx(0.01)


def test_gradient_checkpointing_changes_no_loss(tmp_path):
    folder, found = folders.clip(tmp_path / "c"), []
    for saves in (False, True):
        student, told = opened(f"clip:{folder}?frames={FRAMES}"), []
        if saves:
            student.save_memory()
            assert student.module.is_activation_checkpointing
        plan = Plan(Objective(0.1, contrastive=1.0), 3, batch=4, learning_rate=1e-3, save_every=9)
        examples = examples_of(CAPTIONS, [[] for _ in CAPTIONS])
        train(student, examples, plan, folder=tmp_path / str(saves), on_step=lambda said, told=told: told.append(said))
        found.append([(said.loss, said.norm) for said in told])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    with pytest.raises(HubError, match="does not support gradient checkpointing; set checkpointing=false"):
        opened(f"tiny:{tiny(tmp_path / 't')}").save_memory()
