"""A person withdraws from a project: they leave, and their work is kept or removed as the consent says."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.claims.lost_roles import end_leases_of_roles
from annotation.actions.crowd.places import end_place
from annotation.actions.people.remove_answers import remove_answers
from annotation.errors import AnnotationError
from annotation.models import Draft, ReviewRate
from annotation.transactions import run_in_transaction
from projects import audit
from projects.actions.leave_project import leave_project
from projects.models import ConsentText, CrowdPlace, OnWithdrawal, PlaceState, Project, Role, User


def on_withdrawal(person: User, project: Project) -> str:
    """What the text says that the person agreed to last; without any their work is kept."""
    agreed = ConsentText.objects.filter(project=project, given__person=person).order_by("-given__given_at").first()
    return agreed.on_withdrawal if agreed else OnWithdrawal.KEEP


def withdraw(person: User, project: Project, work: str, *, now: datetime | None = None) -> int:
    """The person leaves; how many answers were removed. `work`: "keep" or "remove", where the consent lets them choose.

    Drafts go, places in crowd studies are free. ProjectError for the last researcher, AnnotationError for a choice that
    the consent does not give.
    """
    return run_in_transaction(lambda: withdraw_in_transaction(person, project, work, person, now or timezone.now()))


def withdraw_in_transaction(person: User, project: Project, work: str, actor: User, now: datetime) -> int:
    """The same beside other writes."""
    rule = on_withdrawal(person, project)
    if work not in (OnWithdrawal.KEEP, OnWithdrawal.REMOVE) or rule not in (OnWithdrawal.CHOOSE, work):
        raise AnnotationError(_("Your consent does not give this choice; reload the page."))
    for place in CrowdPlace.objects.filter(person=person, study__project=project, state=PlaceState.ACTIVE):
        end_place(place, PlaceState.RETURNED, actor, now)
    leave_project(person, project, actor, now=now)
    end_leases_of_roles(project, person, Role.values, actor, now)
    Draft.objects.filter(person=person, task__project=project).delete()
    ReviewRate.objects.filter(person=person, project=project).delete()
    removed = remove_answers(person, project, actor, now) if work == OnWithdrawal.REMOVE else 0
    audit.record(audit.event(project, actor, "withdraw", person, to_state=work, removed=removed))
    return removed
