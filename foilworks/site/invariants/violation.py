"""A row that breaks an invariant."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from django.db import models


class InvariantViolation(NamedTuple):
    """A violation.

    `row`: model and key, "annotation.vote 17"; `problem`: what is wrong with it.
    """

    row: str
    problem: str


Check = Callable[[], Iterator[InvariantViolation]]


def name_of(model: type[models.Model], pk: object) -> str:
    return f"{model._meta.label_lower} {pk}"


def rows(query: models.QuerySet, problem: str) -> Iterator[InvariantViolation]:
    """Yield one violation for each row of a query that should be empty."""
    for pk in query.order_by("pk").values_list("pk", flat=True).distinct().iterator():
        yield InvariantViolation(name_of(query.model, pk), problem)
