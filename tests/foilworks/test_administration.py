"""The page of administrators: doctor's checks, the numbers of monitoring, and what failed, for superusers alone."""

import pytest
from django.test import Client
from django.utils import timezone

from foilworks.core.jobs.models import Job
from foilworks.core.projects.models import Delivery, Webhook
from foilworks.site.doctor import OK, examine
from foilworks.site.monitoring import metrics
from tests.factories import make_member, make_project, make_user
from tests.pages import read_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(make_user("ada", is_superuser=True))
    return client


def test_the_page_has_what_doctor_says_with_its_actions(administrator):
    page = read_page(administrator.get("/administration/"))
    for check in examine():
        assert check.name in page.text
        if check.state != OK:
            assert check.todo.replace("`", "") in page.text


def test_failed_jobs_and_deliveries_lead_to_their_projects(administrator, django_assert_max_num_queries):
    project = make_project(name="Kitchen")
    Job.objects.create(dotted="scoring.run", target_id=1, state="failed", project_id=project.pk, error="a\nno GPU\n")
    hook = Webhook.objects.create(project=project, url="https://example.org/hook", salt="s")
    for state in ("failed", "delivered"):
        Delivery.objects.create(
            webhook=hook, event="item.decided", payload={}, state=state, next_at=timezone.now(), problem="410 Gone"
        )
    metrics._KEPT.forget()
    with django_assert_max_num_queries(40):
        page = read_page(administrator.get("/administration/"))
    page.check("no GPU", "410 Gone", "Webhook deliveries by state: failed")
    addresses = {element.attributes.get("href") for element in page.all("a")}
    assert {f"/projects/{project.slug}/", f"/projects/{project.slug}/webhooks/{hook.pk}/"} <= addresses


def test_only_administrators_find_the_page(administrator):
    assert "Administration" in read_page(administrator.get("/")).text
    client, project = Client(), make_project()
    client.force_login(make_member(project, "researcher"))
    assert "Administration" not in read_page(client.get("/")).text
    assert client.get("/administration/").status_code == 403
