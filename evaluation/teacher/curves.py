"""The curves of trainings as SVG, as evaluation.charts draws: loss above, RCAD and standard R@1 below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evaluation.charts.of_models import DASHES, LINE_SHADES
from evaluation.charts.of_reports import INK, LINE, QUIET, percent, sheet, short, svg_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[int, float, float | None, float | None]
PANELS = ("loss", "RCAD R@1", "standard R@1")


def curves(trainings: Mapping[str, Sequence[Point]]) -> bytes:
    """{name: [(step, loss, RCAD R@1, standard R@1), …]} -> a panel a quantity, a line a training; what was not measured
    has no point."""
    every_point = [point for points in trainings.values() for point in points]
    shown = [at for at in range(len(PANELS)) if any(point[at + 1] is not None for point in every_point)]
    figure = sheet(1.9 * max(1, len(shown)) + 0.6)
    every = figure.subplots(max(1, len(shown)), squeeze=False, sharex=True)[:, 0]
    for axes, at in zip(every, shown, strict=False):
        _panel(axes, at, trainings)
    every[-1].xaxis.get_major_locator().set_params(integer=True)
    every[-1].set_xlabel("step", color=QUIET, fontsize=9)
    handles, labels = every[0].get_legend_handles_labels()
    if len(trainings) > 1:
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return svg_of(figure)


def _panel(axes: Axes, at: int, trainings: Mapping[str, Sequence[Point]]) -> None:
    for place, (name, points) in enumerate(trainings.items()):
        there = [(point[0], point[at + 1]) for point in points if point[at + 1] is not None]
        axes.plot(
            [step for step, _ in there],
            [value for _, value in there],
            label=short(name),
            linewidth=1.7,
            color=LINE_SHADES[place % len(LINE_SHADES)],
            linestyle=DASHES[place % len(DASHES)],
            marker="o" if len(there) < 30 else None,
            markersize=3,
        )
    axes.set_title(PANELS[at], loc="left", color=INK, fontsize=10)
    if at:
        axes.set_ylim(0, 1.02)
        axes.yaxis.set_major_formatter(lambda value, _place: percent(value))
    axes.tick_params(colors=QUIET, labelsize=8.5)
    axes.grid(axis="y", color=LINE, linewidth=0.6)
