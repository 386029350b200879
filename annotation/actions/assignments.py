"""Assign a number of tasks to members, and end assignments."""

from collections.abc import Sequence
from datetime import date, datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.actions.claims.claim import ROLE_OF_STAGE
from annotation.errors import AnnotationError
from annotation.models import Assignment
from annotation.models.stages import Stage
from annotation.transactions import run_in_transaction, serialize_writes
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Membership, Project, Role, User


def assign(
    actor: User,
    project: Project,
    people: Sequence[int],
    stage: str,
    quota: int,
    *,
    due: date | None = None,
    team: str = "",
    now: datetime | None = None,
) -> list[Assignment]:
    """Give each person a quota at the stage; it replaces their open one. AnnotationError without the stage's role."""
    require_role(actor, project, Role.RESEARCHER)
    role = ROLE_OF_STAGE[Stage(stage)]
    members = set(Membership.objects.filter(project=project, role=role).values_list("person", flat=True))
    if not people or not set(people) <= members:
        raise AnnotationError(_("Choose members who have the role of this stage: %(role)s.") % {"role": role.label})

    def write() -> list[Assignment]:
        serialize_writes(project)
        moment = now or timezone.now()
        Assignment.objects.filter(project=project, person__in=people, stage=stage, ended_at=None).update(
            ended_at=moment
        )
        fields = {"stage": stage, "quota": quota, "due": due, "team": team, "created_at": moment}
        rows = Assignment.objects.bulk_create(
            Assignment(project=project, person_id=pk, **fields) for pk in sorted(set(people))
        )
        audit.record_many(audit.event(project, actor, "assign", row, stage=stage, quota=quota) for row in rows)
        return rows

    return run_in_transaction(write)


def end_assignment(actor: User, project: Project, pk: int) -> bool:
    """End an open assignment: its person may take any number of tasks again. Return whether it was open."""
    require_role(actor, project, Role.RESEARCHER)

    def write() -> bool:
        row = Assignment.objects.filter(project=project, pk=pk, ended_at=None).first()
        if row is None:
            return False
        Assignment.objects.filter(pk=row.pk).update(ended_at=timezone.now())
        audit.record(audit.event(project, actor, "end_assignment", row))
        return True

    return run_in_transaction(write)
