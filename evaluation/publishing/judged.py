"""What people said of a release's items, for its public page: read from what its archive was made of, never computed.

A visitor's look starts no bootstrap. Nothing is shown where a vote or an item of it was withdrawn since.
"""

from dataclasses import dataclass
from typing import Any

from evaluation.cached_results.cache import find_data
from evaluation.publishing.archive import is_current
from evaluation.publishing.models import PublicPage

KINDS = ("validation", "agreement", "position")


@dataclass(frozen=True)
class Judged:
    """`rows`: those of the report of validation for the subtests of the release; `whole`: the row for all of them.

    `agreement`, `position`: those reports, None where nobody has voted in the project.
    """

    rows: list[dict[str, Any]]
    whole: dict[str, Any]
    agreement: dict[str, Any] | None
    position: dict[str, Any] | None


def judged_of(page: PublicPage, subtests: frozenset[str]) -> Judged | None:
    """Four queries. None without an archive that still holds, and where its items came without a validation."""
    if not is_current(page):
        return None
    abouts = {f"{page.release_id}:{kind}": kind for kind in KINDS}
    found = find_data(page.release.project, "exported", abouts)
    tables = {abouts[about]: data["table"] for about, data in found.items()}
    validation = tables.get("validation")
    if not validation:
        return None
    rows = [row for row in validation["subtests"] if row["name"] in subtests and row["n_valid"] is not None]
    if not rows:
        return None
    everything = {row["name"] for row in validation["subtests"]} == subtests
    whole = validation["overall"] if everything else rows[0] if len(rows) == 1 else _together(rows)
    return Judged(rows, whole, tables.get("agreement"), tables.get("position"))


def _together(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts add up; agreement does not."""
    added = {name: sum(row[name] or 0 for row in rows) for name in ("n_items", "n_valid", "n_unanimous")}
    return {**added, "alpha_all": None, "alpha_all_ci": None, "js_all": None, "js_valid": None}
