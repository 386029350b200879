"""A new project; whoever makes it owns it as its researcher."""

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from projects import audit
from projects.access import require_to_create_projects
from projects.errors import ProjectError
from projects.models import LeakageScope, Membership, Project, Role, User


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
        raise ProjectError(_("The short name “%(slug)s” is taken; choose another.") % {"slug": slug}) from error
    Membership.objects.create(project=project, person=person, role=Role.RESEARCHER)
    audit.record(audit.event(project, person, "projects.create_project", project))
    return project
