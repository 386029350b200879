"""Whose completion code is this? Asked by a researcher who has it from the platform."""

import hmac

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.access import crowd_study_for
from projects import audit, rate_limits
from projects.crowd_entry import code_of, refused
from projects.errors import TooManyTries
from projects.models import CrowdPlace, PlaceState, Project, User


def check_completion_code(actor: User, project: Project, study_id: int, code: str) -> CrowdPlace:
    """The completed place with this code, the last one where all have the same.

    Every code is compared, each in constant time. EntryRefused for a code that is none; TooManyTries after ten such in
    an hour.
    """
    study = crowd_study_for(actor, project, study_id)
    if rate_limits.is_exceeded(rate_limits.COMPLETION_CODE, study.pk):
        raise TooManyTries(_("Too many wrong codes for this study; wait an hour."))
    plain, found = code.strip().encode(), None
    for place in study.taken.filter(state=PlaceState.COMPLETED).select_related("study", "person").order_by("pk"):
        if hmac.compare_digest(code_of(place).encode(), plain):
            found = place
    if found is None:
        rate_limits.hit(rate_limits.COMPLETION_CODE, study.pk)
        raise refused(study, "code")
    with transaction.atomic():
        audit.record(audit.event(project, actor, "check_completion_code", found))
    return found
