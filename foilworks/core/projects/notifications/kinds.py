"""List the kinds of notifications: whom they are for, what they say, and which page they open.

Each room declares its kinds in the table NOTIFICATIONS of its `declarations.py`, and its runs in RUNS.
"""

from collections.abc import Mapping
from typing import Any

from django.db import models
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from foilworks.core.projects.models import Notification, Role
from foilworks.core.projects.notifications.kind import Kind
from foilworks.core.projects.pages import address_of
from foilworks.core.rooms import declared

# The kind of the runs in RUNS.
RUN_ENDED = "run_ended"


class Channel(models.TextChoices):
    MAIL = "mail", gettext_lazy("App and email")
    APP = "app", gettext_lazy("App only")
    OFF = "off", gettext_lazy("Off")


def notification_kinds() -> Mapping[str, Kind]:
    """Return all kinds by name."""
    return declared("NOTIFICATIONS")


def sentence(notification: Notification) -> str:
    """Return what the notification says, in the reader's language; the plain label if a fact is missing."""
    kind, facts = notification_kinds()[notification.kind], notification.facts
    if notification.kind == RUN_ENDED and facts.get("what") in declared("RUNS"):
        words = _("%(run)s %(n)s failed") if facts.get("failed") else _("%(run)s %(n)s is done")
        words = _("%(run)s %(n)s is only partly done") if facts.get("partly") else words
        return words % {"run": declared("RUNS")[facts["what"]].label, "n": facts.get("n", "")}
    words = kind.words_by_stage.get(facts.get("stage", ""), kind.words)
    try:
        return str(words or kind.label) % facts
    except KeyError:
        return str(kind.label)


def target(notification: Notification) -> str:
    """Return the address of the page that it is about; the project's overview if that page does not exist."""
    slug = notification.project.slug
    try:
        return _page(notification, slug)
    except (NoReverseMatch, KeyError):
        return address_of("project", slug)


def _page(notification: Notification, slug: str) -> str:
    kind, facts = notification_kinds()[notification.kind], notification.facts
    if notification.kind == RUN_ENDED:
        return reverse(declared("RUNS")[facts["what"]].page, args=[slug, facts["n"]])
    page = kind.reviewer_page if kind.reviewer_page and notification.role == Role.REVIEWER else kind.page
    return reverse(page, args=[slug, *(facts[name] for name in kind.arguments)]) + kind.anchor


def channel_of(channels: Mapping[str, Any], kind: str) -> str:
    """Return where the person wants the kind; by default everywhere, and the mails are off until they choose them."""
    channel = channels.get(kind)
    return channel if channel in Channel.values else Channel.MAIL
