"""Set the limits of the blind audit, which stop a release."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from evaluation.errors import EvaluationError
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import require_role
from foilworks.core.projects.audit_trail import recording as audit
from foilworks.core.projects.models import Project, Role, User

MIN_LIMIT, MAX_LIMIT = 0.5, 1.0


@transaction.atomic
def set_blind_limits(person: User, project: Project, limit: float, of_subtests: Mapping[int, float | None]) -> None:
    """Set the limits. `of_subtests`: id -> limit, None = the project's limit; unnamed subtests keep theirs.

    AccessDenied without the researcher's role; EvaluationError: a limit outside .5 to 1, or a subtest of another
    project.
    """
    require_role(person, project, Role.RESEARCHER)
    rows = {row.pk: row for row in Subtest.objects.filter(project=project, pk__in=of_subtests)}
    if len(rows) != len(of_subtests):
        raise EvaluationError(_("This subtest belongs to another project. Reload the page."))
    for value in [limit, *of_subtests.values()]:
        if value is not None and not MIN_LIMIT <= value <= MAX_LIMIT:
            raise EvaluationError(_("The limit must be between 0.5 (chance) and 1. At 1, the gate never blocks."))
    changes = {}
    if limit != project.blind_bar:
        changes["project"] = [project.blind_bar, limit]
        project.blind_bar = limit
        project.save(update_fields=["blind_bar"])
    for pk, value in of_subtests.items():
        row = rows[pk]
        if row.blind_bar != value:
            changes[row.name] = [row.blind_bar, value]
            row.blind_bar = value
            row.save(update_fields=["blind_bar"])
    if changes:
        audit.record(audit.event(project, person, "evaluation.set_blind_bars", project, changes=changes))
