"""Mail what is new and unread to people who chose it: one mail for everything, sent once.

A mail carries the header of a one-click unsubscription (RFC 8058).
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.signing import BadSignature, Signer
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from foilworks.core.projects.demo_accounts import is_published
from foilworks.core.projects.errors import EntryRefused
from foilworks.core.projects.models import MailFrequency, Notification, NotificationSettings, User
from foilworks.core.projects.notifications.kinds import Channel, channel_of, notification_kinds, sentence
from foilworks.core.projects.notifications.queries import visible

SALT = "projects.unsubscribe"
# After a mail, none is sent for this long.
PAUSE = timedelta(days=1)
RETRY_AFTER = timedelta(minutes=30)
MAX_LISTED = 50


def is_ready() -> bool:
    """Return whether this installation can send such mail: it needs a mail server, and an address for links."""
    return bool(settings.MAIL_IS_SET and settings.SITE_URL)


def waiting(person: User, person_settings: NotificationSettings) -> QuerySet[Notification]:
    """Return what the person has neither read nor received by mail, oldest first."""
    kinds = [slug for slug in notification_kinds() if channel_of(person_settings.channels, slug) == Channel.MAIL]
    rows = visible().filter(person=person, read_at=None, mailed_at=None, created_at__gte=person_settings.changed_at)
    rows = rows.filter(kind__in=kinds, project__archived_at=None)
    return rows.select_related("project").order_by("project__name", "project", "pk")


def due(now: datetime) -> list[NotificationSettings]:
    """Return the settings of people who get a mail now, as far as one query can say."""
    new = Notification.objects.filter(person=OuterRef("person"), read_at=None, mailed_at=None)
    rows = NotificationSettings.objects.filter(
        Exists(new), next_mail_at__lte=now, person__is_active=True, person__is_simulated=False
    )
    gets_no_mail = Q(mail=MailFrequency.OFF) | Q(person__email="")
    return list(rows.exclude(gets_no_mail).select_related("person").order_by("pk"))


def send_due(now: datetime | None = None, is_over: Callable[[], bool] = bool) -> tuple[int, int]:
    """Send the mails that are due, until the server fails or `is_over()`; return how many were sent and how many
    failed.
    """
    sent = 0
    for person_settings in due(now or timezone.now()):
        if is_over():
            break
        outcome = send_digest(person_settings, now or timezone.now())
        if outcome is False:
            return sent, 1
        sent += outcome is True
    return sent, 0


def send_digest(person_settings: NotificationSettings, now: datetime) -> bool | None:
    """Send one mail with what waits; None if nothing does or another process sends it, False if the server fails.

    What is sent is marked first: a process that dies meanwhile sends nothing twice. It stays unread in the app.
    """
    person = person_settings.person
    rows = (
        list(waiting(person, person_settings))
        if person_settings.mail == MailFrequency.DAILY and not is_published(person)
        else []
    )
    claim = NotificationSettings.objects.filter(pk=person_settings.pk, mail=person_settings.mail, next_mail_at__lte=now)
    if not rows or not claim.update(next_mail_at=now + PAUSE):
        return None
    keys = [row.pk for row in rows]
    Notification.objects.filter(pk__in=keys).update(mailed_at=now)
    try:
        _message(person, rows).send()
    except OSError:
        # smtplib's errors are OSErrors, too.
        Notification.objects.filter(pk__in=keys).update(mailed_at=None)
        NotificationSettings.objects.filter(pk=person_settings.pk).update(next_mail_at=now + RETRY_AFTER)
        return False
    return True


def _message(person: User, rows: list[Notification]) -> EmailMessage:
    words = ngettext("%(n)d new notification", "%(n)d new notifications", len(rows))
    for row in rows:
        row.words = sentence(row)
        row.link = settings.SITE_URL + reverse("projects:notification", args=[row.pk])
    unsubscribe = settings.SITE_URL + reverse("projects:unsubscribe", args=[token_of(person.pk)])
    context = {
        "title": words % {"n": len(rows)},
        "rows": rows[:MAX_LISTED],
        "more": max(0, len(rows) - MAX_LISTED),
        "page": settings.SITE_URL + reverse("projects:notifications"),
        "choices": settings.SITE_URL + reverse("projects:notification_settings"),
        "unsubscribe": unsubscribe,
    }
    headers = {
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        # RFC 3834: nobody's absence is answered to us.
        "Auto-Submitted": "auto-generated",
    }
    text = render_to_string("projects/notifications_mail.txt", context)
    return EmailMessage(f"{context['title']} · Foilworks", text, to=[person.email], headers=headers)


def token_of(person_id: int) -> str:
    """Return the part of an address that ends the person's mails, and does nothing else. It never expires."""
    return Signer(salt=SALT).sign_object([person_id])


def person_of(token: str) -> int:
    """Return whose mails the token ends. EntryRefused: we have not signed it."""
    try:
        (person_id,) = Signer(salt=SALT).unsign_object(token)
    except (BadSignature, ValueError, TypeError) as error:
        raise EntryRefused(
            _("This link is not valid. Sign in and open the settings of your notifications."), "forged"
        ) from error
    return int(person_id)
