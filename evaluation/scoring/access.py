"""Load scoring runs, for researchers of their project."""

from evaluation.scoring.models import Run
from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User


def get_run(person: User, slug: str, pk: int) -> Run:
    runs = Run.objects.select_related("release__project", "job", "created_by")
    return get_row(runs, person, slug, Role.RESEARCHER, at="release__project", pk=pk)
