"""Serve files of a bias run: its splits as UTD publishes them, its predictions and tables, its charts."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from evaluation.charts.of_curves import shares_by_size
from evaluation.charts.of_reports import (
    HATCHES,
    INK,
    QUIET,
    SHADES,
    beside,
    legend_below,
    new_figure,
    row_names,
    short,
    svg_of,
    tell,
)
from evaluation.utd.models import BiasRun
from evaluation.utd.predictions import COLUMNS
from evaluation.utd.splits import as_utd
from foilworks.core.projects.access import or_404
from foilworks.core.text.storable import safe_row

# With more classes than this, the chart shows those that lost the most samples.
MAX_CLASSES = 60


FORMS = (("n", "full"), ("split", "UTD-split"), ("balanced", "UTD-split, balanced"))


def class_distribution(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw `rows`: {"class", "n", "split", "balanced"}: three bars per class, the largest class first."""
    by_loss = sorted(rows, key=lambda row: (row["split"] - row["n"], row["class"]))[:MAX_CLASSES]
    drawn_rows = sorted(by_loss, key=lambda row: (-row["n"], row["class"]))
    figure, axes = new_figure(2 * len(drawn_rows), "", legend=True)
    for column, (key, label) in enumerate(FORMS):
        positions = [row_index + (column - 1) * 0.27 for row_index in range(len(drawn_rows))]
        counts = [row[key] for row in drawn_rows]
        bars = axes.barh(
            positions, counts, height=0.25, color=SHADES[column], hatch=HATCHES[column], edgecolor="white", label=label
        )
        for bar, row, count in zip(bars, drawn_rows, counts, strict=True):
            tell(bar, f"{row['class']}, {label}: {count:,}")
        for position, count in zip(positions, counts, strict=True):
            beside(axes, count, position, f"{count:,}", color=INK)
    row_names(axes, [short(row["class"]) for row in drawn_rows])
    axes.set_xlim(0, 1.12 * max((row["n"] for row in drawn_rows), default=1))
    axes.set_xlabel("videos of the class", color=QUIET, fontsize=9)
    axes.tick_params(axis="x", colors=QUIET, labelsize=8.5)
    legend_below(axes)
    return svg_of(figure)


def learning_curve(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Draw a learning curve: accuracy of the whole part and of the nine models, and the share of removed samples."""
    lines = [
        (name, [(row["per_class"], row[key]) for row in rows])
        for key, name in (
            ("full", "accuracy, whole train split"),
            ("nine", "accuracy, mean of nine models"),
            ("biased", "object-biased samples"),
        )
    ]
    return shares_by_size(lines, label="max. train videos per class")


def answer(run: BiasRun, what: str, extension: str) -> HttpResponse:
    """Serve the file; Http404 if the run has no such file."""
    make = FILES.get((what, extension))
    content_and_type = or_404(make(run) if make else None, _("This run has no such file."))
    content, kind = content_and_type
    response = HttpResponse(content, content_type=kind)
    if extension == "svg":
        response.headers["Cache-Control"] = "private, no-cache"
    else:
        name = f"{run.project.slug}-{what}-{run.pk}.{extension}"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


Found = tuple[bytes, str] | None


def splits_json(run: BiasRun) -> Found:
    if not run.predictions or not (run.result or {}).get("split"):
        return None
    return _json(as_utd(run.result["split"], run.predictions["ids"], run.predictions.get("videos")))


def predictions_csv(run: BiasRun) -> Found:
    """Write predictions as `foilworks utd split --predictions` reads them."""
    stored = run.predictions
    if not stored or not stored["correct"]:
        return None
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    has_classes = stored["classes"] is not None
    writer.writerow(["sample", *(["class"] if has_classes else []), *COLUMNS, *(["confidence"] if has_classes else [])])
    for at, name in enumerate(stored["ids"]):
        row = [name, *([stored["classes"][at]] if has_classes else []), *stored["correct"][at]]
        writer.writerow(safe_row([*row, *([repr(stored["confidence"][at])] if has_classes else [])]))
    return out.getvalue().encode(), "text/csv; charset=utf-8"


def tables_json(run: BiasRun) -> Found:
    return _json(run.result) if run.result else None


def tables_csv(run: BiasRun) -> Found:
    if not (run.result or {}).get("common"):
        return None
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(["bias", "concept", "temporal", "value", "low", "high", "difference", "d_low", "d_high"])
    for kind in ("common", "dataset"):
        for row in run.result[kind] or ():
            for cell in row["cells"]:
                ci, own = cell["ci"] or ["", ""], cell["difference_ci"] or ["", ""]
                difference = "" if cell["difference"] is None else cell["difference"]
                numbers = [cell["value"], *ci, difference, *own]
                writer.writerow(safe_row([kind, row["concept"], cell["temporal"], *numbers]))
    return out.getvalue().encode(), "text/csv; charset=utf-8"


def classes_svg(run: BiasRun) -> Found:
    rows = ((run.result or {}).get("split") or {}).get("classes")
    return (class_distribution(rows), "image/svg+xml") if rows else None


def curve_svg(run: BiasRun) -> Found:
    rows = (run.result or {}).get("learning_curve")
    return (learning_curve(rows), "image/svg+xml") if rows else None


def _json(value: Any) -> Found:
    return json.dumps(value, ensure_ascii=False, indent=2).encode(), "application/json"


FILES: dict[tuple[str, str], Callable[[BiasRun], Found]] = {
    ("splits", "json"): splits_json,
    ("predictions", "csv"): predictions_csv,
    ("tables", "json"): tables_json,
    ("tables", "csv"): tables_csv,
    ("classes", "svg"): classes_svg,
    ("curve", "svg"): curve_svg,
}
