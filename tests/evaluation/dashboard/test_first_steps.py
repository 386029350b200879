"""The way to a first release: one step is next, what is done stays done, and a released project is told nothing."""

import pytest
from django.test import Client
from django.urls import reverse

from foilworks.core.projects.models import Role
from foilworks.site.dashboard.next_steps import STEPS, first_steps
from tests.factories import make_caption, make_member, make_project, make_subtest, make_video
from tests.pages import read_page

NOTHING = dict.fromkeys(
    ("subtests", "captions", "made", "edited", "accepted", "items", "judged", "valid", "released"), 0
)


@pytest.mark.parametrize(
    ("counts", "missing", "following"),
    [
        ({}, 3, 0),
        ({"captions": 3}, 3, 1),
        # The second thing first: what is missing before it is next.
        ({"subtests": 1}, 0, 0),
        ({"subtests": 1, "captions": 3}, 3, 2),
        ({"subtests": 1, "captions": 3, "made": 2}, 1, 3),
        # People are there before anybody has edited anything.
        ({"subtests": 1, "captions": 3, "made": 2}, 0, 4),
        # Work has begun, and cannot be ended with who is there.
        ({"subtests": 1, "captions": 3, "made": 2, "edited": 1}, 1, 3),
        # A benchmark that was imported has items without runs.
        ({"captions": 3, "items": 3}, 3, 3),
        ({"captions": 3, "items": 3, "judged": 3, "valid": 2}, 0, 5),
    ],
)
def test_the_first_unfinished_step_is_next(counts, missing, following):
    steps = first_steps({**NOTHING, **counts}, {"validator": missing} if missing else {})
    assert [step.is_next for step in steps] == [place == following for place in range(len(STEPS))]
    assert not any(step.is_done for step in steps if step.is_next)


def test_annotations_are_collected_only_when_no_task_is_open():
    valid = {**NOTHING, "captions": 3, "items": 3, "judged": 3, "valid": 2}
    following = [next(step for step in first_steps(valid, {}, n) if step.is_next).page for n in (4, 0)]
    assert following == ["annotation:work", "releases:freeze"]


def test_the_steps_disappear_after_the_first_release():
    assert first_steps({**NOTHING, "released": 1}, {}) == []


def test_missing_roles_are_named():
    (people,) = [step for step in first_steps(NOTHING, {"validator": 1, "reviewer": 1}) if step.missing]
    assert people.missing == "a reviewer, 1 validator"
    (people,) = [step for step in first_steps(NOTHING, {"annotator": 1, "validator": 3}) if step.missing]
    assert people.missing == "an annotator, 3 validators"
    assert not any(step.missing for step in first_steps(NOTHING, {}))


@pytest.mark.django_db
def test_a_new_project_shows_the_first_steps_instead_of_zeros():
    project = make_project()
    client = Client()
    client.force_login(make_member(project, Role.RESEARCHER))
    url = reverse("dashboard:dashboard", args=[project.slug])
    page = client.get(url).content.decode()
    read_page(page).check("Steps to a first release", "Still missing: an annotator, a reviewer, 3 validators.")
    assert "From captions to a release" not in page
    for step in first_steps(NOTHING, {}):
        assert reverse(step.page, args=[project.slug]) in page
    make_subtest(project)
    make_caption(make_video(project))
    assert "From captions to a release" in client.get(url).content.decode()
