"""Forms that cannot be used say so before they are filled in, and errors are at their fields."""

import pytest
from django.db import connection
from django.urls import reverse
from huggingface_hub import constants

from generation.models import Selection
from generation.models.side_work import Tuning
from tests.factories import make_caption, make_member, make_run, make_subtest, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client, project):
    client.force_login(make_member(project, "researcher"))
    return client


def page_of(name, project):
    return reverse(name, args=[project.slug])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("generation:tunings", "The train split has no captions"),
        ("generation:selections", "no generation run yet"),
        ("teacher:teacher", "The train split has no captions"),
        ("utd:bias_describe", "no videos yet"),
        ("utd:bias_measure", "no descriptions to measure yet"),
    ],
)
def test_a_form_without_data_is_disabled_and_says_why(owner, project, name, reason):
    html = owner.get(page_of(name, project)).content.decode()
    assert reason in html[html.index("data-closed") :]
    assert "<fieldset" in html
    assert html[html.index("data-closed") :].count(" disabled>") >= 2


def test_the_forms_can_be_used_as_soon_as_there_is_data(owner, project):
    make_run(make_subtest(project))
    make_caption(make_video(project, split="train", file="a.mp4"))
    for name in ("generation:tunings", "generation:selections", "teacher:teacher", "utd:bias_describe"):
        assert "data-closed" not in owner.get(page_of(name, project)).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", "0"), ("epochs", "many"), ("learning_rate", "7"), ("verb_share", "2"), ("model", "two words")],
)
def test_a_wrong_value_of_a_tuning_is_reported_at_its_field(owner, project, settings, tmp_path, field, value):
    settings.MODEL_ROOT = tmp_path
    (tmp_path / "base").mkdir()
    make_caption(make_video(project, split="train", file="a.mp4"))
    sent = {"tuning-model": "base"} | {f"tuning-{field}": value}
    answer = owner.post(page_of("generation:tunings", project), sent)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert not Tuning.objects.exists()


def test_an_absent_base_model_is_refused_before_the_job(owner, project, monkeypatch, tmp_path):
    make_caption(make_video(project, split="train", file="a.mp4"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    answer = owner.post(page_of("generation:tunings", project), {"tuning-model": "nobody/nothing"})
    refused = connection.vendor == "sqlite"
    assert ("model" in answer.context["form"].errors if refused else answer.status_code == 302) is True


@pytest.mark.parametrize(
    ("field", "value"),
    [("student", "nonsense:x"), ("student", "clip:two words"), ("batch", "3"), ("device", "tpu"), ("batch", "many")],
)
def test_a_wrong_value_of_a_training_is_reported_at_its_field(owner, project, settings, tmp_path, field, value):
    settings.MODEL_ROOT = tmp_path
    (tmp_path / "base").mkdir()
    (tmp_path / "base/config.json").write_text("{}")
    make_caption(make_video(project, split="train", file="a.mp4"))
    sent = {"teacher-student": "tiny:base", "teacher-accumulate": "2", "teacher-lgt": "0", f"teacher-{field}": value}
    answer = owner.post(page_of("teacher:teacher", project), sent)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]


def test_adversarial_refinement_without_two_gaps_is_reported_at_the_gaps(owner, project):
    subtest = make_subtest(project)
    make_run(subtest)
    sent = {"kind": "adversarial", "subtest": subtest.pk, "gaps": ["perplexity"], "seed": 0}
    answer = owner.post(page_of("generation:selections", project), sent)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["gaps"])
    assert not Selection.objects.exists()


@pytest.mark.parametrize("spec", ["vlm:two words", "vlm:owner/name/more"])
def test_a_describer_that_is_not_a_hub_id_is_reported_at_its_field(owner, project, spec):
    make_video(project)
    sent = {"recipe": "demo", "frames": "8", "device": "auto", "describer": spec}
    answer = owner.post(page_of("utd:bias_describe", project), sent)
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["describer"])
