"""The model is chosen on clips that are neither learned nor reported, and the same ones whatever else changes."""

from pathlib import Path

import pytest
import torch

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Split, Video
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.teacher import teaching
from foilworks.site.teacher.actions.trainings import planned_teacher, read_release, start_teacher
from foilworks.site.teacher.estimating import estimate
from foilworks.site.teacher.examples import examples_of
from foilworks.site.teacher.held_out import held_out_sources, set_of
from foilworks.site.teacher.models import TeacherTraining
from foilworks.site.teacher.selection import Selection
from foilworks.site.teacher.sources import TrainingTexts
from foilworks.site.teacher.training import train
from foilworks.site.teacher.training_request import TrainingRequest
from tests.evaluation.teacher.shapes import Shapes
from tests.evaluation.teacher.test_training import TinyStudent, plan, world  # noqa: F401 (a fixture)


def test_the_best_step_is_chosen_and_a_training_without_improvement_stops(world, tmp_path):  # noqa: F811
    clips, captions, negatives, teacher = world
    values = iter([0.1, 0.5, 0.3, 0.5, 0.2, 0.9])
    student, weights = TinyStudent(clips), []

    def measure():
        weights.append({name: value.clone() for name, value in student.module.state_dict().items()})
        assert not student.module.training
        return {"RCAD R@1": next(values)}

    selection = Selection(tmp_path, measure, every=5, patience=3)
    told = []
    settings = plan("lbl", steps=60, save_every=10)
    assert train(
        student,
        examples_of(captions, negatives, teacher),
        settings,
        folder=tmp_path,
        on_step=told.append,
        selection=selection,
    )
    # Three points were not better than that of step 10, and the last of equal ones is chosen.
    assert (selection.best, told[-1].step) == (20, 25)
    assert [said.held_out for said in told if said.held_out][:2] == [{"RCAD R@1": 0.1}, {"RCAD R@1": 0.5}]
    for name, value in student.module.state_dict().items():
        assert torch.equal(value, weights[3][name]), name
    # A training that has stopped does not continue, and chooses the same.
    again = TinyStudent(clips, seed=9)
    later = Selection(tmp_path, measure, every=5, patience=3)
    assert train(again, examples_of(captions, negatives, teacher), settings, folder=tmp_path, selection=later)
    assert (later.best, len(weights)) == (20, 5)
    assert torch.equal(again.module.state_dict()["text.weight"], weights[3]["text.weight"])


def test_ties_are_decided_by_the_next_measure_and_then_by_the_last_step(tmp_path):
    selection = Selection(tmp_path, dict, every=1)
    selection.resume([[1, {"a": 0.5, "b": 0.1}], [2, {"a": 0.5, "b": 0.3}], [3, {"a": 0.5, "b": 0.3}], [4, {"a": 0.4}]])
    assert selection.best == 3
    with pytest.raises(EvaluationError, match=r"best-3\.safetensors: not found; start a new training"):
        selection.restore(torch.nn.Linear(1, 1))


def test_of_points_within_a_standard_error_of_the_best_the_last_is_chosen(tmp_path):
    selection = Selection(tmp_path, dict, every=1, patience=2, n=100)
    # The standard error of .5 with 100 cases is .05.
    values, chosen, over = [0.2, 0.5, 0.46, 0.44, 0.9, 0.86], [], []
    for step, value in enumerate(values, 1):
        selection.points[step] = {"a": value, "b": 0.0}
        chosen.append(selection.best)
        over.append(selection.is_over)
    assert chosen == [1, 2, 3, 3, 5, 5]
    # RetryPolicy counts from the best point, not from the chosen one.
    assert over == [False, False, False, True, False, False]
    selection.points[7] = {"a": 0.88, "b": 0.0}
    assert selection.best == 7


def test_the_weights_of_the_chosen_point_are_never_those_of_an_earlier_one_again(tmp_path):
    """Weights of points that are not chosen are removed, so no later point may bring one back."""
    draws = torch.Generator().manual_seed(0)
    for _world in range(200):
        selection, before = Selection(tmp_path, dict, every=1, n=20), 0
        for step in range(1, 30):
            selection.points[step] = {"a": round(float(torch.rand(1, generator=draws)), 2)}
            assert selection.best in {before, step}
            before = selection.best


def test_the_held_out_videos_depend_on_nothing_but_their_names():
    names = [f"video {at}" for at in range(50)]
    out = held_out_sources(names, 0.1)
    assert len(out) == 5
    assert held_out_sources([*reversed(names), *names], 0.1) == out
    assert out <= held_out_sources(names, 0.2)
    assert len(held_out_sources(names[:4], 0.01)) == 1
    with pytest.raises(EvaluationError, match="1 of 1 source videos would be held out"):
        held_out_sources(["one"] * 4, 0.1)


def test_captions_of_a_clip_are_items_of_it():
    found = TrainingTexts(["a", "b", "c"], [7, 8, 7], [["x", "y"], ["z"], []], {})
    held, first = set_of(found, ["one", "two", "one"], [0, 2, 1])
    assert held.texts == (("a", "x", "y"), ("c",), ("b", "z"))
    assert (held.clips, held.captions, held.sources, first) == ((0, 0, 1), ("a", "b"), ("one", "two"), [0, 1])


@pytest.fixture
def shapes(db, settings):
    return Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))


def started(shapes, **params):
    chosen = shapes.settings() | params
    runs = {"action_runs": (shapes.action_run.pk,)}
    return start_teacher(shapes.owner, shapes.project, TrainingRequest(params=chosen, release=shapes.release, **runs))


def test_held_out_clips_are_not_learned(shapes, monkeypatch):
    learned, real = [], teaching.train

    def noted(student, examples, *given, **more):
        learned.extend(examples.texts[place] for place in examples.captions)
        return real(student, examples, *given, **more)

    monkeypatch.setattr(teaching, "train", noted)
    training = started(shapes, held_out=0.25, patience=1, steps=4)
    assert run_now(training.job).state == JobState.DONE
    training.refresh_from_db()
    chosen = training.sources["selection"]
    assert (chosen["share"], chosen["videos"], chosen["captions"], len(learned)) == (0.25, 2, 2, 6)
    assert chosen["step"] <= chosen["stopped"] <= 4
    out = held_out_sources([caption.video.source_id for caption in shapes.captions], 0.25)
    assert len(out) == 2


def test_the_validation_split_chooses_the_model(shapes, client):
    Video.objects.filter(pk__in=[caption.video_id for caption in shapes.captions[:3]]).update(split=Split.VAL)
    training = started(shapes, select_on="val", steps=2)
    assert run_now(training.job).state == JobState.DONE
    training.refresh_from_db()
    assert training.sources["captions"] == 5
    assert (training.sources["selection"]["on"], training.sources["selection"]["captions"]) == ("val", 3)
    client.force_login(shapes.owner)
    page = client.get(f"/projects/{shapes.project.slug}/teacher/{training.pk}/").content.decode()
    assert "they choose the model and are not learned" in " ".join(page.split())
    assert "Val captions" in page
    # The release that is reported must have no part in the choice.
    Video.objects.filter(project=shapes.project, split=Split.TEST).update(split=Split.VAL)
    with pytest.raises(EvaluationError, match="items show clips of the val split, which chooses the model"):
        started(shapes, select_on="val")
    with pytest.raises(EvaluationError, match="items show clips of the val split, which chooses the model"):
        read_release(shapes.owner, training, shapes.release)


def test_an_impossible_choice_is_refused_before_anything_is_queued(shapes):
    with pytest.raises(EvaluationError, match="give a share between 0 and 1"):
        started(shapes, held_out=1.0)
    with pytest.raises(EvaluationError, match="none is left to learn from"):
        started(shapes, held_out=0.99)
    with pytest.raises(EvaluationError, match="val is the split that the student learns from"):
        start_teacher(
            shapes.owner,
            shapes.project,
            TrainingRequest(
                params=shapes.settings(lgt=0.0, contrastive=1.0) | {"select_on": "val"},
                split="val",
                videos=_moved(shapes),
            ),
        )


def _moved(shapes):
    Video.objects.filter(pk=shapes.captions[0].video_id).update(split=Split.VAL)
    return [shapes.captions[0].video.key]


def test_an_estimate_leaves_the_weights_and_counts_a_process_share(world):  # noqa: F811
    clips, captions, negatives, teacher = world
    student = TinyStudent(clips)
    before = {name: value.clone() for name, value in student.module.state_dict().items()}
    found = estimate(student, examples_of(captions, negatives, teacher), plan("lgt", steps=50), processes=4)
    assert student.asked["video"] == 2
    assert found["steps"] == 50
    assert found["seconds"] == pytest.approx(50 * found["step_s"])
    assert found["memory"] > 8 * sum(value.numel() for value in before.values())
    assert all(weight.grad is None for weight in student.module.parameters())
    for name, value in student.module.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_an_estimate_needs_no_stored_training_and_no_teacher(shapes):
    runs = {"action_runs": (shapes.action_run.pk,)}
    planned = planned_teacher(
        shapes.owner, shapes.project, TrainingRequest(params=shapes.settings(), release=shapes.release, **runs)
    )
    (shapes.teacher / "model.safetensors").unlink()
    assert teaching.estimate_training(planned)["step_s"] > 0
    assert not TeacherTraining.objects.exists()
