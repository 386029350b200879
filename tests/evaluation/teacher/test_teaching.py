"""A training from the action to the model in its folder: curve, readings, provenance, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Caption, Split, Video
from foilworks.core.corpus.rules.states import CandidateState, FoilVerdict, ItemState
from foilworks.core.hub.errors import HubError
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.lease import JobStopped
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import cancel, retry
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import AuditEvent, Role
from foilworks.site.teacher import teaching
from foilworks.site.teacher.actions.trainings import read_release, start_teacher
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining
from foilworks.site.teacher.pages import ablation, before_and_after
from foilworks.site.teacher.readings import R1, EvaluationResult, above_zero
from foilworks.site.teacher.sources import collect
from foilworks.site.teacher.training_request import TrainingRequest
from generation.errors import GenerationError
from generation.models import Candidate
from tests.factories import (
    make_candidate,
    make_caption,
    make_group,
    make_item,
    make_member,
    make_project,
    make_video,
)
from tests.hub import folders, video_folders

pytestmark = pytest.mark.django_db


def start(shapes, **fields):
    params = shapes.settings(**{name: fields.pop(name) for name in list(fields) if name in shapes.settings()})
    chosen = {"action_runs": (shapes.action_run.pk,), "release": shapes.release, **fields}
    return start_teacher(
        shapes.owner, shapes.project, TrainingRequest(params={**params, **chosen.pop("params", {})}, **chosen)
    )


def finished(training):
    assert run_now(training.job).state == JobState.DONE
    training.refresh_from_db()
    return training


def test_a_training_has_a_curve_a_model_evaluations_and_its_sources(shapes, settings):
    training = finished(start(shapes, params={"contrastive": 1.0, "lgt": 1.0}))
    points = list(training.points.values_list("step", "rcad", "standard"))
    assert [step for step, *_ in points] == list(range(1, 9))
    assert all(0 <= value <= 1 for _, *values in points for value in values)
    parts = training.points.first().parts
    # Both directions of the divergence, of which one was learnt from, and the negatives of a clip.
    counted = {"negatives: contrastive", "negatives: changed"}
    held = {"held out: RCAD R@1", "held out: standard R@1"}
    named = {"contrastive", "lgt", "teacher||student", "student||teacher", "norm of the gradients"}
    assert set(parts) == {*named, *counted, *held}
    assert parts["norm of the gradients"] > 0
    assert parts["lgt"] == parts["teacher||student"]
    assert (parts["negatives: contrastive"], parts["negatives: changed"]) == (3, 5)
    assert training.model_spec.startswith(f"tiny:{models_of(training.project_id)}/taught/")
    assert open_adapter(training.model_spec, device="cpu").info.card["adaptation"] == "fine_tuned"
    assert not teaching.work_of(training).exists()
    (run,) = training.sources["runs"]
    assert (run["run"], run["kind"], run["models"]) == (shapes.action_run.pk, "action", ["a/filler"])
    assert (training.sources["captions"], training.sources["negatives"]) == (8, 40)
    chosen = training.sources["selection"]
    assert (chosen["on"], chosen["captions"], chosen["videos"], chosen["stopped"]) == ("held_out", 1, 1, 8)
    best = max(point.parts["held out: RCAD R@1"] for point in training.points.all())
    assert (chosen["measure"], chosen["value"]) == (R1, best)
    assert set(training.sources["rates"]) == {"added layers", "encoders"}
    measured = training.job.measured["estimate"]
    assert (measured["steps"], measured["device"]) == (8, "cpu")
    assert measured["memory"] > 2**20
    reading = training.readings.get()
    before, after = EvaluationResult.of(reading.before), EvaluationResult.of(reading.after)
    assert before.scores != after.scores
    rows = {row["measure"]: row for row in before_and_after(reading)}
    assert rows[R1]["n"] == 4
    assert rows[R1]["mcnemar"] is not None
    assert {above_zero("action"), above_zero("object")} <= set(rows)
    assert AuditEvent.objects.filter(action="evaluation.start_teacher").count() == 1


def test_an_evaluation_has_the_scores_of_the_adapters(shapes):
    training = finished(start(shapes, steps=1))
    after = EvaluationResult.of(training.readings.get().after)
    adapter = open_adapter(training.model_spec, device="cpu")
    held, members, _ = teaching.held_out_of(shapes.release)
    footage = teaching.Footage([teaching.frozen_clip(member) for member in members])
    footage.show_to(adapter.info)
    frames, meta = footage(held.clips[0])
    expected = adapter.score(adapter.encode_video([frames], [meta]), adapter.encode_text(held.texts[0]))[0]
    np.testing.assert_allclose(after.scores[0], expected, atol=1e-6)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["clip", "xclip"])
def test_trained_transformers_students_load_in_the_adapters(shapes, settings, kind):
    root = Path(settings.MODEL_ROOT)
    folder = folders.clip(root / "c") if kind == "clip" else video_folders.xclip(root / "c")
    spec = f"{kind}:{folder}" + ("?frames=2" if kind == "clip" else "")
    training = finished(start(shapes, student=spec, steps=2, params={"contrastive": 0.5, "bf16": True}))
    assert training.model_spec.startswith(f"{kind}:{models_of(training.project_id)}/taught/")
    assert training.model_spec.endswith("?frames=2") == (kind == "clip")
    assert not list(models_of(training.project_id).rglob("*.bin"))
    reading = training.readings.get()
    assert EvaluationResult.of(reading.before).scores != EvaluationResult.of(reading.after).scores


class KilledError(BaseException):
    """As a kill: nothing of the job runs after it."""


def killed_training(shapes, monkeypatch):
    """After step 5 of 8; the checkpoint is that of step 3."""
    killed, real = start(shapes), teaching.progress

    def stops(job, done, total=None, message=None):
        real(job, done, total, message)
        if done == 5 and (message or "").startswith("loss"):
            raise KilledError

    monkeypatch.setattr(teaching, "progress", stops)
    with pytest.raises(KilledError):
        run_now(killed.job)
    monkeypatch.setattr(teaching, "progress", real)
    assert killed.points.count() == 5
    assert teaching.resumes_at(teaching.work_of(killed)) == 3
    return killed


def test_a_killed_training_ends_with_the_same_model_and_curve(shapes, monkeypatch):
    """Whatever people have made of the candidates in between."""
    whole, killed = finished(start(shapes)), killed_training(shapes, monkeypatch)
    Candidate.objects.filter(group__caption=shapes.captions[0], rank=0).update(state=CandidateState.DROPPED)
    Caption.objects.filter(pk=shapes.captions[1].pk).update(flagged_false=True)
    finished(killed)
    assert killed.model_spec == whole.model_spec
    assert killed.sources == whole.sources
    curve = ("step", "loss", "rcad", "standard")
    assert list(killed.points.values_list(*curve)) == list(whole.points.values_list(*curve))
    # A worker that is killed right after it has stored the model leaves the folder of its checkpoints.
    teaching.work_of(killed).mkdir(parents=True)
    teaching.run_training(killed, killed.job)
    assert not teaching.work_of(killed).exists()


def of_the_release(shapes, **fields):
    """A captioned train clip of a source video that the release shows."""
    source = Video.objects.filter(project=shapes.project, split=Split.TEST).first().source_id
    return make_caption(make_video(shapes.project, split="train", source_id=source, **fields), "a clip that came late")


def test_a_train_clip_added_later_from_a_release_source_does_not_stop_a_training(shapes, monkeypatch):
    killed = killed_training(shapes, monkeypatch)
    of_the_release(shapes)
    assert finished(killed).readings.get().after
    with pytest.raises(EvaluationError, match="freeze a release of other source videos"):
        start(shapes)


def test_a_train_clip_added_before_the_first_step_from_a_release_source_is_left_out(shapes):
    training = start(shapes)
    caption = of_the_release(shapes, file="late.mp4", sha256="1" * 64)
    make_candidate(make_group(shapes.action_run, caption), "a clip that came early")
    with pytest.raises(EvaluationError, match="freeze a release of other source videos"):
        run_now(training.job)
    assert not training.points.exists()


@pytest.mark.parametrize("change", [{"start_time": 0.1}, {"media_state": "taken_down"}, {"split": Split.TEST}])
def test_a_killed_training_does_not_resume_with_a_changed_clip(shapes, monkeypatch, change):
    killed = killed_training(shapes, monkeypatch)
    clip = shapes.captions[0].video
    Video.objects.filter(pk=clip.pk).update(**change)
    with pytest.raises(EvaluationError, match=f"{clip.key}: the clip changed .* as did 0 more; start a new training"):
        run_now(killed.job)


@pytest.mark.full
def test_an_old_checkpoint_without_captions_is_dropped_if_they_changed(shapes, monkeypatch):
    killed = killed_training(shapes, monkeypatch)
    (teaching.work_of(killed) / "captions.json").unlink()
    Candidate.objects.filter(group__caption=shapes.captions[0], rank=0).update(state=CandidateState.DROPPED)
    assert finished(killed).model_spec == finished(start(shapes)).model_spec


def test_a_cancelled_training_stops_and_a_retry_resumes_it(shapes, monkeypatch):
    training = start(shapes)
    real = teaching.progress

    def cancels(job, done, total=None, message=None):
        if done == 4 and (message or "").startswith("loss"):
            cancel(job)
            job._progress_written_at = None
        real(job, done, total, message)

    monkeypatch.setattr(teaching, "progress", cancels)
    with pytest.raises(JobStopped):
        teaching.run_training(training, _claimed(training.job))
    monkeypatch.setattr(teaching, "progress", real)
    training.refresh_from_db()
    assert (training.job.state, training.model_spec) == (JobState.CANCELLED, "")
    assert retry(training.job)
    training.job.refresh_from_db()
    assert finished(training).points.count() == 8


def _claimed(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, attempts=1)
    return Job.objects.get(pk=job.pk)


def test_only_the_train_split_is_read_and_true_captions_are_never_negatives(shapes):
    other = shapes.captions[0]
    make_caption(other.video, actions_of_caption(shapes, other)[0].upper() + ".")
    secret = make_caption(make_video(shapes.project, split="val"), "a secret of another split")
    assert secret.text not in collected(shapes).captions
    found = collected(shapes)
    row = found.captions.index(other.text)
    assert actions_of_caption(shapes, other)[0] not in found.negatives[row]
    assert len(found.negatives[row]) == 5


@pytest.mark.parametrize(("settled", "taught"), [("corrected", False), ("dropped", False), ("confirmed", True)])
def test_an_abandoned_caption_is_not_training_data_whatever_its_votes(shapes, settled, taught):
    caption = shapes.captions[0]
    Caption.objects.filter(pk=caption.pk).update(doubt_settled=settled)
    assert (caption.text in collected(shapes).captions) == taught


@pytest.mark.parametrize(
    ("settled", "flagged", "is_negative"),
    [("corrected", True, True), ("dropped", True, True), ("dropped", False, False)],
)
def test_a_caption_that_was_found_false_may_be_a_negative(shapes, settled, flagged, is_negative):
    other = shapes.captions[0]
    first = actions_of_caption(shapes, other)[0]
    make_caption(other.video, first + ".", doubt_settled=settled, flagged_false=flagged)
    found = collected(shapes)
    assert (first in found.negatives[found.captions.index(other.text)]) == is_negative


@pytest.mark.parametrize(
    ("verdict", "state", "is_negative"),
    [
        # Voted "both": the item is sent back, and the text waits to be edited.
        (FoilVerdict.INVALID, ItemState.REQUEUED, False),
        # The others of its item are enough.
        (FoilVerdict.INVALID, ItemState.VALID, False),
        (FoilVerdict.DISPUTED, ItemState.VALID, False),
        # Nobody has settled it.
        (FoilVerdict.DISPUTED, ItemState.DISPUTED, True),
        (FoilVerdict.VALID, ItemState.REQUEUED, True),
        (FoilVerdict.VALID, ItemState.VALID, True),
        (FoilVerdict.VALID, ItemState.RETRACTED, False),
    ],
)
def test_a_dropped_foil_is_not_a_negative_although_its_candidate_is_accepted(shapes, verdict, state, is_negative):
    other = shapes.captions[0]
    first = actions_of_caption(shapes, other)[0]
    item = make_item(shapes.actions, other, (first,), state=state)
    item.foils.update(verdict=verdict)
    rows = Candidate.objects.filter(group__caption=other, group__run=shapes.action_run, text=first)
    rows.update(state=CandidateState.ACCEPTED, foil=item.foils.get())
    found = collected(shapes)
    assert (first in found.negatives[found.captions.index(other.text)]) == is_negative


def test_a_caption_found_false_is_training_data_again_once_it_is_confirmed(shapes):
    caption = shapes.captions[0]
    Caption.objects.filter(pk=caption.pk).update(flagged_false=True)
    assert caption.text not in collected(shapes).captions
    Caption.objects.filter(pk=caption.pk).update(doubt_settled="confirmed")
    assert caption.text in collected(shapes).captions


def actions_of_caption(shapes, caption):
    rows = Candidate.objects.filter(group__caption=caption, group__run=shapes.action_run).order_by("rank")
    return list(rows.values_list("text", flat=True))


def collected(shapes, **fields):
    chosen = {
        **shapes.settings(),
        "action_runs": [shapes.action_run.pk],
        "object_runs": [shapes.object_run.pk],
        "without_negatives": "refuse",
        **fields,
    }
    return collect(shapes.project, chosen, needs_negatives=True)


def test_sources_give_the_requested_number_per_kind_without_rejected_ones(shapes):
    both = collected(shapes, actions=4, objects=2)
    assert {len(each) for each in both.negatives} == {6}
    assert len(collected(shapes, actions=10).negatives[0]) == 10
    first = actions_of_caption(shapes, shapes.captions[0])[0]
    Candidate.objects.filter(group__caption=shapes.captions[0], text=first).update(state=CandidateState.FILTERED_OUT)
    assert first not in collected(shapes).negatives[0]


def test_a_caption_without_negatives_is_named_or_left_out(shapes):
    bare = shapes.captions[0]
    Candidate.objects.filter(group__caption=bare).update(state=CandidateState.DROPPED)
    with pytest.raises(EvaluationError, match=rf"'{bare.text}' has no negatives, nor do 0 more.*leave_out"):
        start(shapes)
    training = start(shapes, params={"without_negatives": "leave_out"})
    assert (training.sources["captions"], training.sources["left_out"]) == (7, 1)
    # The plain loss asks for none.
    assert start(shapes, params={"contrastive": 1.0, "lgt": 0.0}).sources["captions"] == 8


@pytest.mark.parametrize(
    ("params", "error", "problem"),
    [
        ({"student": ""}, HubError, "names no model"),
        ({"student": "lm:openai-community/gpt2"}, EvaluationError, "cannot be trained; choose a dual encoder"),
        ({"student": "tiny:"}, EvaluationError, "student: is not a model"),
        ({"teacher": ""}, EvaluationError, "teacher: is not a model"),
        ({"lgt": 0.0, "contrastive": 0.0}, EvaluationError, "one of them above 0"),
        ({"temperature": 0.0}, EvaluationError, "temperature: is 0.0"),
        ({"batch": 5, "accumulate": 2}, EvaluationError, "accumulate"),
        ({"device": "tpu"}, EvaluationError, "unknown device"),
        ({"learning_rate": 3.0}, EvaluationError, "must be between 0 and 1"),
        ({"processes": 0}, EvaluationError, "processes: is 0"),
    ],
)
def test_invalid_settings_are_refused_before_anything_is_queued(shapes, params, error, problem):
    with pytest.raises(error, match=problem):
        start(shapes, params=params)
    assert not TeacherTraining.objects.exists()


def test_missing_roles_and_invalid_values_are_refused(shapes, tmp_path):
    with pytest.raises(AccessDenied):
        start_teacher(
            make_member(shapes.project, Role.ANNOTATOR), shapes.project, TrainingRequest(params=shapes.settings())
        )
    with pytest.raises(GenerationError, match="neither a model of this project nor a shared one"):
        start(shapes, student=f"tiny:{tmp_path}")
    with pytest.raises(GenerationError, match="neither a model of this project nor a shared one"):
        start(shapes, teacher=str(tmp_path))
    with pytest.raises(EvaluationError, match=r"need negative captions\. Choose a run"):
        start(shapes, action_runs=())
    with pytest.raises(EvaluationError, match="no such run in this project"):
        start(shapes, action_runs=(10**6,))
    empty = make_project()
    with pytest.raises(EvaluationError, match="no caption of the train split"):
        start_teacher(
            make_member(empty, Role.RESEARCHER),
            empty,
            TrainingRequest(params=shapes.settings(lgt=0.0, contrastive=1.0)),
        )
    Video.objects.filter(split=Split.TEST).update(split=Split.TRAIN)
    with pytest.raises(EvaluationError, match="8 of its items show clips of the train split"):
        start(shapes)


@pytest.mark.parametrize("what", ["student", "teacher"])
def test_a_model_that_does_not_load_ends_the_job_with_one_message_before_a_step(shapes, what):
    training = start(shapes)
    (getattr(shapes, what) / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(HubError):
        run_now(training.job)
    training.job.refresh_from_db()
    assert training.job.state == JobState.FAILED
    assert "\n" not in training.job.error
    assert getattr(shapes, what).name in training.job.error
    assert not training.points.exists()


def test_the_release_is_evaluated_before_the_first_step(shapes, monkeypatch):
    training, told, real = start(shapes), [], teaching.progress

    def notes(job, done, total=None, message=None):
        told.append(message)
        real(job, done, total, message)

    monkeypatch.setattr(teaching, "progress", notes)
    finished(training)
    phases = [message.partition(":")[0] for message in told if message.startswith(("evaluating", "loss"))]
    assert list(dict.fromkeys(phases)) == ["evaluating the release before", "loss", "evaluating the release after"]


def test_the_evaluation_after_covers_the_items_of_the_one_before(shapes, monkeypatch):
    """A clip that gets its file while the student learns is in both."""
    clip = Video.objects.filter(split=Split.TEST).first()
    Video.objects.filter(pk=clip.pk).update(media_state="missing")
    training, real = start(shapes), teaching.learn

    def attaches(*given):
        real(*given)
        Video.objects.filter(pk=clip.pk).update(media_state="ready")

    monkeypatch.setattr(teaching, "learn", attaches)
    reading = finished(training).readings.get()
    assert reading.left_out == []
    assert EvaluationResult.of(reading.before).ids == EvaluationResult.of(reading.after).ids
    assert len(reading.after["ids"]) == 8


def test_only_trainings_that_differ_just_in_their_seed_share_a_row(shapes):
    """Neither those of another student nor of other captions; where they ran, and what was looked at, says nothing."""
    first = finished(start(shapes, label="taught", seed=1))
    params, reading = first.params, first.readings.get()
    older = {name: value for name, value in params.items() if "temperatures" not in name}
    others = [
        {"seed": 2, "params": {**params, "device": "auto", "curve_items": 7, "processes": 2}},
        {"seed": 3, "params": {**params, "batch": 8}},
        # Of a version whose processes and parts saw fewer negatives.
        {"seed": 4, "params": {**older, "processes": 2}},
        {"seed": 5, "params": {**params, "actions": 3}},
        {"seed": 6, "student": "tiny:/elsewhere/other"},
        # A caption was corrected in between.
        {"seed": 7, "sources": {**first.sources, "sha256": "0" * 64}},
    ]
    made = [copy_of(first, reading, **fields) for fields in others]
    found = ablation(shapes.release, base=str(made[2].pk))
    rows = [row for row in found["rows"] if row["training"]]
    assert [row["seeds"] for row in rows] == [[1, 2], [3], [4], [5], [6], [7]]
    assert [row["label"] for row in rows] == [f"taught #{each.pk}" for each in (first, *made[1:])]
    assert (found["base"], found["chosen"]) == (rows[2]["label"], made[2].pk)
    assert [bool(row["against"]) for row in rows] == [True, True, False, True, True, True]


def copy_of(
    training: TeacherTraining, reading: StudentEvaluation, after: dict | None = None, **fields
) -> TeacherTraining:
    """Another training that read the same; with `fields`."""
    values = {name: getattr(training, name) for name in ("project", "label", "student", "params", "seed", "sources")}
    made = TeacherTraining.objects.create(**{**values, **fields})
    StudentEvaluation.objects.create(
        training=made, release=reading.release, before=reading.before, after=after or reading.after
    )
    return made


def test_a_seed_evaluated_with_other_items_is_not_in_its_row(shapes, client):
    first = finished(start(shapes, label="taught", seed=1))
    clip = Video.objects.filter(split=Split.TEST).first()
    Video.objects.filter(pk=clip.pk).update(media_state="missing")
    fewer = finished(start(shapes, label="taught", seed=1, steps=1)).readings.get().after
    copy_of(first, first.readings.get(), fewer, seed=2)
    copy_of(first, first.readings.get(), seed=3)
    row = ablation(shapes.release)["rows"][0]
    assert (row["seeds"], row["left_out"]) == ([1, 3], [2])
    assert row["found"][R1]["n"] == 4
    client.force_login(shapes.owner)
    page = client.get(reverse("teacher:teacher_comparison", args=[shapes.project.slug, shapes.release.pk]))
    assert "without 2: evaluated on different items" in page.content.decode()


def test_a_training_without_a_name_gets_a_default_name(shapes):
    assert start(shapes, actions=4).label == "contrastive 1, lgt 1; 4 actions; tiny:start"
    assert start(shapes, label=" my  own ").label == "my own"


def test_unfinished_evaluations_are_not_compared(shapes):
    training = start(shapes)
    assert ablation(shapes.release)["rows"] == []
    StudentEvaluation.objects.filter(training=training).update(before={"ids": []})
    assert ablation(shapes.release)["rows"] == []


@pytest.mark.full
def test_another_release_is_evaluated_later_and_trainings_are_compared(shapes):
    plain = finished(start(shapes, label="plain", params={"contrastive": 1.0, "lgt": 0.0}))
    first, second = (finished(start(shapes, label="taught", seed=seed)) for seed in (1, 2))
    found = ablation(shapes.release)
    rows = {row["label"]: row for row in found["rows"]}
    assert found["base"] == "plain"
    assert rows["taught"]["seeds"] == [1, 2]
    assert rows["taught"]["captions"] == "5 actions"
    assert rows["taught"]["against"][R1]["n"] == 4
    mean = np.mean([before_and_after(each.readings.get())[1]["after"] for each in (first, second)])
    assert rows["taught"]["found"][R1]["value"] == pytest.approx(mean)
    assert "tiny:start" in rows
    later = finished(start(shapes, release=None, steps=1))
    reading = read_release(shapes.owner, later, shapes.release)
    assert run_now(reading.job).state == JobState.DONE
    reading.refresh_from_db()
    assert json.dumps(reading.before) == json.dumps(plain.readings.get().before)
    # What was read is not asked for again.
    assert read_release(shapes.owner, later, shapes.release).job == reading.job
