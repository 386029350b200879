"""`foilworks teacher` from the command line: what scripts rely on, and one line for what cannot be."""

import json
from pathlib import Path

import pytest
import torch
from django.core.management import call_command

from foilworks.core.corpus.models import Video
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.projects.models import AuditEvent
from foilworks.site.exports.hooks import TABLES_JOB
from foilworks.site.teacher.models import TeacherTraining
from tests.evaluation.teacher.shapes import Shapes

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(capsys):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def runner(*arguments, as_json=True):
        status = 0
        try:
            call_command("teacher", *map(str, arguments), *(["--json"] if as_json else []))
        except SystemExit as left:
            status = int(left.code)
        out, err = capsys.readouterr()
        return status, (json.loads(out) if out and as_json else out), err

    yield runner
    torch.set_num_threads(threads)


def test_train_and_evaluate(run, settings):
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    given = {**shapes.settings(steps=2, lgt=0.0, contrastive=0.0, lbl=1.0)}
    student = given.pop("student")
    told = [piece for name, value in given.items() for piece in ("--set", f"{name}={value}")]
    common = ("--project", shapes.project.slug, "--student", student, "--action-run", shapes.action_run.pk)
    status, got, _ = run("train", *common, "--label", "labels", *told, "--sync")
    assert (status, got["state"], got["label"]) == (0, "done", "labels")
    assert got["model"].startswith("tiny:/")
    assert got["sources"]["runs"][0]["run"] == shapes.action_run.pk
    chosen = got["sources"]["selection"]
    assert (chosen["on"], chosen["measure"], chosen["stopped"]) == ("held_out", "RCAD R@1", 2)
    status, got, _ = run("evaluate", "--training", got["training"], "--release", shapes.release.pk, "--sync")
    assert status == 0
    rows = {row["measure"]: row for row in got["measures"]}
    assert {"before", "after", "value", "ci", "p", "n"} <= rows["RCAD R@1"].keys()
    Job.objects.filter(pk=TeacherTraining.objects.get().job_id).update(state=JobState.CANCELLED)
    status, again, _ = run("resume", "--training", got["training"])
    assert (status, again["state"], again["model"]) == (0, "waiting", got["model"])
    Job.objects.filter(pk=TeacherTraining.objects.get().job_id).update(state=JobState.CANCELLED)
    _, text, _ = run("resume", "--training", got["training"], as_json=False)
    assert f"chosen: step {chosen['step']} of 2, RCAD R@1" in text
    _, text, _ = run("evaluate", "--training", got["training"], "--release", shapes.release.pk, as_json=False)
    assert "RCAD mean rank" in text


def test_a_training_on_a_part_of_the_videos(run, settings, tmp_path):
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    Video.objects.filter(pk__in=[caption.video_id for caption in shapes.captions[:3]]).update(split="val")
    # The listed videos of a split are too few to hold one out.
    given = shapes.settings(steps=1, lgt=0.0, contrastive=1.0) | {"select_on": "last_step"}
    student = given.pop("student")
    told = [piece for name, value in given.items() for piece in ("--set", f"{name}={value}")]
    common = ("train", "--project", shapes.project.slug, "--student", student, "--release", shapes.release.pk, *told)
    listed = tmp_path / "keys.txt"
    listed.write_text("\n".join(caption.video.key for caption in shapes.captions[2:5]))
    status, got, _ = run(*common, "--split", "val", "--sync")
    assert (status, got["state"], got["sources"]["split"], got["sources"]["captions"]) == (0, "done", "val", 3)
    found = [run(*common, *more)[1]["sources"]["captions"] for more in ((), ("--split", "train"))]
    assert found == [5, 5]
    assert "split" not in TeacherTraining.objects.first().params
    found = [run(*common, "--videos", listed, *more)[1]["sources"]["captions"] for more in ((), ("--split", "val"))]
    assert found == [2, 1]
    assert AuditEvent.objects.filter(action="evaluation.start_teacher").last().details["params"]["videos"] == 3
    Video.objects.filter(project=shapes.project, split="test").update(split="val")
    _, _, err = run(*common, "--split", "val")
    assert "items show clips of the val split" in err
    _, _, err = run(*common, "--split", "test", "--videos", listed)
    assert "no caption of the test split is of a listed video, has a video and is in the chosen runs" in err


def test_an_estimate_stores_nothing(run, settings):
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    given = shapes.settings(contrastive=1.0)
    student = given.pop("student")
    told = [piece for name, value in given.items() for piece in ("--set", f"{name}={value}")]
    common = ("estimate", "--project", shapes.project.slug, "--student", student, "--action-run", shapes.action_run.pk)
    status, got, _ = run(*common, *told)
    found = got["estimate"]
    assert (status, found["steps"], found["device"]) == (0, 8, "cpu")
    # A clip is read once, and while the model computes.
    assert found["seconds"] == pytest.approx(max(8 * found["step_s"], 7 / 4 * found["read_s"]))
    _, text, _ = run(*common, *told, as_json=False)
    assert "s per step" in text
    assert "for 8 steps" in text
    assert not TeacherTraining.objects.exists()
    assert not Job.objects.exclude(dotted=TABLES_JOB).exists()
    status, _, err = run(*common, *told, "--set", "held_out=2")
    assert (status, "give a share between 0 and 1" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("export", "--project", "none", "--out", "x", "--set", "negatives.seed=1"),
            "--set negatives.seed needs --negatives SOURCE; add it",
        ),
        (("train", "--project", "none", "--student", "tiny:x"), "--project: project 'none' not found"),
        (("resume", "--training", "7"), "training 7 not found; give --training with one of: none yet"),
        (
            ("evaluate", "--training", "8", "--release", "1"),
            "training 8 not found; give --training with one of: none",
        ),
    ],
)
def test_an_invalid_request_is_one_line(run, arguments, problem):
    status, _, err = run(*arguments)
    assert status == 1
    assert err == f"foilworks: {problem}{err.partition(problem)[2]}"
    assert err.count("\n") == 1
