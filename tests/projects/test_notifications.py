"""The pages of notifications, the choices of a person, and the mails: each sent once, each with a way to end them."""

import re
from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.erasure.actions.erase_person import erase_person
from annotation.queries.personal_data import own_data
from foilworks.core.projects.models import AuditEvent, Notification, NotificationSettings, Project, Role, User
from foilworks.core.projects.notifications.actions import mark_read, save_settings
from foilworks.core.projects.notifications.mail import send_due, token_of
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
SITE = "https://foils.example.org"


@pytest.fixture
def project() -> Project:
    return make_project(name="Kitchen", slug="kitchen")


@pytest.fixture
def olga(project: Project) -> User:
    return make_member(project, Role.RESEARCHER, name="olga", email="olga@example.org")


@pytest.fixture
def site(settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.MAIL_IS_SET, settings.SITE_URL = True, SITE
    return settings


def notify(person: User, project: Project, kind: str = "dispute", **fields) -> Notification:
    values = {"role": Role.RESEARCHER, "key": str(Notification.objects.count()), **fields}
    return Notification.objects.create(person=person, project=project, kind=kind, **values)


def page_of(person: User, address: str = "/notifications/") -> str:
    client = Client()
    client.force_login(person)
    return client.get(address).content.decode()


class TestPages:
    def test_the_bell_counts_what_is_unread_without_a_query_of_its_own(self, olga, project, django_assert_num_queries):
        client = Client()
        client.force_login(olga)
        client.get("/account/password/")
        for _number in range(3):
            notify(olga, project)
        with django_assert_num_queries(3):
            page = client.get("/password/").content.decode()
        assert 'aria-label="Notifications, 3 unread"' in page
        mark_read(olga)
        assert 'aria-label="Notifications, 0 unread"' in client.get("/password/").content.decode()

    def test_a_long_list_takes_as_many_queries_as_a_short_one(self, olga, project, django_assert_num_queries):
        client = Client()
        client.force_login(olga)
        notify(olga, project)
        client.get("/notifications/")
        for _round in range(2):
            with django_assert_num_queries(5):
                client.get("/notifications/")
            for _number in range(40):
                notify(olga, project)

    def test_a_link_marks_as_read_and_leads_to_the_page(self, olga, project):
        found = notify(olga, project)
        client = Client()
        client.force_login(olga)
        assert client.get(f"/notifications/{found.pk}/")["Location"] == "/projects/kitchen/disputed/"
        found.refresh_from_db()
        assert found.read_at is not None

    def test_nobody_opens_another_persons(self, olga, project):
        found = notify(olga, project)
        client = Client()
        client.force_login(make_member(project, Role.RESEARCHER))
        assert client.get(f"/notifications/{found.pk}/").status_code == 404
        found.refresh_from_db()
        assert found.read_at is None

    def test_all_are_marked_as_read_at_once(self, olga, project):
        other = make_member(project, Role.RESEARCHER)
        for person in (olga, olga, other):
            notify(person, project)
        client = Client()
        client.force_login(olga)
        client.post("/notifications/read/")
        assert Notification.objects.filter(read_at=None).get().person == other

    def test_the_list_is_filtered_by_project_and_by_what_is_unread(self, olga, project):
        garden = make_project(name="Garden", slug="garden")
        garden.memberships.create(person=olga, role=Role.RESEARCHER)
        notify(olga, project, read_at=timezone.now())
        notify(olga, garden, "queue_empty", facts={"stage": "review"})
        shown = page_of(olga, "/notifications/?project=garden")
        assert ("The review queue is empty" in shown, "Disputed items" in shown) == (True, False)
        assert "Disputed items" not in page_of(olga, "/notifications/?unread=on")

    def test_a_deleted_project_shows_and_counts_none(self, olga, project):
        notify(olga, project)
        Project.objects.update(deleted_at=timezone.now())
        page = page_of(olga)
        assert ("Disputed items" in page, "Notifications, 0 unread" in page) == (False, True)

    def test_only_kinds_of_ones_roles_are_asked(self, olga, project):
        ann = make_member(project, Role.ANNOTATOR)
        assert ("returns your foil" in page_of(olga, "/notifications/settings/")) is False
        page = page_of(ann, "/notifications/settings/")
        assert ("returns your foil" in page, "A crowd study is full" in page) == (True, False)

    def test_choices_are_stored_and_shown(self, olga):
        client = Client()
        client.force_login(olga)
        sent = {"mail": "daily", **dict.fromkeys(KINDS_OF_OLGA, "app"), "report": "off"}
        assert client.post("/notifications/settings/", sent).status_code == 302
        stored = NotificationSettings.objects.get(person=olga)
        assert (stored.mail, stored.channels["report"], stored.channels["comment"]) == ("daily", "off", "app")
        assert '<option value="off" selected>' in client.get("/notifications/settings/").content.decode()
        assert client.post("/notifications/settings/", {"mail": "hourly"}).status_code == 422
        assert AuditEvent.objects.filter(action="projects.save_notification_settings", actor=olga).count() == 1


KINDS_OF_OLGA = ("comment", "dispute", "run_ended", "queue_empty", "study_full", "report", "webhook_stopped")


class TestMail:
    def test_nothing_is_mailed_before_somebody_chooses_it(self, olga, project, site):
        notify(olga, project)
        assert send_due() == (0, 0)

    def test_one_mail_lists_what_is_new_and_can_be_ended_in_one_click(self, olga, project, site):
        save_settings(olga, "daily", {"queue_empty": "app"})
        found = notify(olga, project)
        notify(olga, project, "queue_empty")
        notify(olga, project, read_at=timezone.now())
        assert send_due(is_over=lambda: True) == (0, 0)
        assert send_due() == (1, 0)
        (sent,) = mail.outbox
        assert (sent.subject, sent.to) == ("1 new notification · Foilworks", ["olga@example.org"])
        assert f"Kitchen\n- Disputed items wait for a decision\n  {SITE}/notifications/{found.pk}/" in sent.body
        address = re.fullmatch(rf"<{SITE}(/notifications/unsubscribe/\S+/)>", sent.extra_headers["List-Unsubscribe"])
        assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        # As a mail server asks: no session, no token against forged forms, no redirect.
        server = Client(enforce_csrf_checks=True)
        answer = server.post(address[1], "List-Unsubscribe=One-Click", "application/x-www-form-urlencoded")
        assert answer.status_code == 200
        assert NotificationSettings.objects.get().mail == "off"

    def test_a_look_at_the_link_ends_nothing(self, olga, client):
        save_settings(olga, "daily", {})
        assert client.get(f"/notifications/unsubscribe/{token_of(olga.pk)}/").status_code == 200
        assert NotificationSettings.objects.get().mail == "daily"
        assert client.post("/notifications/unsubscribe/forged/").status_code == 403

    def test_two_supervisors_send_one_mail(self, olga, project, site):
        save_settings(olga, "daily", {})
        notify(olga, project)
        assert (send_due(), send_due(timezone.now() + timedelta(hours=1))) == ((1, 0), (0, 0))
        assert len(mail.outbox) == 1

    def test_a_day_passes_between_two_daily_mails(self, olga, project, site):
        save_settings(olga, "daily", {})
        now = timezone.now()
        sent = []
        for hours in (0, 1, 25):
            notify(olga, project)
            sent.append(send_due(now + timedelta(hours=hours))[0])
        assert sent == [1, 0, 1]
        assert mail.outbox[1].subject.startswith("2 new")

    def test_a_mail_server_that_fails_is_asked_again_later(self, olga, project, site):
        site.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        site.EMAIL_HOST, site.EMAIL_PORT = "127.0.0.1", 1
        save_settings(olga, "daily", {})
        notify(olga, project)
        now = timezone.now()
        assert send_due(now) == (0, 1)
        site.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        assert send_due(now + timedelta(minutes=1)) == (0, 0)
        assert send_due(now + timedelta(hours=1)) == (1, 0)

    def test_mail_as_they_arrive_becomes_daily_mail(self, olga, project, site):
        save_settings(olga, "at_once", {"comment": "off"})
        import_module("foilworks.core.projects.migrations.0017_daily_mail").choose_daily_mail(apps, None)
        chosen = NotificationSettings.objects.get()
        assert (chosen.mail, chosen.channels) == ("daily", {"comment": "off"})
        notify(olga, project)
        assert send_due() == (1, 0)

    @pytest.mark.parametrize(
        "change",
        [
            {"email": ""},
            {"is_active": False},
            {"is_simulated": True},
        ],
    )
    def test_some_people_get_no_mail(self, olga, project, site, change):
        save_settings(olga, "daily", {})
        notify(olga, project)
        User.objects.filter(pk=olga.pk).update(**change)
        assert send_due() == (0, 0)

    @pytest.mark.parametrize("column", ["archived_at", "deleted_at"])
    def test_projects_out_of_use_are_not_mailed(self, olga, project, site, column):
        save_settings(olga, "daily", {})
        notify(olga, project)
        Project.objects.update(**{column: timezone.now()})
        assert send_due() == (0, 0)

    def test_a_former_member_gets_no_mail(self, olga, project, site):
        save_settings(olga, "daily", {})
        notify(olga, project)
        project.memberships.all().delete()
        assert send_due() == (0, 0)

    def test_what_happened_before_the_choice_is_not_mailed(self, olga, project, site):
        notify(olga, project, created_at=timezone.now() - timedelta(hours=1))
        save_settings(olga, "daily", {})
        assert send_due() == (0, 0)

    def test_the_command_needs_a_mail_server_and_an_address(self, olga, project, site, capsys):
        save_settings(olga, "daily", {})
        notify(olga, project)
        call_command("digest", "--json")
        assert capsys.readouterr().out == '{"notifications": 0, "sent": 1, "failed": 0}\n'
        site.SITE_URL = ""
        with pytest.raises(SystemExit):
            call_command("digest")
        assert "set EMAIL_URL and SITE_URL" in capsys.readouterr().err


def test_a_persons_file_contains_them_and_erasure_deletes_them(olga, project):
    save_settings(olga, "daily", {"comment": "off"})
    notify(olga, project)
    make_member(project, Role.RESEARCHER)
    data = own_data(olga)
    assert [(row["kind"], row["project__slug"]) for row in data["notifications"]] == [("dispute", "kitchen")]
    assert data["notification_settings"] == [{"mail": "daily", "channels": {"comment": "off"}}]
    erase_person(olga, olga)
    assert (Notification.objects.count(), NotificationSettings.objects.count()) == (0, 0)


def test_the_name_of_an_erased_person_leaves_the_facts_of_others(olga, project):
    ann = make_member(project, Role.ANNOTATOR, name="annabel")
    found = notify(olga, project, "study_full", facts={"study": 1, "name": "pilot of annabel"})
    erase_person(ann, ann)
    found.refresh_from_db()
    assert found.facts["name"] == "pilot of [erased]"
