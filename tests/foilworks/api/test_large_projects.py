"""Freezes, exports and reports of large projects: jobs, by the API and on pages, and the client waits for them."""

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client as Browser
from django.urls import reverse

from evaluation.cached_results import first_views
from evaluation.cached_results.models import CachedResult
from foilworks.client import ApiError, Client
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import execute, run_now
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import Role, User
from foilworks.site.exports import background
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def owner(monkeypatch, tmp_path, settings) -> User:
    monkeypatch.setattr(first_views, "LARGE", 3)
    settings.EXPORT_ROOT = tmp_path
    project = make_project(slug="large")
    subtest = make_subtest(project)
    for _ in range(3):
        make_item(subtest, state=ItemState.VALID)
    return make_member(project, Role.RESEARCHER)


@pytest.fixture
def client(owner, live_server) -> Iterator[Client]:
    with Client(live_server.url, make_token(owner, name="large", scope="manage").secret) as client:
        yield client


@pytest.fixture
def worker() -> Iterator[None]:
    stopped = threading.Event()

    def work() -> None:
        with closing(connection):
            while not stopped.wait(0.05):
                for job in Job.objects.filter(state=JobState.WAITING):
                    execute(str(job.pk))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stopped.set()
    thread.join()


def test_the_client_freezes_and_exports_by_jobs(client, worker):
    release = client.release("large", "v1")
    assert (release["name"], release["n_items"]) == ("v1", 3)
    with zipfile.ZipFile(io.BytesIO(client.export("large", release["id"], "jsonl"))) as archive:
        assert any(name.endswith(".jsonl") for name in archive.namelist())
    assert {job.dotted for job in Job.objects.all()} >= {"releases.freeze", "exports.write"}


def test_a_key_makes_a_repeated_export_the_same_job(client, owner):
    freeze = client._json("POST", "projects/large/releases", body={})
    assert (freeze["job"]["state"], freeze["release"]) == ("waiting", None)
    # Before it is frozen, a second request is the same freeze.
    client._json("POST", "projects/large/releases", body={})
    (job,) = Job.objects.filter(dotted="releases.freeze")
    run_now(job)
    release = Release.objects.get()
    path = f"projects/large/releases/{release.pk}/export/jsonl"
    first = client._json("POST", path, key="one")
    assert client._json("POST", path, key="one")["id"] == first["id"]
    with pytest.raises(ApiError) as absent:
        client.api.read_export_file("large", release.pk, first["id"])
    assert absent.value.status == 404
    run_now(Job.objects.get(dotted="exports.write"))
    again = client._json("POST", path, key="one")
    assert (again["id"], again["is_written"]) == (first["id"], True)
    assert client._json("POST", path, key="two")["id"] != first["id"]
    assert Job.objects.filter(dotted="exports.write").count() == 2


def test_a_report_is_computed_by_the_api(client):
    by_job = next(row["kind"] for row in client._json("GET", "projects/large/reports") if row["by_job"])
    with pytest.raises(ApiError):
        client.report("large", by_job)
    assert client.compute_report("large", by_job)["job"]["state"] == "waiting"
    client.compute_report("large", by_job)
    run_now(Job.objects.get(dotted="reports.compute"))
    assert client.report("large", by_job)


def test_the_page_exports_by_a_job_and_old_zips_go(client, owner, monkeypatch):
    client._json("POST", "projects/large/releases", body={})
    run_now(Job.objects.get(dotted="releases.freeze"))
    release, browser = Release.objects.get(), Browser()
    browser.force_login(owner)
    sent = browser.post(reverse("exports:export", args=["large", release.pk, "jsonl"]))
    page = reverse("exports:exports", args=["large", release.pk])
    assert sent.headers["Location"] == page
    assert 'hx-trigger="every 2s"' in browser.get(page).content.decode()
    run_now(Job.objects.get(dotted="exports.write"))
    row = CachedResult.objects.get(kind="export")
    file = reverse("exports:export_file", args=["large", release.pk, row.pk])
    assert file in browser.get(page).content.decode()
    assert zipfile.is_zipfile(io.BytesIO(b"".join(browser.get(file).streaming_content)))
    assert background.remove_old_exports() == 0
    monkeypatch.setattr(background, "KEEP", timedelta(seconds=-1))
    assert background.remove_old_exports() == 1
    assert browser.get(file).status_code == 404
