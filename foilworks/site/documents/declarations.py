"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowKind

SENTENCES: dict[str, Promise] = {
    "evaluation.answer_datasheet": _("answered questions of the datasheet"),
    "evaluation.describe_publication": _("changed the citation and licences"),
}
ROW_KINDS: dict[str, RowKind] = {
    "evaluation.publicationfacts": RowKind(_("citation and licences")),
}
