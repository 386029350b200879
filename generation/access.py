"""Getters of runs and candidates, for a project's researchers; rows of another project do not exist for them."""

from django.shortcuts import get_object_or_404

from generation.models import Candidate, GenerationRun, Selection
from generation.models.side_work import CaptionRun, Tuning
from projects.access import get_project
from projects.models import Role, User


def get_run(person: User, slug: str, pk: int) -> GenerationRun:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = GenerationRun.objects.select_related("project", "subtest", "job", "created_by")
    return get_object_or_404(runs, project=project, pk=pk)


def get_candidate(person: User, slug: str, pk: int) -> Candidate:
    project = get_project(person, slug, Role.RESEARCHER)
    candidates = Candidate.objects.select_related("group__run__project", "group__caption__video", "author", "parent")
    return get_object_or_404(candidates, group__run__project=project, pk=pk)


def get_caption_run(person: User, slug: str, pk: int) -> CaptionRun:
    project = get_project(person, slug, Role.RESEARCHER)
    runs = CaptionRun.objects.select_related("project", "job", "created_by")
    return get_object_or_404(runs, project=project, pk=pk)


def get_tuning(person: User, slug: str, pk: int) -> Tuning:
    project = get_project(person, slug, Role.RESEARCHER)
    return get_object_or_404(Tuning.objects.select_related("project", "job", "created_by"), project=project, pk=pk)


def get_selection(person: User, slug: str, pk: int) -> Selection:
    project = get_project(person, slug, Role.RESEARCHER)
    rows = Selection.objects.select_related("project", "subtest", "run", "job", "created_by", "applied_by")
    return get_object_or_404(rows, project=project, pk=pk)
