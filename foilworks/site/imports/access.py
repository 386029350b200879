"""Load imports, for researchers of their project."""

from foilworks.core.projects.access import get_row
from foilworks.core.projects.models import Role, User
from foilworks.site.imports.models import Import


def get_import(person: User, slug: str, pk: int) -> Import:
    imports = Import.objects.select_related("project", "job", "created_by")
    return get_row(imports, person, slug, Role.RESEARCHER, pk=pk)
