"""Charts of the report pages, by name: report data in, SVG bytes out."""

from collections.abc import Callable
from typing import Any

from evaluation import charts


def votes(data: dict[str, Any]) -> bytes:
    return charts.votes_by_choice([(row["name"], row["votes"]) for row in data["subtests"] if row["votes"]])


def words(data: dict[str, Any]) -> bytes:
    return charts.word_shifts(data["top_shifts"])


CHARTS: dict[str, Callable[[dict[str, Any]], bytes]] = {"votes": votes, "words": words}
