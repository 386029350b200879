"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

from django.utils.translation import gettext_lazy as _

from foilworks.core.projects.audit_trail.row_kind import RowPage
from foilworks.core.projects.notifications.kind import ADJUDICATORS, Kind

NOTIFICATIONS: dict[str, Kind] = {
    "comment": Kind(
        _("Somebody comments on an item"),
        ADJUDICATORS,
        "items:item",
        _("New comment on the item %(key)s"),
        ("item",),
        # A reviewer opens an item only to decide it.
        reviewer_page="annotation:disputed_item",
        anchor="#comments",
    ),
}
ROW_PAGES: dict[str, RowPage] = {
    "corpus.item": RowPage("items:item"),
    "annotation.itemcomment": RowPage("items:item", detail="item"),
}
# What a page shows -> the name of its URL (foilworks.core.projects.pages).
PAGES = {
    "item": "items:item",
}
