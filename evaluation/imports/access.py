"""Load imports, for researchers of their project."""

from evaluation.imports.models import Import
from projects.access import get_row
from projects.models import Role, User


def get_import(person: User, slug: str, pk: int) -> Import:
    imports = Import.objects.select_related("project", "job", "created_by")
    return get_row(imports, person, slug, Role.RESEARCHER, pk=pk)
