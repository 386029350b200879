"""The human baseline, object checks, and the balance of orders in a project (docs/workflow.md#rule-5)."""

from collections.abc import Iterator

from django.db.models import Count, F, Q

from annotation.models import ObjectAnswer, ObjectError, Stage, Vote
from annotation.queries.object_checks import unseen_places
from annotation.rules.baseline import CAPTION
from annotation.rules.choosing import parse_choice
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows

# With more standard errors from one half the orders are not balanced; with fewer votes the check says nothing.
FAR, MIN_CHOICES = 4.0, 100


def a_choice_is_one_of_the_texts_shown() -> Iterator[InvariantViolation]:
    choices = Vote.objects.filter(stage=Stage.BASELINE, source=Vote.Source.PERSON)
    yield from rows(choices.filter(choice="caption").exclude(foil=None), "chose the caption, but names a foil")
    yield from rows(choices.filter(foil=None).exclude(choice="caption"), "chose neither the caption nor a foil")
    for pk, foil, order, first in choices.values_list("pk", "foil", "order_shown", "caption_first").iterator():
        order_shown = order or []
        if (
            (foil or CAPTION) not in order_shown
            or CAPTION not in order_shown
            or len(set(order_shown)) != len(order_shown)
        ):
            yield InvariantViolation(name_of(Vote, pk), "chose a text that was not shown")
        elif first != (order_shown[0] == CAPTION):
            yield InvariantViolation(name_of(Vote, pk), "has a position of the caption that differs from its order")


def a_judged_choice_is_one_of_the_texts_shown() -> Iterator[InvariantViolation]:
    """Check the validation of multiple-choice items: the chosen foil was shown, and the order is that of the pair."""
    votes = Vote.objects.filter(stage=Stage.VALIDATION, order_shown__isnull=False)
    columns = ("pk", "foil", "chosen_place", "choice", "order_shown", "caption_first")
    for pk, foil, position, choice, order, first in votes.values_list(*columns).iterator():
        if CAPTION not in order or foil not in order or len(set(order)) != len(order):
            yield InvariantViolation(name_of(Vote, pk), "lacks its caption or its foil in the order shown")
        elif first != (order.index(CAPTION) < order.index(foil)):
            yield InvariantViolation(name_of(Vote, pk), "has a position of the caption that differs from its order")
        elif parse_choice(order, position or choice) != (choice, position):
            yield InvariantViolation(name_of(Vote, pk), "has a choice that differs from the text at its place")


def the_caption_stands_first_half_of_the_time() -> Iterator[InvariantViolation]:
    """Check over each project's own votes, late ones too, that the caption is first in about half."""
    # The order of an imported vote is its file's.
    votes = Vote.objects.filter(stage=Stage.VALIDATION, source=Vote.Source.PERSON, caption_first__isnull=False)
    columns = votes.values(project=F("item__subtest__project")).order_by("project")
    for row in columns.annotate(n=Count("pk"), first=Count("pk", filter=Q(caption_first=True))):
        far = FAR * (0.25 * row["n"]) ** 0.5
        if row["n"] >= MIN_CHOICES and abs(row["first"] - row["n"] / 2) > far:
            problem = f"showed the caption first in {row['first']} of {row['n']} judgements"
            yield InvariantViolation(f"projects.project {row['project']}", problem)


def an_answer_is_about_every_object() -> Iterator[InvariantViolation]:
    answers = ObjectAnswer.objects.values_list("pk", "visible", "frame__objects_named")
    for pk, visible, objects in answers.iterator():
        if len(visible) != len(objects) or not all(isinstance(is_visible, bool) for is_visible in visible):
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
