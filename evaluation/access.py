"""Getters of items, releases and scoring runs, for a project's researchers; other projects' rows do not exist."""

from django.shortcuts import get_object_or_404

from corpus.models import Item, Release
from evaluation.models import Import, Run
from evaluation.teacher.tables import TeacherReading, TeacherTraining
from projects.access import get_project
from projects.models import Role, User


def get_release(person: User, slug: str, pk: int) -> Release:
    project = get_project(person, slug, Role.RESEARCHER)
    return get_object_or_404(Release.objects.select_related("project", "created_by"), project=project, pk=pk)


def get_run(person: User, slug: str, pk: int) -> Run:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = Run.objects.select_related("release__project", "job", "created_by")
    return get_object_or_404(runs, release__project=project, pk=pk)


def get_item(person: User, slug: str, pk: int) -> Item:
    project = get_project(person, slug, Role.RESEARCHER)
    items = Item.objects.select_related(
        "subtest__project", "caption", "video__project", "proficiency_item__caption", "candidate_group__run"
    )
    return get_object_or_404(items.prefetch_related("foils"), subtest__project=project, pk=pk)


def get_import(person: User, slug: str, pk: int) -> Import:
    project = get_project(person, slug, Role.RESEARCHER)
    imports = Import.objects.select_related("project", "job", "created_by")
    return get_object_or_404(imports, project=project, pk=pk)


def get_teacher_training(person: User, slug: str, pk: int) -> TeacherTraining:
    project = get_project(person, slug, Role.RESEARCHER)
    rows = TeacherTraining.objects.select_related("project", "release", "job", "created_by")
    return get_object_or_404(rows, project=project, pk=pk)


def get_teacher_reading(person: User, slug: str, pk: int, release: int) -> TeacherReading:
    project = get_project(person, slug, Role.RESEARCHER)
    rows = TeacherReading.objects.select_related("training__project", "training__job", "release", "job")
    return get_object_or_404(rows, training__project=project, training_id=pk, release_id=release)
