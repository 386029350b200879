"""Getters of imports, for researchers of their project."""

from django.shortcuts import get_object_or_404

from evaluation.imports.models import Import
from projects.access import get_project
from projects.models import Role, User


def get_import(person: User, slug: str, pk: int) -> Import:
    project = get_project(person, slug, Role.RESEARCHER)
    imports = Import.objects.select_related("project", "job", "created_by")
    return get_object_or_404(imports, project=project, pk=pk)
