"""Both objectives (Feint6K, Eqs. 1 and 2) against plain float64 sums and cases worked by hand."""

import math

import numpy as np
import pytest
import torch

from evaluation.errors import EvaluationError
from foilworks.core.hub.training import llm_teacher as objectives
from foilworks.core.hub.training.llm_teacher import Batch, Temperatures, losses
from foilworks.site.teacher.plan import DIRECTIONS, FORWARD, REVERSE, TEACHING, Objective, plan_of, takes_logit_scale

TAU = 0.1
ALL = Temperatures.one(TAU)


def softmax64(values):
    top = np.max(values)
    shares = np.exp((np.asarray(values, dtype=np.float64) - top) / TAU)
    return shares / shares.sum()


@pytest.fixture(scope="module")
def case():
    """5 videos, 3 negatives each, of which the last two videos have fewer."""
    rng = np.random.default_rng(0)
    student, teacher = rng.uniform(-1, 1, (2, 5, 4))
    teacher[:, 0] = 1
    there = np.ones((5, 4), dtype=bool)
    there[3, 3] = there[4, 2] = there[4, 3] = False
    return student, teacher, there


def tensors(*arrays):
    return [torch.from_numpy(a.astype(np.float32) if a.dtype.kind == "f" else a) for a in arrays]


def test_eq_1_with_two_candidates_is_worked_by_hand():
    # sim(v, p) = .5, sim(v, n) = .3, tau = .1: -log(e^5 / (e^5 + e^3)) = log(1 + e^-2) = .126928
    found = objectives.labels(torch.tensor([[0.5, 0.3]]), torch.tensor([[True, True]]), TAU)
    assert float(found) == pytest.approx(math.log(1 + math.exp(-2)), abs=1e-6)


def test_eq_2_with_two_candidates_is_worked_by_hand():
    # Student: log-odds 2, so .880797 and .119203. Teacher: cosines 1 and .9, log-odds 1, so .731059 and .268941.
    s, t = (1 / (1 + math.exp(-odds)) for odds in (2, 1))
    expected = t * math.log(t / s) + (1 - t) * math.log((1 - t) / (1 - s))
    args = torch.tensor([[0.5, 0.3]]), torch.tensor([[1.0, 0.9]]), torch.tensor([[True, True]]), ALL
    assert float(objectives.logits(*args)) == pytest.approx(expected, abs=1e-6)
    other = s * math.log(s / t) + (1 - s) * math.log((1 - s) / (1 - t))
    assert float(objectives.logits(*args, REVERSE)) == pytest.approx(other, abs=1e-6)


def reference(name, student, teacher, there, direction=FORWARD):
    losses = []
    for row, other, mask in zip(student, teacher, there, strict=True):
        ours, theirs = softmax64(row[mask]), softmax64(other[mask])
        if name == "lbl":
            losses.append(-math.log(ours[0]))
        else:
            p, q = (theirs, ours) if direction == FORWARD else (ours, theirs)
            losses.append(float((p * np.log(p / q)).sum()))
    return float(np.mean(losses))


@pytest.mark.parametrize("name", ["lbl", FORWARD, REVERSE])
def test_losses_and_gradients_equal_a_float64_reference(case, name):
    student, teacher, there = case
    ours, theirs, mask = tensors(student, teacher, there)
    ours.requires_grad_()
    loss = objectives.labels(ours, mask, TAU) if name == "lbl" else objectives.logits(ours, theirs, mask, ALL, name)
    loss.backward()
    kind = "lbl" if name == "lbl" else "lgt"
    assert float(loss.detach()) == pytest.approx(reference(kind, student, teacher, there, name), abs=1e-5)
    step = 1e-6
    for row, column in np.ndindex(student.shape):
        if not there[row, column]:
            assert float(ours.grad[row, column]) == 0
            continue
        up, down = student.copy(), student.copy()
        up[row, column] += step
        down[row, column] -= step
        slope = (reference(kind, up, teacher, there, name) - reference(kind, down, teacher, there, name)) / (2 * step)
        assert float(ours.grad[row, column]) == pytest.approx(slope, abs=2e-4)


def test_a_student_equal_to_its_teacher_has_no_loss(case):
    _, teacher, there = case
    theirs, mask = tensors(teacher, there)
    for direction in DIRECTIONS:
        assert float(objectives.logits(theirs.clone(), theirs, mask, ALL, direction)) == pytest.approx(0, abs=1e-6)


def test_extreme_similarities_stay_finite():
    student = torch.tensor([[-1.0, 1.0]], requires_grad=True)
    there = torch.tensor([[True, True]])
    for loss in (
        objectives.labels(student, there, 1e-3),
        objectives.logits(student, torch.tensor([[1.0, -1.0]]), there, Temperatures.one(1e-3)),
        objectives.logits(student, torch.tensor([[1.0, -1.0]]), there, Temperatures.one(1e-3), REVERSE),
    ):
        (slope,) = torch.autograd.grad(loss, student)
        assert torch.isfinite(loss)
        assert torch.isfinite(slope).all()


def test_the_plain_loss_equals_that_of_clip():
    videos = torch.nn.functional.normalize(torch.randn(4, 3, generator=torch.Generator().manual_seed(0)), dim=1)
    captions = torch.nn.functional.normalize(torch.randn(4, 3, generator=torch.Generator().manual_seed(1)), dim=1)
    scores = (videos @ captions.T / TAU).double().numpy()
    by_video = -np.mean([row[i] - np.log(np.exp(row).sum()) for i, row in enumerate(scores)])
    by_text = -np.mean([row[i] - np.log(np.exp(row).sum()) for i, row in enumerate(scores.T)])
    found = objectives.contrastive(videos @ captions.T, torch.arange(4), TAU)
    assert float(found) == pytest.approx((by_video + by_text) / 2, abs=1e-5)


def plain64(similar, same):
    """The plain loss in float64, with no library: right answers in equal parts."""
    shares = np.array([softmax64(row) for row in similar])
    by_video = -np.mean([math.log(row[own]) for row, own in zip(shares, same, strict=True)])
    columns = []
    for place, column in enumerate(similar.T):
        own = [video for video, right in enumerate(same) if right == place]
        if own:
            columns.append(-np.mean(np.log(softmax64(column)[own])))
    return (by_video + np.mean(columns)) / 2


def test_the_plain_loss_and_its_gradients_equal_a_float64_reference():
    similar, same = np.random.default_rng(0).uniform(-1, 1, (5, 4)), [0, 1, 1, 2, 0]
    ours = torch.from_numpy(similar.astype(np.float32)).requires_grad_()
    loss = objectives.contrastive(ours, torch.tensor(same), TAU)
    loss.backward()
    assert float(loss.detach()) == pytest.approx(plain64(similar, same), abs=1e-5)
    for at in np.ndindex(similar.shape):
        up, down = similar.copy(), similar.copy()
        up[at] += 1e-6
        down[at] -= 1e-6
        slope = (plain64(up, same) - plain64(down, same)) / 2e-6
        assert float(ours.grad[at]) == pytest.approx(slope, abs=2e-4)


def test_videos_of_one_caption_share_the_right_answer_equally():
    found = objectives.contrastive(torch.eye(2), torch.tensor([0, 0]), 1.0)
    # By video: log(1 + e^-1) and log(1 + e). By text, caption 0 alone: half of each log share of e and 1.
    e = math.e
    by_video = (math.log(1 + 1 / e) + math.log(1 + e)) / 2
    by_text = -(math.log(e / (e + 1)) + math.log(1 / (e + 1))) / 2
    assert float(found) == pytest.approx((by_video + by_text) / 2, abs=1e-6)


def test_eq_2_with_a_temperature_for_each_side_is_worked_by_hand():
    # Student: .2 / .1 = log-odds 2. Teacher: (1 - .9) / .02 = log-odds 5.
    s, t = (1 / (1 + math.exp(-odds)) for odds in (2, 5))
    expected = t * math.log(t / s) + (1 - t) * math.log((1 - t) / (1 - s))
    rows = torch.tensor([[0.5, 0.3]]), torch.tensor([[1.0, 0.9]]), torch.tensor([[True, True]])
    assert float(objectives.logits(*rows, Temperatures(9.0, 0.1, 0.02))) == pytest.approx(expected, abs=1e-5)


def in_the_plane(*degrees):
    return torch.tensor([[math.cos(math.radians(one)), math.sin(math.radians(one))] for one in degrees])


def test_all_losses_of_a_batch_are_worked_by_hand_with_separate_temperatures():
    """Clips 0 and 1 show one video with captions 0 and 1, clip 2 another one with caption 2; text 3 is changed."""
    videos, texts = in_the_plane(0, 10, 90), in_the_plane(20, 0, 60, 40)
    true = torch.tensor([[True, True, False, False]] * 2 + [[False, False, True, False]])
    batch = Batch(
        clips=[0, 1, 2],
        texts=("a", "b", "c", "d"),
        captions=torch.tensor([0, 1, 2]),
        negatives=torch.tensor([[3], [3], [3]]),
        teacher=torch.tensor([[0.8], [0.6], [0.9]]),
        true=true,
    )
    found = losses(videos, texts, batch, {"contrastive": 1, "lbl": 1, "lgt": 1}, Temperatures(0.5, 0.1, 0.2))
    at = [[math.cos(math.radians(v - t)) for t in (20, 0, 60, 40)] for v in (0, 10, 90)]

    def lost(row, right, wrong, tau):
        powers = [math.exp(row[each] / tau) for each in (right, *wrong)]
        return -math.log(powers[0] / sum(powers))

    # By video: clips 0 and 1 have caption 2 as their only negative, clip 2 has captions 0 and 1.
    by_video = lost(at[0], 0, [2], 0.5) + lost(at[1], 1, [2], 0.5) + lost(at[2], 2, [0, 1], 0.5)
    columns = list(zip(*at, strict=True))
    by_text = lost(columns[0], 0, [2], 0.5) + lost(columns[1], 1, [2], 0.5) + lost(columns[2], 2, [0, 1], 0.5)
    label = [lost(row, own, [3], 0.1) for own, row in enumerate(at)]
    both = {FORWARD: [], REVERSE: []}
    for own, (row, told) in enumerate(zip(at, (0.8, 0.6, 0.9), strict=True)):
        ours, theirs = (1 / (1 + math.exp(-gap)) for gap in ((row[own] - row[3]) / 0.1, (1 - told) / 0.2))
        for name, p, q in ((FORWARD, theirs, ours), (REVERSE, ours, theirs)):
            both[name].append(p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)))
    assert float(found.values["contrastive"]) == pytest.approx((by_video + by_text) / 6, abs=1e-5)
    assert float(found.values["lbl"]) == pytest.approx(np.mean(label), abs=1e-5)
    assert float(found.values["lgt"]) == pytest.approx(np.mean(both[FORWARD]), abs=1e-5)
    assert found.divergences == pytest.approx({name: np.mean(each) for name, each in both.items()}, abs=1e-5)
    assert found.negatives == pytest.approx({"contrastive": 4 / 3, "changed": 1})


def test_captions_of_one_video_do_not_count_as_negatives():
    similar, same = torch.tensor([[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]), torch.arange(3)
    mine = torch.tensor([[True, True, False], [True, True, False], [False, False, True]])
    similar.requires_grad_()
    found = objectives.contrastive(similar, same, 0.05, excluded=mine)
    assert float(found.detach()) == pytest.approx(0, abs=1e-6)
    assert float(objectives.contrastive(similar.detach(), same, 0.05)) == pytest.approx(math.log(2) * 2 / 3, abs=1e-6)
    found.backward()
    assert torch.isfinite(similar.grad).all()


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"temperature": 0.0, "lbl": 1.0}, "temperature: is 0.0"),
        ({"temperature": float("nan"), "lbl": 1.0}, "temperature: is nan"),
        ({"temperature": 1.0, "lbl": 1.0, "teacher_temperature": -1.0}, "teacher_temperature: is -1.0"),
        ({"temperature": 1.0}, "one of them above 0"),
        ({"temperature": 1.0, "lbl": -1.0}, "must be 0 or more"),
        ({"temperature": 1.0, "lgt": 1.0, "direction": "up"}, "direction: is 'up'"),
    ],
)
def test_an_invalid_objective_is_refused(fields, problem):
    with pytest.raises(EvaluationError, match=problem):
        Objective(**fields)


def test_temperatures_of_their_own_are_a_choice_that_has_to_be_made():
    params = {param.name: param.default for param in TEACHING.params}
    assert (plan_of(params, 0).objective.for_contrastive, takes_logit_scale(params)) == (0.05, False)
    with pytest.raises(EvaluationError, match="have no effect with one temperature; set temperatures=separate"):
        plan_of({**params, "teacher_temperature": 0.02}, 0)
    separate = {**params, "temperatures": "separate", "teacher_temperature": 0.02}
    assert plan_of(separate, 0).objective.for_teacher == 0.02
    assert takes_logit_scale(separate)
    own = {**separate, "contrastive_temperature": 0.01}
    assert (plan_of(own, 0).objective.for_contrastive, takes_logit_scale(own)) == (0.01, False)
    # Trainings of earlier versions have neither.
    older = {name: value for name, value in params.items() if "temperatures" not in name and "_temp" not in name}
    assert plan_of(older, 0).objective == plan_of(params, 0).objective
