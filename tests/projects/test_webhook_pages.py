"""The pages of webhooks: add, test, send again, start again, delete."""

from datetime import timedelta

import pytest
from django.utils import timezone

from foilworks.core.projects.models import AuditEvent, Delivery, Webhook
from foilworks.core.projects.webhooks.messages import secret_of
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
PAGE = "/projects/dots/webhooks/"


@pytest.fixture
def owner(client):
    owner = make_member(make_project(slug="dots"), "researcher", name="olga")
    client.force_login(owner)
    return owner


@pytest.fixture
def hook(owner):
    project = owner.memberships.get().project
    return Webhook.objects.create(project=project, url="https://example.org/hook", salt="s", events=["item.decided"])


def failed(hook, n=1):
    return [
        Delivery.objects.create(
            webhook=hook, event="item.decided", payload={}, state="failed", attempts=6, next_at=timezone.now()
        )
        for _ in range(n)
    ]


def test_a_new_webhook_gets_all_events_unless_some_are_taken_out(client, owner):
    form = client.get(PAGE).context["form"]
    assert form["events"].initial == [slug for slug, _label in form.fields["events"].choices]


def test_a_webhook_is_added_and_its_secret_is_shown_once(client, owner):
    # A literal public address: nothing has to be resolved.
    answer = client.post(PAGE, {"url": "https://93.184.216.34/hook", "events": ["item.decided", "release.frozen"]})
    assert answer.status_code == 201
    hook = Webhook.objects.get()
    assert hook.events == ["item.decided", "release.frozen"]
    assert secret_of(hook) in answer.content.decode()
    assert secret_of(hook) not in client.get(PAGE).content.decode()


def test_a_replaced_secret_is_shown_once_and_may_end_the_old_one(client, hook):
    before = secret_of(hook)
    for sent, words, has_old in [({}, "For 24 hours", True), ({"revoke": "on"}, "no longer valid", False)]:
        page = client.post(f"{PAGE}{hook.pk}/rotate/", sent).content.decode()
        hook.refresh_from_db()
        assert secret_of(hook) in page
        assert words in page
        assert before not in page
        assert bool(hook.old_salt) is has_old
    assert secret_of(hook) not in client.get(f"{PAGE}{hook.pk}/").content.decode()
    events = AuditEvent.objects.filter(action="projects.rotate_webhook").order_by("pk")
    assert [event.details for event in events] == [{"revoked": False}, {"revoked": True}]


@pytest.mark.parametrize(
    ("url", "events", "field"),
    [
        ("https://127.0.0.1/hook", ["item.decided"], "url"),
        ("https://93.184.216.34/hook", [], "events"),
        ("no address", ["item.decided"], "url"),
        ("https://93.184.216.34/hook", ["ping"], "events"),
    ],
)
def test_a_wrong_webhook_is_refused_at_its_field_and_what_was_typed_stays(client, owner, url, events, field):
    answer = client.post(PAGE, {"url": url, "events": events})
    assert answer.status_code == 422
    assert answer.context["form"].errors[field]
    assert answer.context["form"]["url"].value() == url
    assert not Webhook.objects.exists()


def test_a_failed_delivery_is_sent_again(client, hook):
    (delivery,) = failed(hook)
    answer = client.get(f"{PAGE}{hook.pk}/")
    assert "Send again" in answer.content.decode()
    client.post(f"{PAGE}{hook.pk}/deliveries/{delivery.pk}/retry/")
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 0)
    assert AuditEvent.objects.get(action="projects.retry_delivery").details == {"delivery": delivery.pk}
    # It waits now, so it cannot be sent a second time.
    client.post(f"{PAGE}{hook.pk}/deliveries/{delivery.pk}/retry/")
    assert AuditEvent.objects.filter(action="projects.retry_delivery").count() == 1


def test_a_delivery_that_waits_for_its_next_attempt_is_sent_now(client, hook):
    later = timezone.now() + timedelta(hours=8)
    new, tried = (
        Delivery.objects.create(webhook=hook, event="ping", payload={}, state="waiting", attempts=n, next_at=later)
        for n in (0, 4)
    )
    body = client.get(f"{PAGE}{hook.pk}/").content.decode()
    assert f"/deliveries/{tried.pk}/retry/" in body
    assert f"/deliveries/{new.pk}/retry/" not in body
    client.post(f"{PAGE}{hook.pk}/deliveries/{tried.pk}/retry/")
    tried.refresh_from_db()
    assert (tried.state, tried.attempts, tried.next_at < later) == ("waiting", 0, True)


def test_a_stopped_webhook_starts_again_with_what_failed(client, hook):
    Webhook.objects.update(stopped_at=timezone.now())
    delivery = failed(hook, 3)[0]
    assert "Send again" not in client.get(f"{PAGE}{hook.pk}/").content.decode()
    client.post(f"{PAGE}{hook.pk}/deliveries/{delivery.pk}/retry/")
    assert Delivery.objects.filter(state="failed").count() == 3
    client.post(f"{PAGE}{hook.pk}/")
    hook.refresh_from_db()
    assert hook.stopped_at is None
    assert Delivery.objects.filter(state="waiting").count() == 3
    assert AuditEvent.objects.get(action="projects.restart_webhook").details == {"resent": 3}


def test_a_test_is_sent_and_the_webhook_deleted(client, hook):
    client.post(f"{PAGE}{hook.pk}/test/")
    assert Delivery.objects.get().event == "ping"
    client.post(f"{PAGE}{hook.pk}/delete/")
    assert not Webhook.objects.exists()


def test_the_list_asks_the_database_as_often_for_many_webhooks_as_for_one(client, hook, django_assert_max_num_queries):
    failed(hook, 2)
    for n in range(8):
        made = Webhook.objects.create(project=hook.project, url=f"https://example.org/{n}", salt="s", events=["ping"])
        failed(made)
    with django_assert_max_num_queries(6):
        page = client.get(PAGE).content.decode()
    assert page.count("1 failed") == 8
