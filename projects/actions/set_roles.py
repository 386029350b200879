"""The roles of a member become these; none at all ends the membership."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from projects import audit
from projects.access import checked_roles, require_role
from projects.errors import ProjectError
from projects.models import CrowdWorker, Membership, Project, Role, User


@transaction.atomic
def set_roles(actor: User, project: Project, person: User, roles: Sequence[str]) -> frozenset[str]:
    """The roles that the person has lost by it. ProjectError: no member, an unknown role, the last researcher.

    Whose membership ends comes in by no crowd study of the project either, until somebody adds or invites them again.
    Work in the person's hands is not touched here: annotation.actions.people and remove_member free it.
    """
    # Two researchers who remove each other at once queue up here.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    require_role(actor, project, Role.RESEARCHER)
    wanted = checked_roles(roles) if roles else ()
    rows = Membership.objects.filter(project=project, person=person)
    before = set(rows.values_list("role", flat=True))
    if not before:
        raise ProjectError(_("%(name)s is no member of this project.") % {"name": person.username})
    if Role.RESEARCHER in before and Role.RESEARCHER not in wanted:
        keep_one_researcher(project, person)
    if not wanted:
        # First, so that who is just entering a study is waited for, and found among the rows.
        CrowdWorker.objects.filter(project=project, person=person).update(removed_at=timezone.now())
    rows.exclude(role__in=wanted).delete()
    Membership.objects.bulk_create(
        Membership(project=project, person=person, role=role) for role in wanted if role not in before
    )
    action = "projects.change_roles" if wanted else "projects.remove_member"
    audit.record(audit.event(project, actor, action, person, before=_listed(before), after=_listed(wanted)))
    return frozenset(before - set(wanted))


def keep_one_researcher(project: Project, leaving: User) -> None:
    """ProjectError where nobody else could own the project."""
    others = Membership.objects.filter(project=project, role=Role.RESEARCHER, person__is_active=True)
    if not others.exclude(person=leaving).exists():
        raise ProjectError(
            _("%(name)s is the last researcher of this project; make somebody else one first.")
            % {"name": leaving.username}
        )


def _listed(roles: Iterable[str]) -> str:
    return ", ".join(role for role in Role.values if role in roles)
