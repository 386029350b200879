"""Draw the figures of an export, each from one of its tables, with its numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from evaluation.cached_results.cache import cached_by_fingerprint, digest
from evaluation.charts import of_models, of_reports, waterfall
from evaluation.ladder.wording import waterfall_rows
from evaluation.reports.charts_by_name import CHARTS
from evaluation.reports.pages import PAGES
from foilworks.core.corpus.models import Release
from foilworks.core.corpus.release_documents import Figure
from foilworks.version import __version__

Tables = Mapping[str, Any]
Rows = tuple[tuple[Any, ...], ...]
BOARD = (
    "place",
    "group",
    "model",
    "model_key",
    "protocol",
    "n",
    "P",
    "P_low",
    "P_high",
    "T",
    "T_low",
    "T_high",
    "P+T",
    "P+T_low",
    "P+T_high",
)


def figure_rows(tables: Tables, *, of_own: bool = True) -> dict[str, Rows]:
    """Return name of a figure -> its numbers, header first; figures without data are left out.

    `of_own`: some figures have numbers of their own (BEHIND); in older exports, they use the main table of their page.
    """
    behind = BEHIND if of_own else {}
    found: dict[str, Rows] = {}
    for kind, page in PAGES.items():
        if kind in tables and page.charts:
            for chart in page.charts:
                rows = behind.get(chart, page.rows)(tables[kind])
                found[f"{kind}-{chart}"] = tuple(map(tuple, rows))
    if "funnel" in tables:
        stages = tables["funnel"]["stages"]
        found["funnel"] = (("stage", "count"), *((row["name"], row["count"]) for row in stages))
    if "leaderboard" in tables:
        models = tables["leaderboard"]["models"]
        found["leaderboard"] = (BOARD, *(tuple(row[name] for name in BOARD) for row in models if row["n"]))
    if tables.get("ladder") and tables["ladder"]["overall"].get("parts"):
        needs = waterfall_rows(tables["ladder"])
        found["ladder"] = (("needs", "share", "low", "high"), *((label, share, *ci) for label, share, ci in needs))
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def _votes(data: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    rows = [("name", "choice", "votes", "share")]
    for row in data["subtests"]:
        total = sum(row["votes"].values())
        # A table that is read from its file can have a different order of fields.
        rows += [(row["name"], choice, n, n / total) for choice, n in sorted(row["votes"].items()) if total]
    return rows


# For charts that draw something other than the main table of their page.
BEHIND: Mapping[str, Callable[[Any], list[Any]]] = {"votes": _votes}


def figures_of(release: Release, tables: Tables) -> dict[str, Figure]:
    """Return every figure that the tables support, as SVG with its numbers."""
    return {name: Figure(partial(_stored, release, name, tables), rows) for name, rows in figure_rows(tables).items()}


def _stored(release: Release, name: str, tables: Tables) -> bytes:
    """Return the figure, drawn once for each content of its table: matplotlib needs 15 MB of a web process."""
    stored = cached_by_fingerprint(
        release.project,
        "figure",
        f"{release.pk}:{name}",
        digest([name, __version__, tables[name.partition("-")[0]]]),
        lambda: {"svg": _drawn(name, tables).decode()},
        in_memory=False,
    )
    return bytes(stored["svg"], "utf-8")


def _drawn(name: str, tables: Tables) -> bytes:
    if name in DRAWN:
        return DRAWN[name](tables)
    kind, _, chart = name.partition("-")
    return CHARTS[chart](tables[kind])


def _funnel(tables: Tables) -> bytes:
    return of_reports.funnel([(row["name"], row["count"]) for row in tables["funnel"]["stages"]])


def _leaderboard(tables: Tables) -> bytes:
    table = tables["leaderboard"]
    column, human = table["column"], table["human"]
    low, high = f"{column}_low", f"{column}_high"
    rows = [
        (row["model"], row[column], None if row[low] is None else [row[low], row[high]], row["group"] or 0)
        for row in table["models"]
        if row[column] is not None
    ]
    people = (human["T"], human["T_ci"]) if human and column == "T" else None
    chance = next((row[f"chance_{column}"] for row in table["models"] if row["n"]), None)
    return of_models.forest(rows, chance=chance, human=people, label=of_models.WITH_INTERVAL.format(column))


def _ladder(tables: Tables) -> bytes:
    return waterfall.draw(waterfall_rows(tables["ladder"]))


DRAWN: dict[str, Callable[[Tables], bytes]] = {"funnel": _funnel, "leaderboard": _leaderboard, "ladder": _ladder}
