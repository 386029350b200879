"""Controls of a scoring run, asked for through the API and on the page."""

import pytest
from django.urls import reverse

from evaluation.scoring.models import Run
from evaluation.scoring.rungs import USUAL
from foilworks.core.projects.models import Role
from tests import factories
from tests.evaluation.rungs.worlds import make_release
from tests.foilworks.api.test_api import asking

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("asked", [True, False])
def test_a_run_has_controls_if_they_are_asked_for(client, asked):
    release = make_release()
    person = factories.make_member(release.project, Role.RESEARCHER)
    wanted = [rung.value for rung in USUAL] if asked else []
    path = f"/api/v1/projects/{release.project.slug}/releases/{release.pk}/scoring"
    made = asking(person)("post", path, {"spec": "fake:text", "controls": asked, "standard": asked})
    assert made.status_code == 202
    assert Run.objects.get(pk=made.json()["id"]).params.get("ladder", {}).get("rungs", []) == wanted
    assert ("standard" in Run.objects.get(pk=made.json()["id"]).params) is asked
    client.force_login(person)
    page = reverse("releases:release", args=(release.project.slug, release.pk))
    assert 'name="controls"' in client.get(page).content.decode()
    given = {"spec": "fake:text", "protocol": "foilworks", "device": "auto", **({"controls": "on"} if asked else {})}
    assert client.post(page, given).status_code == 302
    assert Run.objects.latest("pk").params.get("ladder", {}).get("rungs", []) == wanted
