"""Job flooding: nobody fills the queue, the disk or the server by asking again and again."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import Release
from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.queue import enqueue
from foilworks.core.projects.actions.tokens import make_token
from foilworks.site.publishing.models import PublicPage
from tests.attacks.guards import Guard, guarded_by, replaced, without_setting
from tests.clocks import within_a_minute
from tests.factories import make_item, make_member, make_project, make_subtest, make_user

pytestmark = pytest.mark.django_db
JOB = "samples.count"

ROOM = without_setting("MAX_OPEN_JOBS_PER_PROJECT", "open jobs per project are limited", 0)
REQUESTS = without_setting("API_RATE_LIMIT_PER_MINUTE", "requests per minute and token are limited", 0)
STRANGERS = replaced(
    "foilworks.core.projects.limits.upload_limits.is_over",
    "score files per hour and network are limited, before a body is read",
    lambda limit, network: False,
)
SIZES = Guard(
    "foilworks.core.projects.limits.upload_limits.limit_of",
    "the size limit of a request is known before it is read",
    lambda patch: patch.setattr("foilworks.core.projects.limits.upload_limits.limit_of", lambda request: 10**12),
)


def refused(error: type[Exception], write) -> bool:
    try:
        write()
    except error:
        return True
    return False


@pytest.fixture
def few(settings):
    settings.MAX_OPEN_JOBS_PER_PROJECT = 3
    settings.API_RATE_LIMIT_PER_MINUTE = 3


@guarded_by(ROOM)
def test_a_project_fills_no_queue(few):
    project, other = make_project(), make_project()
    jobs = [enqueue(JOB, 1, project_id=project.pk) for _ in range(3)]
    assert refused(JobError, lambda: enqueue(JOB, 1, project_id=project.pk))
    # Others are not held up, nor is what follows by itself; and an end makes room.
    enqueue(JOB, 1, project_id=other.pk)
    enqueue(JOB, 1, project_id=project.pk, by_person=False)
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(state="done")
    enqueue(JOB, 1, project_id=project.pk)


@guarded_by(ROOM)
def test_a_refused_request_says_why(few, client):
    project = make_project()
    client.force_login(make_member(project, "researcher"))
    for _ in range(3):
        enqueue(JOB, 1, project_id=project.pk)
    sent = SimpleUploadedFile("a.csv", b"id,video,caption,foil\na,a.mp4,b,c\n")
    answer = client.post(f"/projects/{project.slug}/imports/", {"format": "csv", "records": sent})
    assert (answer.status_code, "already has 3 open jobs" in answer.content.decode()) == (400, True)


@guarded_by(REQUESTS)
def test_a_token_has_to_wait(few, monkeypatch):
    within_a_minute(monkeypatch)
    owner = make_member(make_project(), "researcher")
    headers = {"Authorization": f"Bearer {make_token(owner, name='x').secret}"}
    statuses = [Client().get("/api/v1/me", headers=headers).status_code for _ in range(5)]
    assert statuses[-1] == 429


@guarded_by(SIZES)
def test_nobody_fills_the_disk_by_a_form_that_takes_no_files(client):
    client.force_login(make_user())
    large = SimpleUploadedFile("large", b"x" * 2 * 1024 * 1024)
    assert client.post("/account/", {"first_name": "a", "file": large}).status_code in {400, 413}


@guarded_by(STRANGERS)
def test_a_stranger_sends_no_files_without_end():
    key = PublicPage.objects.create(release=frozen(), is_open=True, takes_scores=True).key
    statuses = [Client().post(f"/r/{key}/scores/", {}).status_code for _ in range(12)]
    assert statuses[0] == 422
    assert statuses[-1] == 429


def frozen() -> Release:
    project = make_project()
    make_item(make_subtest(project), state="valid")
    return freeze_release(make_member(project, "researcher"), project)
