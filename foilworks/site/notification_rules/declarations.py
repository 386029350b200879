"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.webhooks.event_type import EventType

SENTENCES: dict[str, Promise] = {"projects.end_run": _("finished a run")}
EVENTS: dict[str, EventType] = {
    "run.ended": EventType(
        _("a run ends: done, partly done, failed or cancelled"),
        action="projects.end_run",
        payload=("kind", "run", "state", "why"),
    ),
}
