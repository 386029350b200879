"""Real training of a small student: what a step costs, what it learns, and what a kill leaves."""

import json

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from evaluation.errors import EvaluationError
from evaluation.metrics.comparison import paired_difference
from foilworks.site.teacher.checkpoints import LATEST, STATE
from foilworks.site.teacher.examples import batch_of, examples_of
from foilworks.site.teacher.plan import DIRECTIONS, Objective, Plan
from foilworks.site.teacher.step_losses import losses_of
from foilworks.site.teacher.training import train

VERBS, THINGS = ("folds", "opens", "lifts", "cuts"), ("paper", "box", "cup", "rope")


class TinyStudent:
    """Clips are vectors in which thing and action can be seen, the thing much more clearly; texts are bags of words."""

    heads, read, scale_weight = (), None, None

    def __init__(self, clips, seed=0, dropout=0.1):
        torch.manual_seed(seed)
        words = sorted({*VERBS, *THINGS, "a", "man"})
        self.clips, self.ids = torch.from_numpy(clips), {word: i for i, word in enumerate(words)}
        self.module = nn.ModuleDict(
            {
                "video": nn.Sequential(nn.Linear(clips.shape[1], 16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 8)),
                "text": nn.EmbeddingBag(len(words), 8, mode="sum"),
            }
        )
        self.asked = {"video": 0, "text": 0, "texts": 0}

    def encode_video(self, chosen):
        self.asked["video"] += 1
        return F.normalize(self.module["video"](self.clips[chosen]), dim=1)

    def encode_text(self, texts):
        self.asked["text"] += 1
        self.asked["texts"] += len(texts)
        rows = [[self.ids[word] for word in text.split()] for text in texts]
        offsets = torch.tensor(np.cumsum([0, *map(len, rows[:-1])]))
        return F.normalize(self.module["text"](torch.tensor([i for row in rows for i in row]), offsets), dim=1)

    def similar(self, videos, texts):
        return videos @ texts.T if texts.ndim == 2 else torch.einsum("bd,bkd->bk", videos, texts)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    seen, captions, negatives = [], [], []
    for _ in range(160):
        verb, thing = rng.integers(0, 4, 2)
        seen.append(np.concatenate([3 * np.eye(4)[thing], 0.7 * np.eye(4)[verb]]) + rng.normal(scale=0.2, size=8))
        captions.append(f"a man {VERBS[verb]} a {THINGS[thing]}")
        negatives.append([f"a man {other} a {THINGS[thing]}" for other in VERBS if other != VERBS[verb]])
    teacher = [[0.6] * 3 for _ in captions]
    return np.array(seen, dtype=np.float32), captions, negatives, teacher


def objective(name, **fields):
    return Objective(temperature=0.1, **{name: 1.0, **fields})


def plan(name="lbl", **fields):
    values = {"steps": 120, "batch": 16, "learning_rate": 0.02, "weight_decay": 0.0, "save_every": 10}
    return Plan(objective=objective(name), **{**values, **fields})


def test_a_step_encodes_each_distinct_text_once_and_each_clip_once(world, tmp_path):
    clips, captions, negatives, teacher = world
    student = TinyStudent(clips)
    train(student, examples_of(captions, negatives, teacher), plan(steps=5), folder=tmp_path)
    assert (student.asked["video"], student.asked["text"]) == (5, 5)
    # 16 clips with 4 texts each are 64, of which this world has 16.
    assert student.asked["texts"] <= 5 * 16


def whole_losses(student, batch, objective):
    """The losses with one forward pass of the batch's clips and one of its distinct texts."""
    return losses_of(student, batch, objective, student.encode_video(batch.clips), student.encode_text(batch.texts))


@pytest.mark.parametrize("name", ["lbl", "lgt"])
def test_the_loss_of_a_batch_is_the_mean_over_one_video_at_a_time(world, name):
    clips, captions, negatives, teacher = world
    examples, student = examples_of(captions, negatives, teacher), TinyStudent(clips, dropout=0.0)
    chosen = np.arange(12)
    whole = whole_losses(student, batch_of(examples, chosen, negatives=True), objective(name)).values[name]
    alone = [
        whole_losses(student, batch_of(examples, chosen[i : i + 1], negatives=True), objective(name)).values[name]
        for i in chosen
    ]
    assert float(whole.detach()) == pytest.approx(float(torch.stack(alone).mean().detach()), abs=1e-6)


def ranked(student, world, places):
    """(n,) 1 where the clip's caption scores above the three with another action."""
    _, captions, negatives, _ = world
    with torch.no_grad():
        videos = student.encode_video(places)
        scores = [
            student.similar(videos[row : row + 1], student.encode_text([captions[at], *negatives[at]]))[0]
            for row, at in enumerate(places)
        ]
    return (torch.stack(scores).argmax(dim=1) == 0).double().numpy()


@pytest.mark.parametrize("name", ["lbl", "lgt"])
def test_changed_captions_teach_actions_better_than_the_plain_loss_on_clips_held_out(world, tmp_path, name):
    clips, captions, negatives, teacher = world
    learnt, held = np.arange(80), np.arange(80, 160)
    examples = examples_of(*([each[at] for at in learnt] for each in (captions, negatives, teacher)))
    found = {}
    for each in ("contrastive", name):
        student = TinyStudent(clips)
        assert train(student, examples, plan(each, steps=60), folder=tmp_path / each)
        found[each] = ranked(student, world, held)
    difference = paired_difference(found[name], found["contrastive"], None)
    assert difference.ci is not None
    assert difference.ci[0] > 0, difference


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_killed_training_ends_equal_to_one_that_was_never_stopped(world, tmp_path, accumulate):
    clips, captions, negatives, teacher = world
    examples = examples_of(captions, negatives, teacher)
    settings = plan("lgt", steps=24, save_every=7, accumulate=accumulate)
    losses: dict[str, list[float]] = {"whole": [], "killed": []}

    class KilledError(Exception):
        pass

    def heard(name, killed_at=None):
        def note(said):
            if said.step == killed_at:
                raise KilledError
            losses[name].append(said.loss)

        return note

    whole, killed = TinyStudent(clips), TinyStudent(clips)
    assert train(whole, examples, settings, folder=tmp_path / "whole", on_step=heard("whole"))
    with pytest.raises(KilledError):
        train(killed, examples, settings, folder=tmp_path / "killed", on_step=heard("killed", 17))
    again = TinyStudent(clips, seed=99)
    losses["killed"] = losses["killed"][:14]
    assert train(again, examples, settings, folder=tmp_path / "killed", on_step=heard("killed"))
    assert losses["killed"] == losses["whole"]
    for name, value in whole.module.state_dict().items():
        assert torch.equal(value, again.module.state_dict()[name]), name


def test_a_stopped_training_resumes_where_it_stopped(world, tmp_path):
    clips, captions, negatives, teacher = world
    examples, steps = examples_of(captions, negatives, teacher), []
    asked = iter([True] * 5 + [False])
    student = TinyStudent(clips)
    assert not train(
        student,
        examples,
        plan(steps=9),
        folder=tmp_path,
        on_step=lambda said: steps.append(said.step),
        go_on=lambda: next(asked),
    )
    again = TinyStudent(clips)
    assert train(again, examples, plan(steps=9), folder=tmp_path, on_step=lambda said: steps.append(said.step))
    assert steps == list(range(1, 10))


def test_a_checkpoint_of_another_plan_is_refused(world, tmp_path):
    clips, captions, negatives, teacher = world
    examples = examples_of(captions, negatives, teacher)
    train(TinyStudent(clips), examples, plan(steps=2), folder=tmp_path)
    with pytest.raises(EvaluationError, match="belongs to another training"):
        train(TinyStudent(clips), examples, plan(steps=3), folder=tmp_path)


def test_a_checkpoint_of_an_earlier_loss_is_refused(world, tmp_path):
    clips, captions, negatives, teacher = world
    examples, state = examples_of(captions, negatives, teacher), tmp_path / LATEST / STATE
    train(TinyStudent(clips), examples, plan(steps=2), folder=tmp_path)
    kept = json.loads(state.read_text())
    state.write_text(json.dumps({name: kept[name] for name in ("step", "plan")}))
    with pytest.raises(EvaluationError, match="was written by an earlier version"):
        train(TinyStudent(clips), examples, plan(steps=2), folder=tmp_path)


def test_parts_take_no_negatives_away(world, tmp_path):
    """Dropout is off: each part draws its own."""
    clips, captions, negatives, teacher = world
    examples = examples_of(captions, negatives, teacher, [at // 2 for at in range(len(captions))])
    mixed = Objective(0.1, contrastive=1.0, lbl=0.5, lgt=0.5, contrastive_temperature=0.03, teacher_temperature=0.2)
    found = {}
    for parts in (1, 4):
        student, told = TinyStudent(clips, dropout=0.0), []
        settings = Plan(mixed, steps=6, batch=16, accumulate=parts, learning_rate=0.02, save_every=9)
        assert train(student, examples, settings, folder=tmp_path / str(parts), on_step=told.append)
        found[parts] = told, student.module.state_dict()
    for whole, split in zip(found[1][0], found[4][0], strict=True):
        assert split.loss == pytest.approx(whole.loss, abs=1e-5)
        assert split.loss_terms == pytest.approx(whole.loss_terms, abs=1e-5)
        assert split.negatives == whole.negatives
        assert set(whole.loss_terms) == {"contrastive", "lbl", "lgt", *DIRECTIONS}
    # A part of four clips has three other captions at most.
    assert all(3 < said.negatives["contrastive"] < 16 for said in found[4][0])
    assert all(said.negatives["changed"] == 3 for said in found[1][0])
    for name, value in found[1][1].items():
        torch.testing.assert_close(found[4][1][name], value, atol=1e-5, rtol=0)


def test_the_rate_rises_and_falls():
    rates = [plan(steps=100).share(step) for step in range(100)]
    assert rates[:10] == pytest.approx([0.1 * (i + 1) for i in range(10)])
    assert rates[55] == pytest.approx(0.5)
    assert rates[99] < 0.001


def test_unusable_training_data_is_reported_before_the_first_step(world, tmp_path):
    clips, captions, negatives, _ = world
    student = TinyStudent(clips)
    with pytest.raises(EvaluationError, match="the train split has no captions"):
        examples_of([], [])
    with pytest.raises(EvaluationError, match="a negative is equal to its caption"):
        examples_of(["a man folds a cup"], [["a man folds a cup"]])
    with pytest.raises(EvaluationError, match="the teacher gives 3 for a negative"):
        examples_of(["a man folds a cup"], [["a man cuts a cup"]], [[3]])
    some = [[], *negatives[1:]]
    with pytest.raises(EvaluationError, match=f"'{captions[0]}' has no negatives, nor do 0 more"):
        train(student, examples_of(captions, some), plan(), folder=tmp_path)
    with pytest.raises(EvaluationError, match="the teacher's similarities are missing"):
        train(student, examples_of(captions, negatives), plan("lgt"), folder=tmp_path)
    assert student.asked == {"video": 0, "text": 0, "texts": 0}
    assert train(student, examples_of(captions, some), plan("contrastive", steps=1), folder=tmp_path)
