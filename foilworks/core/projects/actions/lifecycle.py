"""A researcher renames, archives and deletes a project, and restores it."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from foilworks.core.projects.access import deleted_projects, or_404, require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.demo_accounts import NO_SETTINGS, refuse_published
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.models import Project, Role, User


@transaction.atomic
def describe_project(person: User, project: Project, *, name: str, description: str) -> Project:
    """Store name and description; the short name, which is part of addresses, stays."""
    locked = _locked(person, project)
    before = {"name": locked.name, "description": locked.description}
    locked.name, locked.description = name, description
    locked.save(update_fields=["name", "description"])
    now = {"name": name, "description": description}
    audit.record(audit.event(project, person, "projects.describe_project", project, before=before, **now))
    return locked


@transaction.atomic
def set_archived(person: User, project: Project, *, archived: bool) -> bool:
    """Archive the project, or end that; return whether it changed.

    In an archived project nobody gets new tasks or places in crowd studies. Tasks that people hold can be finished.
    """
    locked = _locked(person, project)
    if archived == (locked.archived_at is not None):
        return False
    locked.archived_at = timezone.now() if archived else None
    locked.save(update_fields=["archived_at"])
    action = "projects.archive_project" if archived else "projects.unarchive_project"
    words = ("current", "archived") if archived else ("archived", "current")
    audit.record(audit.event(project, person, action, project, from_state=words[0], to_state=words[1]))
    return True


@transaction.atomic
def delete_project(person: User, project: Project, typed_name: str) -> Project:
    """Delete the project: it exists for nobody until it is restored. Nothing of it is removed.

    ProjectError if the typed name is not the name of the project.
    """
    locked = _locked(person, project)
    if typed_name.strip() != locked.name.strip():
        raise ProjectError(_("The name is “%(name)s”. Enter it exactly to delete the project.") % {"name": locked.name})
    locked.deleted_at = timezone.now()
    locked.save(update_fields=["deleted_at"])
    audit.record(audit.event(project, person, "projects.delete_project", project, to_state="deleted"))
    return locked


@transaction.atomic
def restore_project(person: User, slug: str) -> Project:
    """Restore a deleted project with everything in it. Http404 for others than its researchers, and after a week."""
    refuse_published(person, NO_SETTINGS)
    rows = deleted_projects(person).select_for_update(of=("self",), no_key=True)
    project = or_404(rows.filter(slug=slug).first(), _("Project not found."))
    project.deleted_at = None
    project.save(update_fields=["deleted_at"])
    audit.record(audit.event(project, person, "projects.restore_project", project, from_state="deleted"))
    return project


def _locked(person: User, project: Project) -> Project:
    """Return the row as it is now, locked, for a researcher who signed in with an own account."""
    require_role(person, project, Role.RESEARCHER)
    refuse_published(person, NO_SETTINGS)
    locked = Project.objects.select_for_update(no_key=True).filter(pk=project.pk, deleted_at=None).first()
    return or_404(locked, _("Project not found."))
