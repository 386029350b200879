"""Getters of videos and their captions; rows of another project do not exist for whoever asks."""

from corpus.models import Release, Video
from projects.access import get_row
from projects.models import Role, User


def get_video(person: User, slug: str, pk: int, *roles: str) -> Video:
    """The video of the project `slug` for a person who holds one of `roles` (any role when none is named) in it."""
    return get_row(Video.objects.select_related("project"), person, slug, *roles, pk=pk)


def get_release(person: User, slug: str, pk: int) -> Release:
    return get_row(Release.objects.select_related("project", "created_by"), person, slug, Role.RESEARCHER, pk=pk)
