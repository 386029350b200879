"""Getters of videos and their captions; rows of another project do not exist for whoever asks."""

from django.shortcuts import get_object_or_404

from corpus.models import Release, Video
from projects.access import get_project
from projects.models import Role, User


def get_video(person: User, slug: str, pk: int, *roles: str) -> Video:
    """The video of the project `slug` for a person who holds one of `roles` (any role when none is named) in it."""
    project = get_project(person, slug, *roles)
    return get_object_or_404(Video.objects.select_related("project"), project=project, pk=pk)


def get_release(person: User, slug: str, pk: int) -> Release:
    project = get_project(person, slug, Role.RESEARCHER)
    return get_object_or_404(Release.objects.select_related("project", "created_by"), project=project, pk=pk)
