"""A researcher lets a paused validator go on."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import validator_for
from annotation.actions.quality.standings import COUNTS, standing_of
from annotation.errors import AnnotationError
from annotation.models import Standing
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Project, User


def resume_validator(
    actor: User, project: Project, person_id: int, note: str = "", *, now: datetime | None = None
) -> Standing:
    """Paused -> active; the running counts begin anew, so that the same answers do not pause them again.

    AnnotationError where they are not paused.
    """
    return run_in_transaction(lambda: _resume(actor, project, person_id, note.strip(), now or timezone.now()))


def _resume(actor: User, project: Project, person_id: int, note: str, now: datetime) -> Standing:
    standing = standing_of(validator_for(actor, project, person_id), project)
    if standing.state != Standing.State.PAUSED:
        raise AnnotationError(_("This person is not paused."))
    standing.state, standing.counted_from = Standing.State.ACTIVE, now
    standing.paused_at = standing.paused_by = None
    standing.paused_why = standing.paused_note = ""
    for name in COUNTS:
        setattr(standing, name, 0)
    standing.save()
    audit.record(audit.event(project, actor, "resume", standing, from_state="paused", to_state="active", reason=note))
    return standing
