"""Tuning from the page to a model in the project's folder that span infilling takes."""

from pathlib import Path

import pytest
import torch
from django.urls import reverse

from foilworks.core.corpus.models import Caption, MediaState, Video
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.model_folders import models_of
from foilworks.core.projects.models import AuditEvent, Role
from generation.actions.runs import start_run, start_tuning
from generation.errors import GenerationError
from generation.models import Candidate, Tuning
from generation.run_request import FoilRequest
from generation.tuning import job as tuning_job
from generation.tuning.loss_curve import loss_curve
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.hub import folders

pytestmark = pytest.mark.django_db
TEXTS = [f"a {who} {what} a {it}" for who in ("man", "girl") for what in ("folds", "opens") for it in ("box", "bag")]


@pytest.fixture(autouse=True)
def one_thread():
    """Workers of a test run share the cores, and waiting threads cost more than they give."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def root(settings, tmp_path):
    settings.MODEL_ROOT = tmp_path / "models"
    folders.text_to_text(settings.MODEL_ROOT / "base", TEXTS, steps=0)
    return Path(settings.MODEL_ROOT)


@pytest.fixture
def project():
    project = make_project()
    for text in TEXTS:
        make_caption(make_video(project, split="train"), text)
    make_caption(make_video(project, split="test"), "a secret of the test split")
    return project


SETTINGS = {"model": "base", "device": "cpu", "epochs": 2, "batch": 2, "checkpoint_every": 3, "learning_rate": 0.005}


def finished(tuning):
    assert run_now(tuning.job).state == JobState.DONE, tuning.job.error
    tuning.refresh_from_db()
    return tuning


def test_the_tuned_model_is_in_a_folder_named_by_its_hash_and_fills_spans(owner, project, root):
    tuning = finished(start_tuning(owner, project, params=SETTINGS))
    assert (tuning.captions, tuning.steps) == (8, 8)
    assert tuning.losses[-1][0] == 8
    folder = models_of(project.pk) / tuning.folder
    assert tuning.folder.startswith("tuned/")
    assert len(folder.name) == 16
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in folder.iterdir()}
    assert not (models_of(project.pk) / "tuning" / str(tuning.pk)).exists()
    asked = {"model": tuning.folder, "device": "cpu", "beams": 4, "top": 4}
    run = start_run(
        owner,
        project,
        FoilRequest(subtest=make_subtest(project), method="span_infill", mode="paper", params=asked, filters={}),
    )
    assert run.params["model"] == str(folder)
    assert run_now(run.job).state == JobState.DONE
    made = Candidate.objects.filter(group__run=run)
    assert {one.model_id for one in made} <= {folder.name}
    assert AuditEvent.objects.filter(action="generation.start_tuning").count() == 1


def test_only_the_train_split_is_read(project, root):
    assert set(tuning_job.train_captions(project, 10**9)) == set(TEXTS)


def test_captions_of_a_video_that_was_taken_down_are_not_used(owner, project):
    Video.objects.filter(split="train").exclude(captions__text=TEXTS[0]).update(media_state=MediaState.TAKEN_DOWN)
    assert list(tuning_job.train_captions(project, 10**9)) == [TEXTS[0]]
    Video.objects.update(media_state=MediaState.TAKEN_DOWN)
    with pytest.raises(GenerationError, match="train split"):
        start_tuning(owner, project, params=SETTINGS)


@pytest.mark.parametrize("settled", ["corrected", "dropped"])
def test_retracted_captions_are_not_used(project, settled):
    Caption.objects.filter(text=TEXTS[0]).update(doubt_settled=settled)
    assert set(tuning_job.train_captions(project, 10**9)) == set(TEXTS[1:])


class Killed(BaseException):
    """What no code of a job expects, as a killed process does not."""


def test_a_killed_tuning_ends_with_the_same_model_and_curve(owner, project, root, monkeypatch):
    whole = finished(start_tuning(owner, project, params=SETTINGS))
    killed = start_tuning(owner, project, params=SETTINGS)
    real = tuning_job.tune

    def stops(*args, **options):
        for step, loss in real(*args, **options):
            yield step, loss
            if step == 5:
                raise Killed

    monkeypatch.setattr(tuning_job, "tune", stops)
    with pytest.raises(Killed):
        run_now(killed.job)
    monkeypatch.setattr(tuning_job, "tune", real)
    killed.refresh_from_db()
    killed.job.refresh_from_db()
    assert killed.folder == ""
    finished(killed)
    assert (killed.folder, killed.losses) == (whole.folder, whole.losses)
    # A worker that is killed right after it has stored the model leaves the folder of its checkpoints.
    left = models_of(project.pk) / "tuning" / str(killed.pk)
    left.mkdir(parents=True)
    tuning_job.run_tuning(killed, killed.job)
    assert not left.exists()


def test_other_roles_and_invalid_parameters_are_refused(owner, project, root, tmp_path):
    with pytest.raises(AccessDenied):
        start_tuning(make_member(project, Role.ANNOTATOR), project)
    for wrong in ({"epochs": 0}, {"density": 1.5}, {"verb_share": 2}):
        with pytest.raises(GenerationError):
            start_tuning(owner, project, params=wrong)
    with pytest.raises(GenerationError, match="neither a model of this project nor a shared one"):
        start_tuning(owner, project, params={"model": str(tmp_path)})
    with pytest.raises(GenerationError, match="no model folder"):
        start_tuning(None, project, params={"model": str(tmp_path / "missing")})
    empty = make_project()
    with pytest.raises(GenerationError, match="train split"):
        start_tuning(make_member(empty, Role.RESEARCHER), empty)


def test_the_pages_show_the_curve_and_the_folder(client, owner, project, root, django_assert_max_num_queries):
    client.force_login(owner)
    address = reverse("generation:tunings", args=[project.slug])
    answer = client.post(address, {f"tuning-{name}": str(value) for name, value in SETTINGS.items()})
    tuning = Tuning.objects.get()
    assert answer["Location"] == reverse("generation:tuning", args=[project.slug, tuning.pk])
    assert "hx-get" in client.get(answer["Location"]).content.decode()
    finished(tuning)
    page = client.get(answer["Location"]).content.decode()
    assert "<polyline" in page
    assert tuning.folder in page
    assert client.get(answer["Location"], {"part": "1"})["HX-Refresh"] == "true"
    for shown in (address, answer["Location"]):
        with django_assert_max_num_queries(12):
            assert client.get(shown).status_code == 200
    assert client.post(address, {"tuning-epochs": "x"}).status_code == 422


def test_a_curve_goes_from_left_to_right_and_high_is_up():
    curve = loss_curve([[1, 4.0], [3, 2.0], [5, 3.0]])
    assert curve.points == "0.0,0.0 200.0,120.0 400.0,60.0"
    assert (curve.low, curve.high, curve.last) == (2.0, 4.0, 3.0)
    assert loss_curve([]) is None
    assert loss_curve([[2, 1.0]]).points == "0.0,0.0"
