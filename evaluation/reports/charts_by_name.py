"""Draw the charts of the report pages, by name: report data in, SVG bytes out."""

from collections.abc import Callable
from typing import Any

from evaluation.blind.chart import solved_by_words
from evaluation.charts import of_curves, of_models, of_reports


def votes(data: dict[str, Any]) -> bytes:
    return of_reports.votes_by_choice([(row["name"], row["votes"]) for row in data["subtests"] if row["votes"]])


def words(data: dict[str, Any]) -> bytes:
    return of_reports.word_shifts(data["top_shifts"])


def numbers(data: dict[str, Any]) -> bytes:
    return of_models.grouped(
        [(row["group"], {"": (row["share"], None)}) for row in data["rows"]], label="share of all numbers"
    )


def verbs(data: dict[str, Any]) -> bytes:
    """Draw both sources side by side; a source without foils has no bar."""
    sources = [source for source, n in data["total"].items() if n]
    rows = [(row["verb"], {source: (row[source], None) for source in sources}) for row in data["rows"]]
    return of_models.grouped(rows[:MAX_VERBS], label="share of all verbs of a source")


def solved(data: dict[str, Any]) -> bytes:
    return solved_by_words(data["subtests"])


def saved(data: dict[str, Any]) -> bytes:
    curves = [(row["model"], [(point["lost"], point["saved"]) for point in row["curve"]]) for row in data["judges"]]
    return of_curves.saved_work([curve for curve in curves if curve[1]], max_loss=data["max_loss"])


MAX_VERBS = 20

CHARTS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "votes": votes,
    "words": words,
    "numbers": numbers,
    "verbs": verbs,
    "solved": solved,
    "saved": saved,
}
