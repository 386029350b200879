"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.limits.rate_limits import AUDITS
from foilworks.core.projects.limits.visitor_page import VisitorPage

VISITOR_PAGES = {
    "audit": VisitorPage(
        "AUDIT_MAX_BYTES", AUDITS, _("Run `foilworks audit FILE` on your own computer instead: it has no limit.")
    )
}
