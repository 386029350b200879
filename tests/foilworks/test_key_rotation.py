"""A new SECRET_KEY beside the old one: nobody is signed out, no link ends, and nothing drawn changes."""

from datetime import timedelta

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.utils import timezone
from standardwebhooks import Webhook as Receiver
from standardwebhooks.webhooks import WebhookVerificationError

from foilworks.core.corpus.video_files.player import Piece, clip_token, read_clip_token
from foilworks.core.projects.access import secret_seed
from foilworks.core.projects.actions.accounts import check_second_factor
from foilworks.core.projects.models import Delivery, RecoveryCode, Role, SecondFactor, Webhook
from foilworks.core.projects.pseudonyms import pseudonym
from foilworks.core.projects.sign_in.second_factor import digests_of, new_secret
from foilworks.core.projects.webhooks.messages import message, message_id, secret_of
from foilworks.site.api.cards import opaque_number
from foilworks.site.production_checks import RULES
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db
OLD, NEW = "old-0123456789-abcdefghijklmnopqrstuvwxyz-key", "new-0123456789-zyxwvutsrqponmlkjihgfedcba-key"


@pytest.fixture
def rotate(settings):
    """Begin with the old key; the function sets the new one, with or without the old one beside it."""

    def set_keys(*keys: str) -> None:
        settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS = keys

    settings.DERIVATION_KEY = OLD
    set_keys(OLD)
    return set_keys


def test_sessions_links_clips_and_codes_stay_valid_until_the_old_key_goes(rotate):
    project = make_project()
    person = make_member(project, Role.VALIDATOR)
    SecondFactor.objects.create(person=person, secret=new_secret(), confirmed_at=timezone.now())
    for code in ("aaaaa-aaaaa", "bbbbb-bbbbb"):
        RecoveryCode.objects.create(person=person, digest=digests_of(code, person.pk)[0])
    client = Client()
    client.force_login(person)
    clip, reset = clip_token(7, person.pk, Piece.SLOT, 1), default_token_generator.make_token(person)

    def valid(code: str) -> list[bool]:
        page = client.get("/account/").status_code == 200
        links = default_token_generator.check_token(person, reset), read_clip_token(clip, person.pk) == 7
        return [page, *links, check_second_factor(person, code)]

    rotate(NEW, OLD)
    assert valid("aaaaa-aaaaa") == [True] * 4
    assert clip_token(7, person.pk, Piece.SLOT, 1) != clip
    # What is made now has the new key alone.
    rotate(NEW)
    assert valid("bbbbb-bbbbb")[1:] == [False] * 3


def test_receivers_of_webhooks_may_change_their_secret_at_any_time_between(rotate):
    hook = Webhook.objects.create(project=make_project(), url="https://example.org/", events=["ping"])
    delivery = Delivery.objects.create(webhook=hook, event="ping", payload={"at": ""}, next_at=timezone.now())
    old, number = Receiver(secret_of(hook)), message_id(delivery)
    rotate(NEW, OLD)
    new = Receiver(secret_of(hook))
    headers, body = message(delivery, timezone.now())
    for receiver in (old, new):
        receiver.verify(body, headers)
    assert message_id(delivery) == number
    rotate(NEW)
    headers, body = message(delivery, timezone.now() + timedelta(seconds=1))
    new.verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        old.verify(body, headers)


def test_pseudonyms_orders_and_draws_do_not_follow_the_key(rotate):
    project = make_project()

    def derived() -> tuple:
        return pseudonym(project, 3), secret_seed("gold", project.pk), opaque_number(5)

    before = derived()
    rotate(NEW)
    assert derived() == before


def test_a_weak_earlier_key_is_named(rotate):
    rotate(NEW, "weak")
    assert "SECRET_KEY_FALLBACKS" in {name for rule in RULES for name, *_words in rule()}
