"""Trainings by LLM-teacher: the form, a training, before and after, and several beside each other, wide and narrow."""

from pathlib import Path

import pytest
import torch
from django.conf import settings
from django.core.cache import cache
from django.urls import reverse
from playwright.sync_api import Page, expect

from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.site.teacher.actions.trainings import start_teacher
from foilworks.site.teacher.training_request import TrainingRequest
from tests.addresses import named
from tests.e2e.conftest import SignIn
from tests.e2e.test_model_pages import looked_at
from tests.evaluation.teacher.shapes import Shapes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def taught() -> Shapes:
    """Two trainings that read a release, one of which waits for a worker."""
    cache.clear()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    shapes = Shapes(Path(settings.MEDIA_ROOT), Path(settings.MODEL_ROOT))
    common = {"action_runs": (shapes.action_run.pk,), "release": shapes.release}
    for label, shares in (("plain fine-tuning", {"contrastive": 1.0, "lgt": 0.0}), ("10 actions, logits", {})):
        settings_of = {**shapes.settings(steps=4), **shares}
        run_now(
            start_teacher(shapes.owner, shapes.project, TrainingRequest(params=settings_of, label=label, **common)).job
        )
    start_teacher(shapes.owner, shapes.project, TrainingRequest(params=shapes.settings(), label="waiting", **common))
    torch.set_num_threads(threads)
    return shapes


def test_the_pages_of_trainings(sign_in: SignIn, taught: Shapes, live_server) -> None:
    page: Page = sign_in(taught.owner)
    first, _, waiting = taught.project.teacher_trainings.order_by("pk")
    pages = {
        "teacher": (),
        "teacher_training": (first.pk,),
        "teacher_reading": (first.pk, taught.release.pk),
        "teacher_comparison": (taught.release.pk,),
    }
    for name, args in pages.items():
        page.goto(live_server.url + reverse(named(name), args=[taught.project.slug, *args]))
        looked_at(page)
    page.goto(live_server.url + reverse("teacher:teacher_training", args=[taught.project.slug, waiting.pk]))
    looked_at(page)
    Job.objects.filter(pk=waiting.job_id).update(state=JobState.CANCELLED)
    expect(page.get_by_role("button", name="Retry training")).to_be_visible()
    looked_at(page)
    page.get_by_role("button", name="Retry training").click()
    expect(page.get_by_text("The training continues.")).to_be_visible()
    assert Job.objects.get(pk=waiting.job_id).state == JobState.WAITING
