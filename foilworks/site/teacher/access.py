"""Load trainings and evaluations, for researchers of their project."""

from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User
from foilworks.site.teacher.models import StudentEvaluation, TeacherTraining


def get_teacher_training(person: User, slug: str, pk: int) -> TeacherTraining:
    rows = TeacherTraining.objects.select_related("project", "release", "job", "created_by")
    return get_row(rows, person, slug, Role.RESEARCHER, pk=pk)


def get_teacher_reading(person: User, slug: str, pk: int, release: int) -> StudentEvaluation:
    rows = StudentEvaluation.objects.select_related("training__project", "training__job", "release", "job")
    return get_row(rows, person, slug, Role.RESEARCHER, at="training__project", training_id=pk, release_id=release)
