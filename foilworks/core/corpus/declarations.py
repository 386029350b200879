"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "corpus.prepare_videos": "foilworks.core.corpus.jobs:prepare_videos",
}
SENTENCES: dict[str, Promise] = {
    "corpus.add_video": _("added a video"),
    "corpus.attach_media": _("attached a video file"),
    "corpus.create_subtest": _("created a subtest"),
    "corpus.set_characters": _("changed the list of characters"),
    "corpus.set_content_warning": _("changed the content warning of a video"),
}
EVENTS: dict[str, EventType] = {
    "item.decided": EventType(
        _("an item is valid, invalid or disputed"),
        target_type="corpus.item",
        to_states=frozenset({ItemState.VALID, ItemState.INVALID, ItemState.DISPUTED}),
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "corpus.caption": RowKind(_("caption")),
    "corpus.foil": RowKind(_("foil")),
    "corpus.item": RowKind(_("item")),
    "corpus.release": RowKind(_("release")),
    "corpus.subtest": RowKind(_("subtest")),
    "corpus.video": RowKind(_("video")),
}
ROW_PAGES: dict[str, RowPage] = {
    "corpus.video": RowPage("corpus:video"),
}
