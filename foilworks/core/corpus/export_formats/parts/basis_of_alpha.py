"""Say which items alpha is measured on, if the number of votes depends on the votes."""

from collections.abc import Mapping
from typing import Any

IN_FULL = (
    "Pairs get no more votes once their votes have decided, so alpha is of the {n} of {of} items "
    "that were judged in full."
)
BIASED = "Pairs get no more votes once their votes have decided, and no item was judged in full, so alpha is too high."


def basis_of_alpha(row: Mapping[str, Any]) -> str:
    """Return the sentence for a row of the validation report; "" if all pairs collect all votes."""
    n = row.get("n_judged_in_full")
    if n is None:
        return ""
    return IN_FULL.format(n=n, of=row["n_items"]) if n else BIASED
