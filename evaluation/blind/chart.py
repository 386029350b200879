"""Draw the blind audit: the solver before and after validation, with intervals, and the level of chance."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.charts.of_reports import (
    INK,
    QUIET,
    beside,
    clear_of,
    legend_below,
    new_figure,
    percent,
    percent_axis,
    row_names,
    short,
    svg_of,
    tell,
    with_interval,
)

# Filled and hollow, so that they differ in a greyscale print.
MARKS = (("before validation", "o", INK, -0.16), ("after validation", "s", "white", 0.16))
GUESSING = 0.5


def solved_by_words(rows: Sequence[Mapping[str, Any]], title: str = "") -> bytes:
    """Draw `rows` of the blind report: a point with its interval for each; the line at 50 % is guessing."""
    figure, axes = new_figure(max(1, len(rows)) * 2, title, legend=True)
    drawn_labels: set[str] = set()
    for row_index, row in enumerate(rows):
        for (label, marker, fill, offset), measured_row in zip(MARKS, (row, row.get("valid")), strict=True):
            if not measured_row or measured_row["solver_accuracy"] is None:
                continue
            at, value = row_index + offset, measured_row["solver_accuracy"]
            low, high = measured_row["ci"] or (value, value)
            axes.plot([low, high], [at, at], color=INK, linewidth=1.4, solid_capstyle="butt")
            (point,) = axes.plot(
                [value],
                [at],
                marker=marker,
                markerfacecolor=fill,
                markeredgecolor=INK,
                color=INK,
                markersize=6,
                linestyle="",
                label=None if label in drawn_labels else label,
            )
            drawn_labels.add(label)
            tell(point, f"{row['name']}, {label}: {with_interval(value, measured_row['ci'])}")
            beside(axes, clear_of(max(value, high), [GUESSING]), at, percent(value, 1), color=INK)
    axes.axvline(GUESSING, color=QUIET, linestyle=":", linewidth=1.4, label="guessing")
    row_names(axes, [short(f"{row['name']} (n = {row['n_items']:,})") for row in rows])
    axes.set_xlim(0, 1.12)
    percent_axis(axes, "right answers of the solver, with 95 % interval; n: items")
    legend_below(axes)
    return svg_of(figure)
