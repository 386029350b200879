"""Draw curves as SVG, of power, shares and screening, in the style of evaluation.charts.of_models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evaluation.charts.of_models import DASHES, LINE_SHADES
from evaluation.charts.of_reports import INK, LINE, QUIET, legend_below, percent, sheet, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of the axis of saved work: its end on both sides of 0 at least, and the space beyond the values.
LEAST, MARGIN = 0.04, 0.01

# The name of a line and its points.
Curve = tuple[str, Sequence[tuple[int, float]]]


def power_curves(curves: Sequence[Curve], *, target_power: float, items: int, label: str) -> bytes:
    """Draw a line per difference, (name, [(items, power)]), with the wanted power and the needed items."""
    figure, axes = _lines(curves, label)
    axes.axhline(target_power, color=QUIET, linewidth=0.8)
    axes.axvline(items, color=QUIET, linewidth=0.8)
    axes.annotate(
        f"{items:,}", (items, 0), xytext=(4, 4), textcoords="offset points", color=INK, fontsize=8.5, va="bottom"
    )
    axes.set_xlim(left=0)
    axes.set_ylabel("power", color=QUIET, fontsize=9)
    return svg_of(figure)


def shares_by_size(curves: Sequence[Curve], *, label: str) -> bytes:
    """Draw a line per share, (name, [(size, share)]), with a mark at each size; the sizes have a logarithmic axis."""
    figure, axes = _lines(curves, label, marker="o")
    axes.set_xscale("log", base=2)
    axes.set_xticks([], minor=True)
    axes.set_xticks(sizes := sorted({size for _name, points in curves for size, _share in points}))
    axes.set_xticklabels([f"{size:,}" for size in sizes])
    return svg_of(figure)


def _lines(curves: Sequence[Curve], label: str, marker: str = "") -> tuple[Figure, Axes]:
    """Draw shares (0 to 1) over a size, with the legend below."""
    figure = sheet(3.2)
    axes = figure.subplots()
    for index, (name, points) in enumerate(curves):
        axes.plot(
            [x for x, _y in points],
            [y for _x, y in points],
            color=LINE_SHADES[index % len(LINE_SHADES)],
            linestyle=DASHES[index % len(DASHES)],
            linewidth=1.7,
            marker=marker,
            markersize=4,
            label=name,
        )
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _place: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _place: percent(value))
    axes.set_xlabel(label, color=QUIET, fontsize=9)
    axes.tick_params(colors=QUIET, labelsize=8.5)
    axes.grid(color=LINE, linewidth=0.6)
    legend_below(axes)
    return figure, axes


def saved_work(curves: Sequence[tuple[str, Sequence[tuple[float, float]]]], *, max_loss: float) -> bytes:
    """Draw a line per model, (name, [(lost valid foils, saved work)]), with the loss that may be lost at most."""
    figure = sheet(3.0)
    axes = figure.subplots()
    for index, (name, points) in enumerate(curves):
        axes.plot(
            [x for x, _y in points],
            [y for _x, y in points],
            color=LINE_SHADES[index % len(LINE_SHADES)],
            linestyle=DASHES[index % len(DASHES)],
            linewidth=1.7,
            marker="o",
            markersize=3,
            label=name,
        )
    axes.axhline(0.0, color=QUIET, linewidth=0.8)
    values = [y for _name, points in curves for _x, y in points]
    # Differences that rounding hides are no curve.
    axes.set_ylim(min([-LEAST, *values]) - MARGIN, max([LEAST, *values]) + MARGIN)
    axes.axvline(max_loss, color=QUIET, linewidth=0.8)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _place: percent(value))
    axes.yaxis.set_major_formatter(lambda value, _place: percent(value))
    axes.set_xlabel("valid foils lost", color=QUIET, fontsize=9)
    axes.set_ylabel("work saved", color=QUIET, fontsize=9)
    axes.tick_params(colors=QUIET, labelsize=8.5)
    axes.grid(color=LINE, linewidth=0.6)
    legend_below(axes)
    return svg_of(figure)
