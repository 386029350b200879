"""Files of a bias run: its splits as UTD publishes them, its predictions and tables, the class distribution."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from evaluation.utd.chart import class_distribution
from evaluation.utd.models import BiasRun
from evaluation.utd.predictions import COLUMNS
from evaluation.utd.stored_splits import as_utd
from projects.access import or_404
from text.csv_cells import safe_row


def answer(run: BiasRun, what: str, extension: str) -> HttpResponse:
    """Http404 where the run has no such file."""
    make = FILES.get((what, extension))
    found = or_404(make(run) if make else None, _("There is no such file of this run."))
    content, kind = found
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
    return _json(as_utd(run.result["split"], run.predictions["ids"]))


def predictions_csv(run: BiasRun) -> Found:
    """As `foilworks utd split --predictions` reads it."""
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
                writer.writerow([kind, row["concept"], cell["temporal"], cell["value"], *ci, difference, *own])
    return out.getvalue().encode(), "text/csv; charset=utf-8"


def classes_svg(run: BiasRun) -> Found:
    rows = ((run.result or {}).get("split") or {}).get("classes")
    return (class_distribution(rows), "image/svg+xml") if rows else None


def _json(value: Any) -> Found:
    return json.dumps(value, ensure_ascii=False, indent=2).encode(), "application/json"


FILES: dict[tuple[str, str], Callable[[BiasRun], Found]] = {
    ("splits", "json"): splits_json,
    ("predictions", "csv"): predictions_csv,
    ("tables", "json"): tables_json,
    ("tables", "csv"): tables_csv,
    ("classes", "svg"): classes_svg,
}
