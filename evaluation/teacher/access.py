"""Getters of trainings and evaluations, for researchers of their project."""

from django.shortcuts import get_object_or_404

from evaluation.teacher.models import StudentEvaluation, TeacherTraining
from projects.access import get_project
from projects.models import Role, User


def get_teacher_training(person: User, slug: str, pk: int) -> TeacherTraining:
    project = get_project(person, slug, Role.RESEARCHER)
    rows = TeacherTraining.objects.select_related("project", "release", "job", "created_by")
    return get_object_or_404(rows, project=project, pk=pk)


def get_teacher_reading(person: User, slug: str, pk: int, release: int) -> StudentEvaluation:
    project = get_project(person, slug, Role.RESEARCHER)
    rows = StudentEvaluation.objects.select_related("training__project", "training__job", "release", "job")
    return get_object_or_404(rows, training__project=project, training_id=pk, release_id=release)
