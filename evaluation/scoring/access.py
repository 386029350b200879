"""Getters of scoring runs, for researchers of their project."""

from django.shortcuts import get_object_or_404

from evaluation.scoring.models import Run
from projects.access import get_project
from projects.models import Role, User


def get_run(person: User, slug: str, pk: int) -> Run:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = Run.objects.select_related("release__project", "job", "created_by")
    return get_object_or_404(runs, release__project=project, pk=pk)
