"""Create a project, as a person or as the operator."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from foilworks.core.projects.access import require_to_create_projects
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import LeakageScope, Membership, Project, Role, User


@transaction.atomic
def create_project(
    person: User,
    *,
    name: str,
    slug: str,
    description: str = "",
    edit_stage: bool = True,
    leakage_scope: str = LeakageScope.VIDEO,
    judge_caption_once: bool = True,
) -> Project:
    """Store the project with `person` as researcher. ProjectError when the short name is taken."""
    require_to_create_projects(person)
    try:
        with transaction.atomic():
            project = Project.objects.create(
                name=name,
                slug=slug,
                description=description,
                edit_stage=edit_stage,
                leakage_scope=leakage_scope,
                judge_caption_once=judge_caption_once,
            )
    except IntegrityError as error:
        raise ProjectError(
            _("The short name “%(slug)s” is already in use. Choose another one.") % {"slug": slug}
        ) from error
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    audit.record(audit.event(project, person, "projects.create_project", project))
    return project


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
