"""Getters of releases and scoring runs, for a project's researchers; rows of another project do not exist for them."""

from django.shortcuts import get_object_or_404

from corpus.models import Release
from evaluation.models import Run
from projects.access import get_project
from projects.models import Role, User


def get_release(person: User, slug: str, pk: int) -> Release:
    project = get_project(person, slug, Role.RESEARCHER)
    return get_object_or_404(Release.objects.select_related("project", "created_by"), project=project, pk=pk)


def get_run(person: User, slug: str, pk: int) -> Run:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = Run.objects.select_related("release__project", "job", "created_by")
    return get_object_or_404(runs, release__project=project, pk=pk)
