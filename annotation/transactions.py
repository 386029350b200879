"""Run each write in one transaction, and repeat it after a conflict on a unique constraint."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.errors import AnnotationError, WorkRefused
from annotation.messages import REFUSALS
from annotation.rules.eligibility import Refusal
from foilworks.core.projects.models import Project, User
from foilworks.core.projects.sql.prepared_queries import Prepared

T = TypeVar("T")
ATTEMPTS = 3
_ROW = {
    model: Prepared(
        lambda pk, model=model: model.objects.select_for_update(no_key=True).filter(pk=pk).values_list("pk", flat=True)
    )
    for model in (User, Project)
}
MAX_KEY_LENGTH = 64
# PostgreSQL ended this writer in favour of another one: deadlock, serialization failure.
RETRYABLE_SQLSTATES = frozenset({"40P01", "40001"})


@dataclass(frozen=True)
class Refused:
    """The result of a write that the rules forbid, but that must still be stored: it frees the slot."""

    refusal: Refusal


def run_in_transaction(write: Callable[[], T | Refused]) -> T:
    """Run `write` in one transaction and return its result.

    If another row came first (one_vote_a_key and the like), the whole write runs again and finds that row. WorkRefused
    is raised after the commit, so that the freed slot stays freed.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic():
                result = write()
        except IntegrityError:
            if attempt == ATTEMPTS:
                raise
            continue
        except OperationalError as error:
            if attempt == ATTEMPTS or not was_rolled_back_by_the_database(error):
                raise
            continue
        if isinstance(result, Refused):
            raise WorkRefused(str(REFUSALS[result.refusal]), result.refusal)
        return result
    raise AssertionError("the last attempt returns or raises")


def was_rolled_back_by_the_database(error: OperationalError) -> bool:
    """Return whether the database ended the writer in favour of another: its write is undone and can be repeated."""
    return getattr(error.__cause__, "sqlstate", None) in RETRYABLE_SQLSTATES


def serialize_writes(owner: User | Project) -> None:
    """Make writes of one person, or of one project, wait for each other until the transaction ends.

    SQLite serializes all writers.
    """
    if connection.features.has_select_for_update:
        # The user of a request is a lazy object, whose type is not a model.
        _ROW[owner._meta.model].first(pk=owner.pk)


def lock_rows(rows: QuerySet) -> None:
    """Make other writers of these rows of one table wait until the transaction ends.

    Locks in the order of the keys, so that two writers of several rows do not deadlock. SQLite serializes all writers.
    """
    if connection.features.has_select_for_update:
        list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))


def checked_key(key: str) -> str:
    """Return the idempotency key, 1 to 64 characters, or raise AnnotationError."""
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise AnnotationError(_("The submission has no valid key. Reload the page and submit again."))
    return key
