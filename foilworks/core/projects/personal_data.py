"""What a table holds of people, declared beside each model and erased in one place (annotation/erasure).

A model with such data has an attribute `personal_data`. A model that names a person and has none keeps what was done
under the emptied account.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db import models


@dataclass(frozen=True)
class PersonalData:
    """`free_text`: columns in which people write about one another; JSON columns too. `json_text`: text that is JSON.

    `own_row`: the row belongs to `person` alone and is deleted. `works`: paths from the row to the projects whose
    results the person's work is part of. `archive`: path to the project whose public archive contains the free text.
    """

    free_text: tuple[str, ...] = ()
    json_text: tuple[str, ...] = ()
    own_row: bool = False
    person: str = "person"
    works: tuple[str, ...] = ()
    archive: str = ""


def declared() -> Iterator[tuple[type[models.Model], PersonalData]]:
    """Yield each model of the installed apps that declares personal data, with the declaration."""
    for model in apps.get_models():
        declaration = vars(model).get("personal_data")
        if isinstance(declaration, PersonalData):
            yield model, declaration


# (projects with work of the person, projects whose archives named the person) of an erasure that is being made.
Erased = Callable[[set[int], set[int]], object]
_CALLBACKS: list[Erased] = []


def on_erased(callback: Erased) -> None:
    """Have `callback` called in the transaction of each erasure; register it in the room's `hooks`."""
    _CALLBACKS.append(callback)


def notify_erased(worker_ids: set[int], archived: set[int]) -> None:
    for callback in _CALLBACKS:
        callback(worker_ids, archived)
