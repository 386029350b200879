"""Draw charts of the reports as SVG: plain data in, bytes out, the same bytes for the same data.

Bars differ in lightness and hatching, so greyscale prints and colour-blind readers lose nothing; every bar has its
number. Text remains text (searchable, in the reader's font). Pages show a chart as an image with an `alt` that contains
its numbers.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = {
    "svg.hashsalt": "foilworks",
    "svg.fonttype": "none",
    "font.family": ["sans-serif"],
    "font.size": 10,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}
INK, QUIET, LINE, BAND = "#1d2026", "#565b66", "#d5d3cd", "#efeeea"
# Dark to light, so that neighbours differ in grey as well.
SHADES = ("#2c4a9e", "#d98e2b", "#7f8794", "#b9c6ea", "#ecebe6")
HATCHES = ("", "///", "---", "\\\\\\", "")
TIP_ID = "tip:"
TIP = re.compile(rf'<g id="{TIP_ID}([^"]*)">'.encode())
MINUS, NARROW_SPACE = "\N{MINUS SIGN}", "\N{NARROW NO-BREAK SPACE}"
ROW = 0.42


@dataclass(frozen=True)
class Sheet:
    """The paper of a drawing: width in inches; letters of a row's name, of a line below the chart, of an axis label."""

    width: float
    name_letters: int
    legend_letters: int
    axis_letters: int


PAPER_SHEET = Sheet(7.2, 34, 92, 120)
# For a window of 360 pixels: there, 8.5 points are 11 pixels.
PHONE_SHEET = Sheet(3.5, 20, 40, 48)
_SHEET: ContextVar[Sheet] = ContextVar("the paper of the next drawing", default=PAPER_SHEET)
# In a chart of shares, as shares: the width of "100.0 %" next to a bar, and how close a line may be on its left.
LABEL_ROOM, LINE_ROOM = 0.11, 0.01
CHOICE_NAMES = {"cannot_tell": "cannot tell"}


def funnel(stages: Sequence[tuple[str, int]], title: str = "") -> bytes:
    """Draw a bar per stage, top to bottom: `stages` are (name, count)."""
    figure, axes = new_figure(len(stages), title)
    names, counts = [short(name) for name, _ in stages], [count for _, count in stages]
    bars = axes.barh(range(len(stages)), counts, color=SHADES[0], height=0.62)
    for bar, name, count in zip(bars, names, counts, strict=True):
        tell(bar, f"{name}: {count:,}")
    row_names(axes, names)
    first = max(counts, default=0)
    for row, count in enumerate(counts):
        share = f" ({percent(count / first)})" if row and first else ""
        beside(axes, count, row, f"{count:,}{share}", color=INK, fontsize=10)
    axes.set_xlim(0, max(1, first) * 1.25)
    axes.xaxis.set_visible(False)
    axes.spines["bottom"].set_visible(False)
    return svg_of(figure)


def votes_by_choice(rows: Sequence[tuple[str, Mapping[str, int]]], title: str = "") -> bytes:
    """Draw one stacked bar per subtest: the share of each choice among its votes; `rows` are (subtest, {choice:
    votes}).
    """
    figure, axes = new_figure(len(rows), title, legend=True)
    choices = list(dict.fromkeys(choice for _, votes in rows for choice in votes))
    starts = [0.0] * len(rows)
    for column, choice in enumerate(choices):
        shares = [votes.get(choice, 0) / max(1, sum(votes.values())) for _, votes in rows]
        shade, hatch = SHADES[column % len(SHADES)], HATCHES[column % len(HATCHES)]
        label = CHOICE_NAMES.get(choice, choice)
        bars = axes.barh(
            range(len(rows)), shares, left=starts, height=0.62, color=shade, hatch=hatch, edgecolor="white", label=label
        )
        for row, share in enumerate(shares):
            tell(bars[row], f"{rows[row][0]}, {label}: {percent(share, 1)} ({rows[row][1].get(choice, 0):,})")
            if share >= 0.06:
                _on_bar(axes, starts[row] + share / 2, row, percent(share), dark=column == 0)
        starts = [start + share for start, share in zip(starts, shares, strict=True)]
    row_names(axes, [f"{short(name)} (n = {sum(votes.values()):,})" for name, votes in rows])
    axes.set_xlim(0, 1)
    percent_axis(axes, "share of the counted votes; n: votes (several per item)")
    legend_below(axes)
    return svg_of(figure)


def word_shifts(shifts: Sequence[Mapping[str, Any]], title: str = "", top: int = 15) -> bytes:
    """Draw the shares of the most shifted words in captions and in foils: rows of `divergence.top_shifts`."""
    drawn_shifts = [shift for shift in shifts if shift["shift"]][:top]
    figure, axes = new_figure(len(drawn_shifts), title, legend=True)
    positions = range(len(drawn_shifts))
    for offset, key, label, column in ((-0.19, "caption_share", "captions", 0), (0.19, "foil_share", "foils", 1)):
        shares = [shift[key] for shift in drawn_shifts]
        bars = axes.barh(
            [position + offset for position in positions],
            shares,
            height=0.36,
            color=SHADES[column],
            hatch=HATCHES[column],
            edgecolor="white",
            label=label,
        )
        for bar, shift in zip(bars, drawn_shifts, strict=True):
            tell(bar, f"{shift['word']}, {label}: {percent(shift[key], 2)}")
    for position, shift in zip(positions, drawn_shifts, strict=True):
        most = max(shift["caption_share"], shift["foil_share"])
        beside(axes, most, position, _points(shift["shift"]), color=QUIET)
    row_names(axes, [short(shift["word"]) for shift in drawn_shifts])
    most = max([shift[key] for shift in drawn_shifts for key in ("caption_share", "foil_share")], default=0.0)
    axes.set_xlim(0, 1.15 * most or 1)
    percent_axis(axes, "share of all words in captions or foils; next to each bar: foils minus captions", decimals=None)
    legend_below(axes)
    return svg_of(figure)


def scores(rows: Sequence[tuple[str, Mapping[str, Any]]], title: str = "") -> bytes:
    """Draw T, P and P+T of each model with 95 % intervals and chance; `rows` are (name, a pairwise group)."""
    figure, axes = new_figure(2 * len(rows), title, legend=True)
    metrics = [metric for metric in ("T", "P", "P+T") if any(group[metric] is not None for _, group in rows)]
    height = 0.78 / max(1, len(metrics))
    for column, metric in enumerate(metrics):
        offset, legend_label = (column - (len(metrics) - 1) / 2) * height, metric
        for row, (_, group) in enumerate(rows):
            if group[metric] is not None:
                bar = _score_bar(axes, row + offset, height, group, metric, column, label=legend_label)
                tell(bar, f"{rows[row][0]}, {metric}: {with_interval(group[metric], group.get(f'{metric}_ci'))}")
                legend_label = ""
    row_names(axes, [f"{short(name)} (n = {group['n']:,})" for name, group in rows])
    axes.set_xlim(0, 1.12)
    percent_axis(axes, "share of correct items, with 95 % interval; n: number of items")
    legend_below(axes)
    return svg_of(figure)


def _score_bar(
    axes: Axes, position: float, height: float, group: Mapping[str, Any], metric: str, column: int, label: str
) -> Artist:
    value, chance = group[metric], group["chance"][metric]
    low, high = group.get(f"{metric}_ci") or (value, value)
    (bar,) = axes.barh(
        position,
        value,
        height=height * 0.92,
        color=SHADES[column],
        hatch=HATCHES[column],
        edgecolor="white",
        label=label or None,
    )
    cap, half = height / 5, height / 2
    # White under black: the line is visible on a dark bar and on paper.
    for color, width in (("white", 3.4), (INK, 1.4)):
        axes.plot([low, high], [position, position], color=color, linewidth=width, solid_capstyle="butt")
        for end in (low, high):
            axes.plot([end, end], [position - cap, position + cap], color=color, linewidth=width)
    axes.plot([chance, chance], [position - half, position + half], color="white", linewidth=3.0)
    axes.plot(
        [chance, chance],
        [position - half, position + half],
        color=INK,
        linestyle=":",
        linewidth=1.6,
        label="chance" if label and not column else None,
    )
    beside(axes, clear_of(max(value, high), [chance]), position, percent(value, 1), color=INK)
    bar_of_value: Artist = bar
    return bar_of_value


def clear_of(end: float, lines: Iterable[float]) -> float:
    """Return where a number next to `end` begins: right of the lines across the chart that would cross it."""
    for line in sorted(lines):
        if end - LINE_ROOM < line < end + LABEL_ROOM:
            end = max(end, line)
    return end


@cache
def _drawing() -> tuple[type[Any], type[Any]]:
    """Load matplotlib's figure and canvas with the first chart: every process imports charts, but few draw one.

    The settings are set once: a context manager per chart would change them for other threads of the web server.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    mpl.rcParams.update(STYLE)
    return Figure, FigureCanvasSVG


@contextmanager
def on_a_phone() -> Iterator[None]:
    """Draw for a window of 360 pixels: narrower, with shorter names."""
    token = _SHEET.set(PHONE_SHEET)
    try:
        yield
    finally:
        _SHEET.reset(token)


def sheet(height: float) -> Figure:
    """Return an empty drawing of the width of its paper, `height` inches high."""
    figure_class, canvas = _drawing()
    figure: Figure = figure_class(figsize=(_SHEET.get().width, height), layout="constrained")
    canvas(figure)
    return figure


def new_figure(rows: int, title: str, legend: bool = False) -> tuple[Figure, Axes]:
    figure = sheet(max(1.2, ROW * rows + 0.7 + (0.4 if legend else 0)))
    axes = figure.subplots()
    if title:
        axes.set_title(title, loc="left", color=INK, fontsize=11, fontweight="bold")
    return figure, axes


def row_names(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names, color=INK)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(LINE)
    axes.spines["bottom"].set_color(LINE)


def percent(share: float, decimals: int = 0) -> str:
    """Format 0.979 as 97.9 %, as on the pages."""
    return f"{100 * share:.{decimals}f}{NARROW_SPACE}%".replace("-", MINUS)


def with_interval(value: float, interval: Sequence[float] | None) -> str:
    """0.979 with (0.9, 1) -> 97.9 % (90.0 % to 100.0 %)."""
    around = f" ({percent(interval[0], 1)} to {percent(interval[1], 1)})" if interval else ""
    return f"{percent(value, 1)}{around}"


def number(value: float) -> str:
    return f"{value:.3f}".replace("-", MINUS)


def _points(shift: float) -> str:
    return f"{100 * shift:+.2f}{NARROW_SPACE}pp".replace("-", MINUS)


def percent_axis(axes: Axes, label: str = "", decimals: int | None = 0) -> None:
    """Label the axis of shares, with what they are shares of. Without `decimals`, as many as the ticks need."""
    if decimals is None:
        decimals = 1 if max(map(abs, axes.get_xlim())) < 0.1 else 0
    axes.xaxis.set_major_formatter(lambda value, _place: percent(value, decimals))
    axes.set_xlabel(textwrap.fill(label, _SHEET.get().axis_letters), color=QUIET, fontsize=9)
    axes.tick_params(axis="x", colors=QUIET, labelsize=8.5)
    axes.grid(axis="x", color=LINE, linewidth=0.6)


def legend_below(axes: Axes) -> None:
    """Put the legend below the chart, in as many columns as fit; a wider name is truncated."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles or axes.figure is None:
        return
    names = [_cut(label, PAPER_SHEET.name_letters) for label in labels]
    columns = max(1, min(6, len(names), _SHEET.get().legend_letters // (max(map(len, names)) + 6)))
    axes.figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def beside(axes: Axes, x: float, y: float, text: str, color: str, fontsize: float = 8.5) -> None:
    """Draw a number right of the end of its bar, in points: leading blanks vanish in SVG."""
    axes.annotate(text, (x, y), xytext=(5, 0), textcoords="offset points", va="center", color=color, fontsize=fontsize)


def _on_bar(axes: Axes, x: float, row: int, text: str, dark: bool) -> None:
    box = None if dark else {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
    axes.text(x, row, text, ha="center", va="center", color="white" if dark else INK, fontsize=8.5, bbox=box)


def short(name: str) -> str:
    return _cut(name, _SHEET.get().name_letters)


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else name[: letters - 1] + "…"


def svg_of(figure: Figure) -> bytes:
    out = io.BytesIO()
    is_narrow = _SHEET.get() is PHONE_SHEET
    for axes in figure.axes if is_narrow else ():
        if axes.get_xscale() == "linear":
            axes.locator_params(axis="x", nbins=3)
    with warnings.catch_warnings():
        # Text is written as text, so the reader's font draws letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        # Numbers next to bars need more of a narrow drawing than its axis leaves.
        box = "tight" if is_narrow else None
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches=box)
    return TIP.sub(rb"<g><title>\1</title>", out.getvalue())


def tell(artist: Artist, text: str) -> None:
    """Have an artist say `text` when it is pointed at: a `<title>` in the drawing."""
    artist.set_gid(f"{TIP_ID}{text}")
