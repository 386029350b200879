"""What errors and browsable pages tell a stranger: nothing of code, paths, settings or queries."""

import json

import pytest
from django.conf import settings as live
from django.contrib.auth.decorators import login_not_required
from django.test import Client

from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.jobs.runner import execute
from foilworks.core.projects.actions.tokens import make_token
from foilworks.site import settings as source
from foilworks.site.imports.models import Import
from foilworks.site.imports.uploads import folder_of, without_folder
from foilworks.site.urls import urlpatterns
from tests.attacks.guards import Guard, guarded_by, replaced, without_setting
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
TELLS = ("Traceback", "secret-of-the-view", "site-packages", str(live.BASE_DIR), "SELECT ", "DoesNotExist")

NO_DEBUG = without_setting("DEBUG", "no error page shows code, variables or settings", True)
OWN_WORDS = replaced(
    "foilworks.site.api.answers._message_of", "the API's 404 has a fixed message", lambda error: str(error)
)
PLAIN = Guard(
    "foilworks.core.jobs.runner._end_of",
    "a failed job's page has a general message; the log has the details",
    lambda patch: patch.setattr("foilworks.core.jobs.runner.ActionableError", Exception),
)
FOLDERS = Guard(
    "foilworks.site.imports.uploads.without_folder",
    "messages name files without server folders",
    lambda patch: patch.setattr("tests.attacks.test_error_pages.without_folder", lambda upload, value: value),
)


@login_not_required
def broken(request, *args, **kwargs):
    password = "secret-of-the-view"
    raise RuntimeError(f"{password} in SELECT * FROM projects_user")


@guarded_by(NO_DEBUG)
def test_a_page_that_breaks_tells_nothing(monkeypatch):
    monkeypatch.setattr(
        next(each for each in urlpatterns if getattr(each, "name", "") == "healthz"), "callback", broken
    )
    answer = Client(raise_request_exception=False).get("/healthz")
    assert answer.status_code == 500
    page = answer.content.decode()
    assert [word for word in TELLS if word in page] == []


@guarded_by(NO_DEBUG)
def test_an_address_that_is_none_lists_no_others(client):
    client.force_login(make_member(make_project(), "annotator"))
    page = client.get("/no/such/page/").content.decode()
    assert "urlpatterns" not in page
    assert "URLconf" not in page


def test_pages_for_developers_are_off_by_default():
    assert source.DEBUG is False
    assert live.TEMPLATES[0]["OPTIONS"].get("debug") is None


@guarded_by(OWN_WORDS)
def test_the_api_names_no_class_or_query(client):
    project = make_project()
    secret = make_token(make_member(project, "researcher"), name="x", scope="manage").secret
    headers = {"Authorization": f"Bearer {secret}"}
    answer = client.get(f"/api/v1/projects/{project.slug}/items/999999", headers=headers)
    assert answer.status_code == 404
    assert "matches the given query" not in answer.json()["detail"]


def test_the_document_of_the_api_names_no_place_of_this_server(client):
    text = json.dumps(client.get("/api/v1/openapi.json").json())
    assert str(live.BASE_DIR) not in text
    assert str(live.FOILWORKS_HOME) not in text
    assert client.get("/api/docs").status_code == 404


def explode(target_id, job):
    raise ValueError("/srv/foilworks/secret: password=hunter2")


@guarded_by(PLAIN)
def test_a_job_that_breaks_tells_its_page_nothing(monkeypatch, caplog):
    monkeypatch.setattr("tests.jobs.samples.count", explode)
    job = enqueue("samples.count", 1)
    with pytest.raises(ValueError, match="hunter2"):
        execute(str(job.pk))
    assert "hunter2" not in Job.objects.get().error


@guarded_by(FOLDERS)
def test_a_complaint_about_a_sent_file_names_no_folder_of_the_server():
    upload = Import.objects.create(project=make_project(), file_name="a.csv")
    words = without_folder(upload, [{"problem": f"{folder_of(upload)}/records/a.csv:2: caption: is missing"}])
    assert words == [{"problem": "a.csv:2: caption: is missing"}]
