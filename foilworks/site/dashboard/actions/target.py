"""Set the target of a project: items to judge, and the budget of votes."""

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User
from foilworks.site.dashboard.models import StudyTarget

MOST = 100_000_000


@transaction.atomic
def set_target(person: User, project: Project, items: int, votes: int = 0) -> StudyTarget | None:
    """Store the target; with 0 items, remove it. `votes` 0: no limit.

    AccessDenied without the researcher's role; EvaluationError for a number that is out of range.
    """
    require_role(person, project, Role.RESEARCHER)
    if not (0 <= items <= MOST and 0 <= votes <= MOST):
        problem = _("The numbers are %(items)s items and %(votes)s votes. Enter numbers from 0 to %(most)s.")
        raise EvaluationError(problem % {"items": items, "votes": votes, "most": MOST})
    before = StudyTarget.objects.filter(project=project).first()
    row = None
    if items:
        row, _made = StudyTarget.objects.update_or_create(project=project, defaults={"items": items, "votes": votes})
    elif before:
        before.delete()
    was = {"items": before.items, "votes": before.votes} if before else None
    details = {"items": items, "votes": votes, "before": was}
    audit.record(audit.event(project, person, "evaluation.set_target", project, **details))
    return row
