"""A researcher pauses a validator."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import validator_for
from annotation.actions.quality import standings
from annotation.actions.quality.standings import standing_of
from annotation.errors import AnnotationError
from annotation.models import Standing
from annotation.rules.pausing import Reason
from annotation.transactions import run_in_transaction
from projects.models import Project, User


def pause_validator(
    actor: User, project: Project, person_id: int, note: str = "", *, now: datetime | None = None
) -> int:
    """Their open leases are freed and claims refused until a researcher resumes them; how many leases were freed.

    AnnotationError where they are paused already.
    """
    return run_in_transaction(lambda: _pause(actor, project, person_id, note.strip(), now or timezone.now()))


def _pause(actor: User, project: Project, person_id: int, note: str, now: datetime) -> int:
    standing = standing_of(validator_for(actor, project, person_id), project)
    if standing.state == Standing.State.PAUSED:
        raise AnnotationError(_("This person is paused already."))
    return standings.pause(standing, Reason.RESEARCHER, now, actor, note)
