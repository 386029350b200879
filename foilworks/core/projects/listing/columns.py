"""Columns that a person chooses for the rows of a list; the address names them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.functional import Promise

# The parameter of an address that names a column; it may be repeated.
PARAMETER = "column"


@dataclass(frozen=True)
class Columns:
    """`labels`: of each column, by slug. `usual`: those by default. `from_address`: those that the address names."""

    labels: Mapping[str, str | Promise]
    usual: Sequence[str]
    from_address: Sequence[str] = ()

    @property
    def shown(self) -> Sequence[str]:
        return self.from_address or self.usual

    def choices(self) -> list[tuple[str, str | Promise, bool]]:
        """Return (slug, label, whether it is shown) of each column."""
        return [(slug, label, slug in self.shown) for slug, label in self.labels.items()]


def columns_of(labels: Mapping[str, str | Promise], usual: Sequence[str], data: QueryDict) -> Columns:
    """Return the columns that the address names; unknown names choose nothing, and the usual ones need no name."""
    named = data.getlist(PARAMETER)
    chosen = [slug for slug in labels if slug in named]
    return Columns(labels, usual, chosen if set(chosen) != set(usual) else ())
