"""The answers and error classes of object checks."""

from collections.abc import Iterator

from django.db.models import F, Q

from annotation.models import ObjectAnswer, ObjectError
from annotation.queries.object_checks import unseen_places
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows


def an_answer_is_about_every_object() -> Iterator[InvariantViolation]:
    answers = ObjectAnswer.objects.values_list("pk", "visible", "frame__objects_named")
    for pk, visible, objects in answers.iterator():
        if len(visible) != len(objects) or not all(isinstance(each, bool) for each in visible):
            yield InvariantViolation(name_of(ObjectAnswer, pk), "does not have an answer for every object of its frame")
    counted = ObjectAnswer.objects.filter(undone_at=None, slot__isnull=False)
    own = Q(slot__person=F("person"), slot__task__frame=F("frame"), slot__state="done")
    yield from rows(counted.exclude(own), "counts in a slot of another person")


def only_what_was_not_seen_has_a_class() -> Iterator[InvariantViolation]:
    for error in ObjectError.objects.select_related("frame").order_by("pk").iterator():
        if error.place not in unseen_places(error.frame):
            yield InvariantViolation(
                name_of(ObjectError, error.pk), "classifies an object that people saw, or did not look for"
            )
