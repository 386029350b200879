"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind, RowPage
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "releases.preview": "evaluation.releases.jobs:preview_release",
    "releases.freeze": "evaluation.releases.jobs:freeze_by_job",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.freeze_release": _("froze a release"),
    "evaluation.override_gate": _("froze a release against the blind audit"),
}
EVENTS: dict[str, EventType] = {
    "release.frozen": EventType(
        _("a release is frozen"), action="evaluation.freeze_release", payload=("name", "content_hash", "n_items")
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.itemreport": RowKind(_("report of an item")),
}
ROW_PAGES: dict[str, RowPage] = {
    "corpus.release": RowPage("releases:release"),
}
