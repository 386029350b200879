"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind

ROW_KINDS: dict[str, RowKind] = {
    "evaluation.cachedresult": RowKind(_("report")),
}
