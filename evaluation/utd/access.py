"""Getters of descriptions and bias runs, for a project's researchers; other projects' rows do not exist."""

from django.shortcuts import get_object_or_404

from evaluation.utd.models import BiasRun, Descriptions
from projects.access import get_project
from projects.models import Role, User


def get_descriptions(person: User, slug: str, pk: int) -> Descriptions:
    project = get_project(person, slug, Role.RESEARCHER)
    return get_object_or_404(Descriptions.objects.select_related("project", "job"), project=project, pk=pk)


def get_bias_run(person: User, slug: str, pk: int) -> BiasRun:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = BiasRun.objects.select_related("project", "descriptions", "job")
    return get_object_or_404(runs, project=project, pk=pk)
