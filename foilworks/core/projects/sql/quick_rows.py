"""Models whose rows are built from the database without the general constructor."""

from collections.abc import Collection
from typing import Any, Self

from django.db.models import Model
from django.db.models.base import ModelState


class QuickRows(Model):
    """A model whose rows are built from the database by setting their fields at once.

    `Model.__init__` also serves rows that are made by hand: it looks for defaults, deferred fields and keywords of each
    field, and sends signals. No model of ours needs that of a row that exists, and a judgement reads twenty of them.
    """

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        """Return the row; fields that the query left out stay deferred."""
        row = cls.__new__(cls)
        row._state = ModelState()
        row._state.adding, row._state.db = False, db
        row.__dict__.update(zip(field_names, values, strict=True))
        return row
