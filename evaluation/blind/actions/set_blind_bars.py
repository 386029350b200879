"""How much a model may solve without the video before it stops a release: the project's bar, and a subtest's own."""

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from corpus.models import Subtest
from evaluation.errors import EvaluationError
from projects import audit
from projects.access import require_role
from projects.models import Project, Role, User

MIN_BAR, MAX_BAR = 0.5, 1.0


@transaction.atomic
def set_blind_bars(person: User, project: Project, bar: float, of_subtests: Mapping[int, float | None]) -> None:
    """`of_subtests`: id -> bar, None = the project's; subtests that are not named keep theirs.

    AccessDenied without the researcher's role; EvaluationError: a bar that is no share from .5 to 1, a subtest of
    another project.
    """
    require_role(person, project, Role.RESEARCHER)
    rows = {row.pk: row for row in Subtest.objects.filter(project=project, pk__in=of_subtests)}
    if len(rows) != len(of_subtests):
        raise EvaluationError(_("A subtest of another project has no bar here; reload the page."))
    for value in [bar, *of_subtests.values()]:
        if value is not None and not MIN_BAR <= value <= MAX_BAR:
            raise EvaluationError(_("A bar is a share from 0.5 (chance) to 1; at 1 nothing is ever stopped."))
    changes = {}
    if bar != project.blind_bar:
        changes["project"] = [project.blind_bar, bar]
        project.blind_bar = bar
        project.save(update_fields=["blind_bar"])
    for pk, value in of_subtests.items():
        row = rows[pk]
        if row.blind_bar != value:
            changes[row.name] = [row.blind_bar, value]
            row.blind_bar = value
            row.save(update_fields=["blind_bar"])
    if changes:
        audit.record(audit.event(project, person, "evaluation.set_blind_bars", project, changes=changes))
