"""The pages of trainings: from the form to the tables, with their files, states and numbers of queries."""

import csv
import io
from pathlib import Path

import pytest
import torch
from django.urls import reverse
from django.utils.html import strip_tags

from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import AuditEvent
from foilworks.site.teacher.models import TeacherTraining
from tests.addresses import named
from tests.evaluation.teacher.shapes import Shapes
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def shapes(settings, client):
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    made = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    client.force_login(made.owner)
    yield made
    torch.set_num_threads(threads)


def at(shapes, name, *args):
    return reverse(named(name), args=[shapes.project.slug, *args])


def sent(shapes, **fields):
    values = {**shapes.settings(student="tiny:start", teacher="teacher", steps=3), "label": "taught", **fields}
    values |= {"action_runs": [str(shapes.action_run.pk)], "release": str(shapes.release.pk)}
    return {f"teacher-{name}": value for name, value in values.items()}


def test_a_failed_training_is_retried_on_its_page(client, shapes):
    client.post(at(shapes, "teacher"), sent(shapes))
    training = TeacherTraining.objects.get()
    page, go_on = at(shapes, "teacher_training", training.pk), at(shapes, "teacher_resume", training.pk)
    assert go_on not in client.get(page).content.decode()
    assert client.post(go_on).status_code == 400
    Job.objects.filter(pk=training.job_id).update(state=JobState.FAILED, error="its disk is full")
    assert go_on in client.get(page).content.decode()
    assert client.post(go_on)["Location"] == page
    assert AuditEvent.objects.filter(action="evaluation.resume_teacher", actor=shapes.owner).count() == 1
    assert run_now(Job.objects.get(pk=training.job_id)).state == JobState.DONE
    assert go_on not in client.get(page).content.decode()


@pytest.mark.full
def test_the_form_starts_a_training_whose_pages_follow_it_to_its_end(client, shapes, django_assert_max_num_queries):
    assert "No trainings yet" in client.get(at(shapes, "teacher")).content.decode()
    answer = client.post(at(shapes, "teacher"), sent(shapes))
    training = TeacherTraining.objects.get()
    page = at(shapes, "teacher_training", training.pk)
    assert answer["Location"] == page
    assert "hx-get" in client.get(page).content.decode()
    reading = at(shapes, "teacher_reading", training.pk, shapes.release.pk)
    assert "evaluated before and after the training" in client.get(reading).content.decode()
    assert client.get(at(shapes, "teacher_curve", training.pk)).status_code == 404
    run_now(training.job)
    shown = client.get(page).content.decode()
    training.refresh_from_db()
    assert training.model_spec in shown
    assert "a/filler" in shown
    assert "8 videos of the train split." in " ".join(shown.split())
    assert shapes.settings()["teacher"] in shown
    assert client.get(page, {"part": "1"})["HX-Refresh"] == "true"
    assert b"RCAD R@1" in client.get(at(shapes, "teacher_curve", training.pk)).content
    table = strip_tags(client.get(reading).content.decode())
    for words in ("standard R@1", "RCAD R@2", "RCAD mean rank", "action: share above 0", "object: mean change", " pp"):
        assert words in table, words
    beside = client.get(at(shapes, "teacher_comparison", shapes.release.pk)).content.decode()
    assert "5 actions" in beside
    for each in (at(shapes, "teacher"), page, reading, at(shapes, "teacher_comparison", shapes.release.pk)):
        with django_assert_max_num_queries(14):
            assert client.get(each).status_code == 200
    files = {
        name: client.get(at(shapes, "teacher_reading_file", training.pk, shapes.release.pk, name))
        for name in ("csv", "json", "svg", "exe")
    }
    assert files["json"].json()["sources"] == training.sources
    assert files["svg"]["Content-Type"] == "image/svg+xml"
    assert files["exe"].status_code == 404
    rows = list(csv.DictReader(io.StringIO(files["csv"].content.decode())))
    assert {row["measure"] for row in rows} >= {"standard R@1", "RCAD R@1"}
    lines = client.get(at(shapes, "teacher_comparison_file", shapes.release.pk)).content.decode().splitlines()
    assert lines[0].endswith("minus taught,difference_low,difference_high,p")


def test_errors_appear_in_the_form(client, shapes):
    answer = client.post(at(shapes, "teacher"), sent(shapes, student="tiny:/etc"))
    assert answer.status_code == 422
    assert "neither a model of this project nor a shared one" in answer.content.decode()
    assert client.post(at(shapes, "teacher"), sent(shapes, steps="x")).status_code == 422
    assert not TeacherTraining.objects.exists()


def test_another_release_can_be_evaluated_when_the_training_is_done(client, shapes):
    client.post(at(shapes, "teacher"), {**sent(shapes, steps=1), "teacher-release": ""})
    training = TeacherTraining.objects.get()
    address = at(shapes, "teacher_read", training.pk)
    assert client.post(address, {"release": shapes.release.pk}).status_code == 400
    run_now(training.job)
    answer = client.post(address, {"release": shapes.release.pk})
    reading = training.readings.get()
    assert answer["Location"] == at(shapes, "teacher_reading", training.pk, shapes.release.pk)
    assert "hx-get" in client.get(answer["Location"]).content.decode()
    run_now(reading.job)
    assert "Distributions of the cosine change" in client.get(answer["Location"]).content.decode()
    assert client.get(answer["Location"], {"part": "1"})["HX-Refresh"] == "true"


def test_the_form_takes_a_mixture_and_the_page_shows_its_shares(client, shapes):
    form = client.get(at(shapes, "teacher")).content.decode()
    assert f"This project has: run:{shapes.object_run.pk}, run:{shapes.action_run.pk}." in form
    runs = (shapes.action_run.pk, shapes.object_run.pk)
    mixed = {"negatives": "run:{}=0.5\n\nrun:{}=0.4\n".format(*runs), "per_caption": "4"}
    values = {name: value for name, value in sent(shapes, **mixed).items() if name != "teacher-action_runs"}
    refused = client.post(at(shapes, "teacher"), values)
    assert refused.status_code == 422
    assert "the shares add up to 0.9; give shares that add up to 1" in refused.content.decode()
    values["teacher-negatives"] = "run:{}=0.5\nrun:{}=0.5".format(*runs)
    page = client.post(at(shapes, "teacher"), values)["Location"]
    assert TeacherTraining.objects.get().captions_per_clip == "4 of run:{}=0.5, run:{}=0.5".format(*runs)
    shown = client.get(page).content.decode()
    read_page(shown).check("Achieved share", f"run:{runs[0]}")
    assert "mixed" in strip_tags(shown)
