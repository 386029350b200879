"""Show what a benchmark needs: the sentence, the waterfall and its numbers, the same on every page."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from evaluation.charts import waterfall
from evaluation.charts.inline import cached_chart
from evaluation.ladder.wording import SELECTION_LABELS, benchmark_sentences, parts_label, waterfall_rows
from evaluation.metrics.need_evidence import MIN_LOOKS
from evaluation.scoring.models import Run
from evaluation.scoring.queries import SCORE_FILE
from evaluation.scoring.rungs import LOOKS


def needs_context(ladder: Mapping[str, Any]) -> dict[str, Any]:
    """Return a ladder of a release with what templates show of it."""
    headline, *notes = benchmark_sentences(ladder)
    rows = waterfall_rows(ladder)
    alt = "; ".join(f"{label}: {waterfall.number_of(share, ci)}" for label, share, ci in rows)
    return {
        **ladder,
        "headline": headline,
        "notes": notes,
        "alt": f"{headline} {alt}.",
        "chart": partial(cached_chart, "waterfall", partial(waterfall.draw, rows), rows) if rows else None,
        "labels": [parts_label(part["parts"]) for part in ladder["overall"]["parts"]],
        "groups": [*ladder["subtests"].items(), ("", ladder["overall"])],
        "evidence_rows": [
            (str(SELECTION_LABELS[need]).capitalize(), row) for need, row in ladder["evidence"]["needs"].items()
        ],
        "min_looks": MIN_LOOKS,
    }


def runs_without_looks(ladder: Mapping[str, Any]) -> list[Run]:
    """Return the models that are read and could be shown each item more often. One query."""
    leaders = [model["run"] for model in ladder["models"] if model["model"] in ladder["overall"]["leaders"]]
    runs = Run.objects.filter(pk__in=leaders).exclude(spec__startswith=SCORE_FILE)
    return [run for run in runs if run.params["ladder"].get("looks", 1) < LOOKS]
