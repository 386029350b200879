"""Load items and captions, for researchers of their project."""

from foilworks.core.corpus.models import Caption, Item
from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User


def get_item(person: User, slug: str, pk: int) -> Item:
    items = Item.objects.select_related(
        "subtest__project", "caption", "video__project", "proficiency_item__caption", "candidate_group__run"
    )
    return get_row(items.prefetch_related("foils"), person, slug, Role.RESEARCHER, at="subtest__project", pk=pk)


def get_caption(person: User, slug: str, pk: int) -> Caption:
    captions = Caption.objects.select_related("video__project", "video__takedown__taken_down_by")
    return get_row(captions, person, slug, Role.RESEARCHER, at="video__project", pk=pk)
