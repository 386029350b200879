"""Getters of items, for researchers of their project."""

from django.shortcuts import get_object_or_404

from corpus.models import Item
from projects.access import get_project
from projects.models import Role, User


def get_item(person: User, slug: str, pk: int) -> Item:
    project = get_project(person, slug, Role.RESEARCHER)
    items = Item.objects.select_related(
        "subtest__project", "caption", "video__project", "proficiency_item__caption", "candidate_group__run"
    )
    return get_object_or_404(items.prefetch_related("foils"), subtest__project=project, pk=pk)
