"""The chosen texts of studies and of multiple-choice items (docs/workflow.md#rule-5)."""

from collections.abc import Iterator

from annotation.models import Stage, Vote
from annotation.models.stages import CHOICES
from annotation.rules.baseline import CAPTION
from annotation.rules.choosing import parse_choice
from foilworks.site.invariants.violation import InvariantViolation, name_of, rows


def a_choice_is_one_of_the_texts_shown() -> Iterator[InvariantViolation]:
    choices = Vote.objects.filter(stage__in=CHOICES, source=Vote.Source.PERSON)
    yield from rows(choices.filter(choice="caption").exclude(foil=None), "chose the caption, but names a foil")
    yield from rows(choices.filter(foil=None).exclude(choice="caption"), "chose neither the caption nor a foil")
    for pk, foil, order, first in choices.values_list("pk", "foil", "order_shown", "caption_first").iterator():
        shown = order or []
        if (foil or CAPTION) not in shown or CAPTION not in shown or len(set(shown)) != len(shown):
            yield InvariantViolation(name_of(Vote, pk), "chose a text that was not shown")
        elif first != (shown[0] == CAPTION):
            yield InvariantViolation(name_of(Vote, pk), "has a position of the caption that differs from its order")


def a_judged_choice_is_one_of_the_texts_shown() -> Iterator[InvariantViolation]:
    """Check the validation of multiple-choice items: the chosen foil was shown, and the order is that of the pair."""
    votes = Vote.objects.filter(stage=Stage.VALIDATION, order_shown__isnull=False)
    columns = ("pk", "foil", "chosen_place", "choice", "order_shown", "caption_first")
    for pk, foil, place, choice, order, first in votes.values_list(*columns).iterator():
        if CAPTION not in order or foil not in order or len(set(order)) != len(order):
            yield InvariantViolation(name_of(Vote, pk), "lacks its caption or its foil in the order shown")
        elif first != (order.index(CAPTION) < order.index(foil)):
            yield InvariantViolation(name_of(Vote, pk), "has a position of the caption that differs from its order")
        elif parse_choice(order, place or choice) != (choice, place):
            yield InvariantViolation(name_of(Vote, pk), "has a choice that differs from the text at its place")
