"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind
from foilworks.core.projects.limits.rate_limits import REPORTS_HERE, SCORES_HERE
from foilworks.core.projects.limits.visitor_page import VisitorPage
from foilworks.core.projects.notifications.kind import RESEARCHERS, Kind
from foilworks.core.projects.webhooks.event_type import EventType

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "publishing.build_archive": "foilworks.site.publishing.jobs:build_archive",
    "publishing.build_folder": "foilworks.site.publishing.jobs:build_folder",
}
SENTENCES: dict[str, Promise] = {
    "evaluation.ask_archive": _("asked for the archive of a public page"),
    "evaluation.expire_submission": _("removed an old submission"),
    "evaluation.publish_release": _("published a release on a hub"),
    "evaluation.renew_address": _("changed the URL of a public page"),
    "evaluation.report_item": _("reported an item on a public page"),
    "evaluation.set_public_page": _("changed a public page"),
    "evaluation.submit_scores": _("submitted scores on a public page"),
}
EVENTS: dict[str, EventType] = {
    "item.reported": EventType(_("a visitor reports a released item"), action="evaluation.report_item"),
}
NOTIFICATIONS: dict[str, Kind] = {
    "report": Kind(
        _("A visitor reports an item"),
        RESEARCHERS,
        "publishing:item_reports",
        _("Visitors reported items of the release %(name)s"),
        ("release",),
    ),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.publicpage": RowKind(_("public page")),
    "evaluation.submission": RowKind(_("submitted scores")),
}
VISITOR_PAGES = {
    "publishing:public_scores": VisitorPage("SUBMISSION_MAX_BYTES", SCORES_HERE),
    "publishing:report": VisitorPage(limit=REPORTS_HERE),
}
