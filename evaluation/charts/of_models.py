"""Draw charts of leaderboards and analyses as SVG, in the style of evaluation.charts.of_reports.

Series differ in lightness and hatching or in the dashes of their line, so a greyscale print loses nothing; every bar
and point has its number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evaluation.charts.of_reports import (
    BAND,
    HATCHES,
    INK,
    LINE,
    QUIET,
    SHADES,
    beside,
    clear_of,
    legend_below,
    new_figure,
    number,
    percent,
    percent_axis,
    row_names,
    sheet,
    short,
    svg_of,
    tell,
    with_interval,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Interval = Sequence[float] | None
WITH_INTERVAL = "{}: share of correct items, with 95 % interval"
DASHES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
LINE_SHADES = (INK, "#6b7280", "#2c4a9e", "#9a5b12", "#7f8794")


def forest(
    rows: Sequence[tuple[str, float, Interval, int]],
    *,
    chance: float | None = None,
    human: tuple[float, Interval] | None = None,
    label: str = "",
    title: str = "",
) -> bytes:
    """Draw a point with its interval for each model, best first; chance and people as lines.

    `label`: what the shares are of. `rows` are (name, share, 95 % interval, group). Models of one group do not differ
    significantly and share a band.
    """
    figure, axes = new_figure(max(1, len(rows)), title, legend=chance is not None or human is not None)
    _bands(axes, [group for *_rest, group in rows])
    across = [line for line in (chance, human and human[0]) if line is not None]
    for row, (name, value, interval, _group) in enumerate(rows):
        low, high = interval or (value, value)
        axes.plot([low, high], [row, row], color=INK, linewidth=1.4, solid_capstyle="butt")
        (point,) = axes.plot([value], [row], marker="o", color=INK, markersize=5)
        tell(point, f"{name}: {with_interval(value, interval)}")
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
        start = clear_of(max(value, high), across)
        axes.annotate(
            percent(value, 1),
            (start, row),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=INK,
            fontsize=8.5,
            bbox=paper,
        )
    _lines(axes, chance, human)
    row_names(axes, [short(name) for name, *_rest in rows])
    axes.set_xlim(0, 1.12)
    percent_axis(axes, label)
    legend_below(axes)
    return svg_of(figure)


def _bands(axes: Axes, groups: Sequence[int]) -> None:
    """Draw a light band behind every second group."""
    for group in dict.fromkeys(groups):
        members = [row for row, row_group in enumerate(groups) if row_group == group]
        if group % 2 == 0:
            axes.axhspan(members[0] - 0.5, members[-1] + 0.5, color=BAND, zorder=0, linewidth=0)


def _lines(axes: Axes, chance: float | None, human: tuple[float, Interval] | None) -> None:
    if chance is not None:
        axes.axvline(chance, color=INK, linestyle=":", linewidth=1.4, label=f"chance {percent(chance, 1)}")
    if human is not None:
        value, interval = human
        if interval:
            axes.axvspan(*interval, color="#d5d3cd", alpha=0.6, linewidth=0)
        axes.axvline(value, color=INK, linestyle="--", linewidth=1.4, label=f"people {percent(value, 1)}")


def grouped(
    rows: Sequence[tuple[str, Mapping[str, tuple[float | None, Interval]]]],
    *,
    chance: float | None = None,
    chance_name: str = "chance",
    in_percent: bool = True,
    label: str = "",
    title: str = "",
) -> bytes:
    """Draw bars of several series side by side: `rows` are (name, {series: (value, interval)}); a missing value is left
    out.

    With more series than shades, shades repeat with a different hatching.
    """
    names = list(dict.fromkeys(name for _, values in rows for name in values))
    figure, axes = new_figure(max(1, round(len(rows) * max(1, 0.55 * len(names)))), title, legend=len(names) > 1)
    height = 0.8 / max(1, len(names))
    drawn = [bar for _, series in rows for bar in series.values() if bar[0] is not None]
    values = [end for value, interval in drawn for end in (value, *(interval or ()))]
    across = [] if chance is None else [chance]
    for column, name in enumerate(names):
        offset, legend_label = (column - (len(names) - 1) / 2) * height, name
        for row, (row_label, series) in enumerate(rows):
            value, interval = series.get(name, (None, None))
            if value is not None:
                bar = _bar(axes, row + offset, height, value, interval, column, legend_label, in_percent, across)
                value_text = with_interval(value, interval) if in_percent else number(value)
                tell(bar, f"{row_label}, {name}: {value_text}" if name else f"{row_label}: {value_text}")
                legend_label = ""
    if chance is not None:
        axes.axvline(chance, color=INK, linestyle=":", linewidth=1.4, label=f"{chance_name} {percent(chance, 1)}")
    row_names(axes, [short(row_name) for row_name, _ in rows])
    low, high = min([0.0, *values]), max([0.0, *values, chance or 0.0])
    # Where all is zero the axis has no scale of its own.
    high = high or 0.5
    axes.set_xlim(low * 1.2, 1.12 if in_percent and high > 0.5 else high * 1.25)
    if in_percent:
        percent_axis(axes, label, decimals=None)
    else:
        axes.set_xlabel(label, color=QUIET, fontsize=9)
        axes.tick_params(axis="x", colors=QUIET, labelsize=8.5)
        axes.grid(axis="x", color=LINE, linewidth=0.6)
    legend_below(axes)
    return svg_of(figure)


def _bar(
    axes: Axes,
    position: float,
    height: float,
    value: float,
    interval: Interval,
    column: int,
    label: str,
    in_percent: bool,
    across: Sequence[float],
) -> Artist:
    shade = SHADES[column % len(SHADES)]
    hatch = HATCHES[(column + column // len(SHADES)) % len(HATCHES)]
    (bar,) = axes.barh(
        position, value, height=height * 0.92, color=shade, hatch=hatch, edgecolor="white", label=label or None
    )
    end = value
    if interval:
        end = max(value, interval[1])
        for color, width in (("white", 3.4), (INK, 1.4)):
            axes.plot(list(interval), [position, position], color=color, linewidth=width, solid_capstyle="butt")
    text = percent(value, 1) if in_percent else number(value)
    beside(axes, clear_of(max(0.0, end), across), position, text, color=INK, fontsize=8.0)
    bar_of_value: Artist = bar
    return bar_of_value


Outline = tuple[str, Sequence[float], Sequence[float]]


def distributions(
    panels: Sequence[tuple[str, Sequence[Outline]]], *, label: str = "", one_scale: bool = False
) -> bytes:
    """Draw histograms as outlines, one panel per model: (model, [(kind, edges (b + 1,), shares (b,))]).

    Each panel has its own scale, because models have different units of score, unless `one_scale`; zero is marked.
    """
    height = 1.7 * max(1, len(panels)) + 0.8
    figure = sheet(height)
    kinds = list(dict.fromkeys(kind for _, outlines in panels for kind, *_ in outlines))
    every = figure.subplots(max(1, len(panels)), squeeze=False, sharex=one_scale)[:, 0]
    for axes, (name, outlines) in zip(every, panels, strict=False):
        axes.set_title(short(name), loc="left", color=INK, fontsize=10)
        for kind, edges, shares in outlines:
            index = kinds.index(kind)
            axes.stairs(
                list(shares),
                list(edges),
                color=LINE_SHADES[index % len(LINE_SHADES)],
                linestyle=DASHES[index % len(DASHES)],
                linewidth=1.7,
                label=kind,
            )
        axes.axvline(0.0, color=QUIET, linewidth=0.8)
        axes.set_ylim(bottom=0)
        axes.tick_params(colors=QUIET, labelsize=8.5)
        axes.yaxis.set_major_formatter(lambda value, _place: percent(value))
        axes.grid(axis="y", color=LINE, linewidth=0.6)
    every[-1].set_xlabel(label, color=QUIET, fontsize=9)
    legend_below(every[0])
    return svg_of(figure)


def histogram(edges: Sequence[float], counts: Sequence[int], *, label: str) -> bytes:
    """Draw counts between `edges` (one more than counts, positive, rising by a factor) on a logarithmic axis."""
    figure = sheet(2.4)
    axes = figure.subplots()
    axes.stairs(list(counts), list(edges), fill=True, color=SHADES[0], edgecolor="white")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _place: f"{value:g}")
    # Within one power of ten, the ticks between are the only ones; their usual labels are mathematics, not words.
    axes.xaxis.set_minor_formatter(lambda value, _place: f"{value:g}" if edges[-1] < 10 * edges[0] else "")
    axes.set_xlabel(label, color=QUIET, fontsize=9)
    axes.tick_params(colors=QUIET, labelsize=8.5)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", color=LINE, linewidth=0.6)
    return svg_of(figure)
