"""Load items, for researchers of their project."""

from corpus.models import Item
from projects.access import get_row
from projects.models import Role, User


def get_item(person: User, slug: str, pk: int) -> Item:
    items = Item.objects.select_related(
        "subtest__project", "caption", "video__project", "proficiency_item__caption", "candidate_group__run"
    )
    return get_row(items.prefetch_related("foils"), person, slug, Role.RESEARCHER, at="subtest__project", pk=pk)
