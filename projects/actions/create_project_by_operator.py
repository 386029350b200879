"""A new project from the command line: whoever runs commands on the server needs no role, and gets none."""

from django.core.exceptions import ValidationError
from django.db import transaction

from projects import audit
from projects.errors import ProjectError
from projects.models import Project


@transaction.atomic
def create_project_by_operator(slug: str, name: str = "") -> Project:
    """Store the project, owned by nobody: site administrators reach it and give roles. ProjectError: a bad slug."""
    project = Project(slug=slug, name=name or slug)
    try:
        project.full_clean()
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise ProjectError(f"{field}: {messages[0]}") from error
    project.save()
    audit.record(audit.event(project, None, "projects.create_project", project))
    return project
