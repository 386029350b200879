"""The kept count of a large project: who asks for it, when it is old, what a look at it costs."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from evaluation.cached_results.models import CachedResult
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Role
from foilworks.site.dashboard import stored_count as kept
from tests.factories import make_item, make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(monkeypatch):
    """Three items are many here."""
    monkeypatch.setattr(kept, "SMALL", 2)
    project = make_project()
    subtest = make_subtest(project)
    for _ in range(3):
        make_item(subtest, state=ItemState.VALID)
    return project


def aged(project, **delta) -> None:
    row = CachedResult.objects.get(project=project, kind=kept.KIND)
    row.data["as_of"] = (timezone.now() - timedelta(**delta)).isoformat()
    row.save()


def note_a_write(project) -> None:
    audit.record(audit.event(project, None, "vote", project))


def test_the_first_request_queues_a_count_and_the_next_shows_it(project):
    first = kept.counted(project)
    assert (first.data, first.is_counting) == (None, True)
    kept.counted(project)
    (job,) = Job.objects.all()
    run_now(job)
    shown = kept.counted(project)
    assert shown.data["funnel"]["valid"] == 3
    assert not shown.is_counting


def test_a_recent_count_is_shown_as_it_is(project):
    kept.keep(project)
    note_a_write(project)
    assert not kept.counted(project).is_counting
    assert not Job.objects.exists()


def test_an_older_count_is_repeated_only_after_a_write(project):
    kept.keep(project)
    note_a_write(project)
    aged(project, minutes=2)
    assert kept.counted(project).is_counting
    Job.objects.all().delete()
    project.audit_events.update(at=timezone.now() - timedelta(hours=1))
    aged(project, minutes=2)
    assert not kept.counted(project).is_counting


def test_a_slow_count_runs_less_often(project):
    row = kept.keep(project)
    row.data["took"] = 30.0
    row.save()
    note_a_write(project)
    aged(project, minutes=4)
    assert not kept.counted(project).is_counting
    aged(project, minutes=6)
    assert kept.counted(project).is_counting


def test_writes_without_an_audit_row_show_after_ten_minutes(project):
    kept.keep(project)
    aged(project, minutes=11)
    assert kept.counted(project).is_counting


def test_foils_of_a_run_show_a_minute_after_its_end(project):
    kept.keep(project)
    project.audit_events.update(at=timezone.now() - timedelta(hours=1))
    aged(project, minutes=2)
    ended = {"target_id": 1, "state": JobState.DONE, "finished_at": timezone.now(), "project_id": project.pk}
    # The count's own job is no reason for another.
    Job.objects.create(dotted=kept.JOB, **ended)
    assert not kept.counted(project).is_counting
    Job.objects.create(dotted="generation.run", **ended)
    assert kept.counted(project).is_counting


def test_a_failed_count_is_not_queued_at_every_request(project):
    kept.counted(project)
    Job.objects.update(state=JobState.FAILED, finished_at=timezone.now())
    kept.counted(project)
    assert Job.objects.count() == 1
    Job.objects.update(finished_at=timezone.now() - timedelta(hours=1))
    kept.counted(project)
    assert Job.objects.count() == 2


def test_a_write_during_the_count_shows_with_the_next_one(project, monkeypatch):
    """The kept count holds the moment at which it began to read: what came after that makes it old."""
    counted = kept.count

    def interrupted(asked, now=None):
        found = counted(asked, now)
        make_item(make_subtest(asked), state=ItemState.VALID)
        note_a_write(asked)
        return found

    monkeypatch.setattr(kept, "count", interrupted)
    kept.keep(project)
    monkeypatch.setattr(kept, "count", counted)
    aged(project, seconds=61)
    asked = kept.counted(project)
    assert (asked.data["funnel"]["valid"], asked.is_counting) == (3, True)
    run_now(Job.objects.get())
    assert kept.counted(project).data["funnel"]["valid"] == 4


def test_the_page_of_a_large_project_answers_in_at_most_twelve_queries(client, project, django_assert_max_num_queries):
    kept.keep(project)
    client.force_login(make_member(project, Role.RESEARCHER))
    with django_assert_max_num_queries(12):
        response = client.get(reverse("dashboard:dashboard", args=[project.slug]))
    assert response.context["count"]["funnel"]["valid"] == 3


def test_the_command_counts_at_once(project, capsys):
    call_command("refresh-dashboard", project=project.slug, as_json=True)
    assert '"valid": 3' in capsys.readouterr().out
    assert kept.counted(project).data["funnel"]["valid"] == 3


def test_a_small_project_is_counted_at_every_request(client):
    project = make_project()
    subtest = make_subtest(project)
    for n in (1, 2):
        make_item(subtest, state=ItemState.VALID)
        assert kept.counted(project).data["funnel"]["valid"] == n
    assert not CachedResult.objects.exists()


def test_an_owner_without_a_worker_sees_that_the_count_is_pending(client, project):
    client.force_login(make_member(project, Role.RESEARCHER))
    page = client.get(reverse("dashboard:dashboard_count", args=[project.slug])).content.decode()
    assert "Counting." in page
    assert 'hx-trigger="every 3s"' in page
