"""Events of real work are read from the audit trail and become notifications for the people they concern, only."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.utils import timezone

from annotation.actions.claims.claim import claim
from annotation.actions.comments import add_comment
from annotation.actions.undo import undo_review
from annotation.models import Stage
from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.models import ReleaseItem
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import retry
from foilworks.core.projects.actions.members import set_roles
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import (
    AuditEvent,
    CrowdPlace,
    CrowdStudy,
    Delivery,
    Membership,
    Notification,
    NotificationCursor,
    Role,
    Webhook,
)
from foilworks.core.projects.models.requested_jobs import RequestedJob
from foilworks.core.projects.notifications.actions import save_settings
from foilworks.core.projects.notifications.kinds import notification_kinds, sentence, target
from foilworks.core.projects.notifications.queries import notifications_of
from foilworks.core.rooms import declared
from foilworks.site.notification_rules.follower import COMMIT_WINDOW, follow
from foilworks.site.publishing.actions.report_item import report_item
from foilworks.site.publishing.models import PublicPage
from tests.annotation.world import World, make_world
from tests.factories import make_item, make_member, make_run, make_task, make_user, make_video

pytestmark = pytest.mark.django_db


@pytest.fixture
def followed(db) -> World:
    """A world with one foil to edit, whose trail is read from here on."""
    world = make_world()
    world.group()
    assert follow() == 0
    return world


def told(kind: str) -> dict[str, str]:
    """Name of each person with a notification of the kind -> their role in it."""
    rows = Notification.objects.filter(kind=kind).select_related("person")
    return {row.person.username.partition("-")[0]: row.role for row in rows}


def test_the_author_of_a_returned_foil_is_notified_once(followed):
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    assert (follow(), follow()) == (1, 0)
    assert told("returned") == {"ann": Role.ANNOTATOR}
    found = Notification.objects.get(kind="returned")
    assert target(found) == f"/projects/{followed.project.slug}/work/edit/"
    assert "returned" in sentence(found)


def test_an_undone_return_is_withdrawn(followed):
    followed.edit("ann")
    review = followed.review("rita", "send_back", reasons=["grammar"])
    follow()
    assert told("returned") == {"ann": Role.ANNOTATOR}
    undo_review(followed.rita, review.pk)
    follow()
    assert told("returned") == {}


def test_the_submit_itself_writes_no_notification(followed):
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    assert not Notification.objects.exists()


def test_validators_get_no_notifications(followed):
    """A dispute, a comment, a returned foil, and an empty queue: no row for those who judge."""
    Membership.objects.create(project=followed.project, person=followed.rob, role=Role.VALIDATOR)
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    followed.edit("ann")
    followed.review("rita")
    item = followed.project.subtests.get().items.get()
    for name, choice in (("vera", "caption"), ("vic", "foil"), ("val", "both")):
        followed.vote(name, choice)
    item.refresh_from_db()
    assert item.state == ItemState.DISPUTED
    add_comment(followed.owner, followed.project, item.pk, "Look at this one.")
    follow()
    kinds = set(Notification.objects.values_list("kind", flat=True))
    assert {"dispute", "returned", "queue_empty"} <= kinds
    judges = Membership.objects.filter(role=Role.VALIDATOR).values("person")
    assert not Notification.objects.filter(person__in=judges).exists()
    # Rita reviewed the item, so she may not decide it, either.
    assert told("dispute") == {"owner": Role.RESEARCHER}


def test_facts_say_nothing_about_labels_verdicts_or_people(followed):
    item = make_item(followed.subtest, state=ItemState.DISPUTED)
    add_comment(followed.owner, followed.project, item.pk, "rita is wrong: the foil is true.")
    make_member(followed.project, Role.RESEARCHER, name="olga")
    follow()
    found = Notification.objects.get(kind="comment")
    assert found.facts == {"item": item.pk, "key": item.key}
    assert sentence(found) == f"New comment on the item {item.key}"


def test_a_comment_reaches_researchers_and_reviewers_who_took_part(followed):
    item = make_item(followed.subtest, state=ItemState.DISPUTED)
    add_comment(followed.rita, followed.project, item.pk, "Is this visible?")
    add_comment(followed.owner, followed.project, item.pk, "It is.")
    follow()
    assert told("comment") == {"owner": Role.RESEARCHER, "rita": Role.REVIEWER}
    assert Notification.objects.filter(kind="comment").count() == 2
    pages = {row.role: target(row) for row in Notification.objects.all()}
    slug = followed.project.slug
    assert pages == {
        Role.RESEARCHER: f"/projects/{slug}/items/{item.pk}/#comments",
        Role.REVIEWER: f"/projects/{slug}/disputed/{item.pk}/#comments",
    }


def test_disputes_give_one_notification_per_day(followed):
    for _number in range(2):
        item = make_item(followed.subtest, state=ItemState.DISPUTED)
        words = {"from_state": "in_validation", "to_state": "disputed"}
        audit.record(audit.event(followed.project, None, "vote", item, **words))
    assert follow() == 3
    assert told("dispute") == {"owner": Role.RESEARCHER, "rita": Role.REVIEWER, "rob": Role.REVIEWER}


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (JobState.DONE, "is done"),
        (JobState.PARTLY, "is only partly done"),
        (JobState.FAILED, "failed"),
    ],
)
def test_the_person_who_started_a_run_is_notified_of_its_end(followed, state, words):
    make_member(followed.project, Role.RESEARCHER, name="olga")
    for person, ended in ((followed.owner, state), (followed.ann, state), (None, state), (followed.owner, "running")):
        over = timezone.now() if ended == state else None
        job = Job.objects.create(
            dotted="generation.run",
            target_id=1,
            state=ended,
            finished_at=over,
            project_id=followed.project.pk,
        )
        run = make_run(followed.subtest, job=job, created_by=person)
    assert follow() == 1
    found = Notification.objects.get()
    assert found.person == followed.owner
    assert sentence(found) == f"Generation run {found.facts['n']} {words}"
    assert target(found) == f"/projects/{followed.project.slug}/runs/{found.facts['n']}/"
    assert run.pk != found.facts["n"]


@pytest.mark.parametrize("state", [JobState.DONE, JobState.PARTLY, JobState.FAILED, JobState.CANCELLED])
def test_webhooks_get_the_end_of_a_run_once(followed, state):
    hook = Webhook.objects.create(project=followed.project, url="https://example.org/", events=["run.ended"], salt="s")
    job = Job.objects.create(
        dotted="generation.run", target_id=1, state=state, finished_at=timezone.now(), project_id=followed.project.pk
    )
    Job.objects.filter(pk=job.pk).update(message="without a result: 3/20")
    run = make_run(followed.subtest, job=job)
    follow()
    follow()
    why = {} if state == JobState.DONE else {"why": "without a result: 3/20"}
    (delivery,) = Delivery.objects.filter(webhook=hook)
    assert delivery.payload["details"] == {"kind": "generation", "run": run.pk, "state": state, **why}
    # After a retry its end is another one.
    retried = state in {JobState.FAILED, JobState.CANCELLED}
    assert retry(job) == retried
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, finished_at=timezone.now())
    follow()
    assert Delivery.objects.count() == 1 + retried


def test_a_queue_that_gets_no_more_tasks_is_empty(followed):
    followed.group()
    followed.edit("ann")
    assert claim(followed.abe, followed.project, Stage.EDIT) is not None
    follow()
    # A reviewer may still return the first foil.
    assert told("queue_empty") == {}
    followed.review("rita")
    follow()
    assert told("queue_empty") == {"owner": Role.RESEARCHER}
    assert sentence(Notification.objects.get()) == "The edit queue is empty"


def test_a_full_study_is_notified_and_one_with_places_is_not(followed):
    for places in (1, 2):
        wanted = {"stage": "edit", "role": "annotator", "pieces": 1, "places": places}
        study = CrowdStudy.objects.create(project=followed.project, name=f"{places} places", **wanted)
        now = timezone.now()
        place = CrowdPlace.objects.create(
            study=study, person=followed.ann, entered_at=now, deadline=now + timedelta(hours=1)
        )
        audit.record(audit.event(followed.project, followed.ann, "enter_study", place, study=study.pk))
    follow()
    assert told("study_full") == {"owner": Role.RESEARCHER}
    assert sentence(Notification.objects.get()) == "All places of the crowd study 1 places are taken"


def test_a_visitors_reports_are_one_notification(followed):
    for _number in range(2):
        make_item(followed.subtest, state=ItemState.VALID)
    release = freeze_release(followed.owner, followed.project, name="v1")
    page = PublicPage.objects.create(release=release, is_open=True)
    for member in ReleaseItem.objects.filter(release=release):
        report_item(page, member, why="wrong", text="", contact="")
    follow()
    assert told("report") == {"owner": Role.RESEARCHER}
    assert sentence(Notification.objects.get()) == "Visitors reported items of the release v1"


def test_a_stopped_webhook_is_notified_once(followed):
    Webhook.objects.create(
        project=followed.project, url="https://example.org/", salt="s", events=[], stopped_at=timezone.now()
    )
    assert (follow(), follow()) == (1, 0)
    assert told("webhook_stopped") == {"owner": Role.RESEARCHER}


@pytest.mark.parametrize("column", ["archived_at", "deleted_at"])
def test_projects_out_of_use_notify_nobody(followed, column):
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    setattr(followed.project, column, timezone.now())
    followed.project.save()
    assert follow() == 0


def test_a_removed_member_gets_nothing_and_loses_what_they_had(followed):
    set_roles(followed.owner, followed.project, followed.ann, [Role.ANNOTATOR, Role.REVIEWER])
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    follow()
    assert notifications_of(followed.ann).count() == 1
    set_roles(followed.owner, followed.project, followed.ann, [Role.REVIEWER])
    assert notifications_of(followed.ann).count() == 0
    set_roles(followed.owner, followed.project, followed.ann, [])
    Notification.objects.all().delete()
    follow()
    assert told("returned") == {}


def test_a_reviewer_who_becomes_a_validator_sees_their_notifications_no_more(followed):
    item = make_item(followed.subtest, state=ItemState.DISPUTED)
    words = {"from_state": "in_validation", "to_state": "disputed"}
    audit.record(audit.event(followed.project, None, "vote", item, **words))
    follow()
    assert notifications_of(followed.rob).count() == 1
    Membership.objects.create(project=followed.project, person=followed.rob, role=Role.VALIDATOR)
    assert notifications_of(followed.rob).count() == 0


def test_a_kind_that_is_switched_off_is_not_stored(followed):
    save_settings(followed.ann, "off", {"returned": "off"})
    followed.edit("ann")
    followed.review("rita", "send_back", reasons=["grammar"])
    follow()
    assert not Notification.objects.filter(person=followed.ann).exists()


def test_an_event_that_commits_late_is_read_although_a_later_one_was(followed):
    """Its number is lower than that of an event that was read before."""
    item = make_item(followed.subtest, state=ItemState.DISPUTED)
    words = {"from_state": "in_validation", "to_state": "disputed"}
    audit.record(audit.event(followed.project, None, "vote", item, **words))
    late = AuditEvent.objects.latest("pk")
    AuditEvent.objects.filter(pk=late.pk).delete()
    followed.edit("ann")
    follow()
    late.save(force_insert=True)
    follow()
    assert "owner" in told("dispute")


def test_the_cursor_moves_past_older_events_and_old_rows_are_deleted(followed):
    before = NotificationCursor.objects.get()
    followed.edit("ann")
    last = AuditEvent.objects.latest("pk").pk
    follow(timezone.now() + COMMIT_WINDOW / 2)
    assert NotificationCursor.objects.get().event_id == before.event_id
    old = Notification.objects.create(
        person=followed.ann, project=followed.project, role="annotator", kind="returned", key="1"
    )
    Notification.objects.update(created_at=timezone.now() - timedelta(days=120))
    follow(timezone.now() + 2 * COMMIT_WINDOW)
    assert NotificationCursor.objects.get().event_id == last
    assert not Notification.objects.filter(pk=old.pk).exists()


def test_looking_again_costs_a_bounded_number_of_queries(followed, django_assert_max_num_queries):
    follow()
    with django_assert_max_num_queries(16):
        follow()
    video = make_video(followed.project)
    for _number in range(3):
        make_task(followed.project, Stage.BASELINE, video, item=make_item(followed.subtest))
    with django_assert_max_num_queries(16):
        follow()


def test_every_kind_has_words_and_a_page(followed):
    """A fact that is missing, of an older version, breaks neither the list nor the link."""
    person, project = make_user(), followed.project
    for kind in notification_kinds():
        for facts in ({}, {"what": "gone", "stage": "gone"}):
            found = Notification(person=person, project=project, role="researcher", kind=kind, facts=facts)
            assert sentence(found)
            assert target(found).startswith("/projects/")
        assert set(notification_kinds()[kind].roles) <= set(Role)
    for what, run_kind in declared("RUNS").items():
        assert issubclass(apps.get_model(run_kind.table), RequestedJob)
        found = Notification(project=project, kind="run_ended", facts={"what": what, "n": 3})
        assert target(found).endswith("/3/")
    queues = notification_kinds()["queue_empty"].words_by_stage
    assert set(queues) == {Stage.EDIT, Stage.REVIEW, Stage.VALIDATION, Stage.BASELINE, Stage.UNSEEN, Stage.OBJECTS}
