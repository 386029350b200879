"""Decide how a job ended by how much of its result is missing: done, partly done or failed."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.spread import Partly

# With a larger share of units without a result, a job is only partly done.
MAX_MISSING_SHARE = 0.1
EXAMPLES = 3


def outcome_of(n_units: int, n_missing: int, reasons: Iterable[str]) -> Partly | None:
    """Return None if a job of `n_units` is done although `n_missing` of them have no result, else partly done.

    The first of the `reasons` are part of the message. JobError: no unit has a result.
    """
    if n_missing <= MAX_MISSING_SHARE * n_units:
        return None
    why = "; ".join(islice(dict.fromkeys(reason for reason in reasons if reason), EXAMPLES)) or "no reason is known"
    if n_missing >= n_units:
        raise JobError(f"No result for any of {n_units}: {why}. Fix the cause, then retry.")
    return Partly(f"without a result: {n_missing}/{n_units} ({why})")


def reasons_of(problems: Mapping[str, Any]) -> Iterator[str]:
    """Yield the first reason of each list of problems, whose entries are {"item", "why"} or names of units."""
    for name, entries in problems.items():
        if isinstance(entries, list) and entries:
            first = entries[0]
            yield f"{name.replace('_', ' ')}: " + (
                f"{first['item']}: {first['why']}" if isinstance(first, Mapping) else str(first)
            )
