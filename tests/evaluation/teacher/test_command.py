"""`foilworks teacher` from the command line: what scripts rely on, and one line for what cannot be."""

import json
from pathlib import Path

import pytest
import torch
from django.core.management import call_command

from evaluation.teacher.models import TeacherTraining
from jobs.models import Job, JobState
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
    status, got, _ = run("evaluate", "--training", got["training"], "--release", shapes.release.pk, "--sync")
    assert status == 0
    rows = {row["measure"]: row for row in got["measures"]}
    assert {"before", "after", "value", "ci", "p", "n"} <= rows["RCAD R@1"].keys()
    Job.objects.filter(pk=TeacherTraining.objects.get().job_id).update(state=JobState.CANCELLED)
    status, again, _ = run("resume", "--training", got["training"])
    assert (status, again["state"], again["model"]) == (0, "waiting", got["model"])
    _, text, _ = run("evaluate", "--training", got["training"], "--release", shapes.release.pk, as_json=False)
    assert "RCAD mean rank" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("train",), "train needs --project and --student"),
        (("train", "--project", "none", "--student", "tiny:x"), "there is no project 'none'"),
        (("resume", "--training", "7"), "training 7 not found; give --training with one of: none yet"),
        (("evaluate",), "training None not found; give --training with one of: none yet"),
    ],
)
def test_an_invalid_request_is_one_line(run, arguments, problem):
    status, _, err = run(*arguments)
    assert status == 1
    assert err == f"foilworks: {problem}{err.partition(problem)[2]}"
    assert err.count("\n") == 1
