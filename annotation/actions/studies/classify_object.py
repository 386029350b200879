"""A researcher says why an extracted object was not seen."""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import checked_frame_for
from annotation.errors import AnnotationError
from annotation.models import CheckedFrame, ObjectError, ObjectErrorClass
from annotation.queries.object_checks import unseen_places
from annotation.transactions import run_in_transaction
from projects import audit
from projects.models import Project, Role, User


def classify_object(
    person: User, project: Project, frame_id: int, place: int, error_class: str, *, now: datetime | None = None
) -> ObjectError:
    """Class the object in `place` of the frame's list; another class takes the place of an earlier one.

    AnnotationError for an unknown class, and for an object that people saw or have not looked for.
    """
    if error_class not in ObjectErrorClass.values:
        raise AnnotationError(_("Choose one of: %(list)s.") % {"list": ", ".join(ObjectErrorClass.values)})
    return run_in_transaction(lambda: _class(person, project, frame_id, place, error_class, now or timezone.now()))


def _class(person: User, project: Project, frame_id: int, place: int, error_class: str, now: datetime) -> ObjectError:
    frame = checked_frame_for(person, project, frame_id, Role.RESEARCHER)
    CheckedFrame.objects.select_for_update(no_key=True).get(pk=frame.pk)
    if place not in unseen_places(frame):
        raise AnnotationError(_("People saw this object, or have not looked for it yet; there is nothing to class."))
    row, _made = ObjectError.objects.update_or_create(
        frame=frame,
        place=place,
        defaults={"error_class": error_class, "classed_by": person, "classed_at": now},
    )
    audit.record(audit.event(project, person, "class_object", row, to_state=error_class))
    return row
