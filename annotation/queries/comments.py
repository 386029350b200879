"""Comments of an item."""

from django.db.models import F

from annotation.access import may_comment
from annotation.models import ItemComment
from foilworks.core.corpus.models import Item
from foilworks.core.projects.models import Project, User


def comments_of(person: User, project: Project, item: Item) -> list[ItemComment] | None:
    """Return the item's comments, unresolved ones first; None for a person who may not read them. One query."""
    if not may_comment(person, project):
        return None
    rows = ItemComment.objects.filter(item=item).select_related("author", "resolved_by")
    return list(rows.order_by(F("resolved_at").asc(nulls_first=True), "id"))
