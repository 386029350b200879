"""A new project from the command line: whoever runs commands on the server needs no role, and gets none."""

from django.core.exceptions import ValidationError
from django.db import transaction

from projects import audit
from projects.errors import ProjectError
from projects.models import Project


def new_project(slug: str, name: str = "") -> Project:
    """The project as it would be, not stored yet. ProjectError: a bad slug, or one that is taken."""
    project = Project(slug=slug, name=name or slug)
    try:
        project.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise ProjectError(f"{field}: {messages[0]}") from error
    return project


@transaction.atomic
def store_project(project: Project) -> Project:
    """Store what `new_project` gave, owned by nobody: site administrators reach it and give roles."""
    project.save(force_insert=True)
    audit.record(audit.event(project, None, "projects.create_project", project))
    return project


def create_project_by_operator(slug: str, name: str = "") -> Project:
    """Both at once. ProjectError: a bad slug, or one that is taken."""
    return store_project(new_project(slug, name))
