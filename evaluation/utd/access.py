"""Load descriptions and bias runs, for a project's researchers; other projects' rows do not exist for them."""

from evaluation.utd.models import BiasRun, Descriptions
from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User


def get_descriptions(person: User, slug: str, pk: int) -> Descriptions:
    return get_row(Descriptions.objects.select_related("project", "job"), person, slug, Role.RESEARCHER, pk=pk)


def get_bias_run(person: User, slug: str, pk: int) -> BiasRun:
    runs = BiasRun.objects.select_related("project", "descriptions", "job")
    return get_row(runs, person, slug, Role.RESEARCHER, pk=pk)
