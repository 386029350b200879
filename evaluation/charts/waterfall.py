"""Draw what the items of a benchmark need as a waterfall: SVG for pages and files, TikZ for papers.

Each bar starts where the one above it ends. Luck is a band at the left, before the zero of the axis. The drawing is
narrow, so that its letters are readable in a window of 360 pixels.
"""

from collections.abc import Sequence
from html import escape

from evaluation.charts.of_reports import BAND, INK, LINE, QUIET, SHADES, percent

# Label, share, 95 % interval: shares sum to 1.
Row = tuple[str, float, Sequence[float]]
TITLE, AXIS, LUCK = "What is needed to answer", "share of the items that these models solve", "luck"
# In pixels of the drawing.
WIDTH, TOP, PER_ROW, FOOT = 340, 26, 44, 40
ZERO, END = 44, 330


def number_of(share: float, interval: Sequence[float], decimals: int = 0) -> str:
    """Return 0.9 with (0.8, 1.0) as 90 % [80, 100]."""
    low, high = (f"{100 * bound:.{decimals}f}" for bound in interval)
    return f"{percent(share, decimals)} [{low}, {high}]"


def spans_of(rows: Sequence[Row]) -> list[tuple[float, float, float, float]]:
    """Return start and end of each bar and of its interval, on the axis of shares."""
    spans, start = [], 0.0
    for _label, share, (low, high) in rows:
        spans.append((start, start + share, max(0.0, min(start + low, 1.0)), min(start + high, 1.0)))
        start += share
    return spans


def _x(share: float) -> float:
    return round(ZERO + share * (END - ZERO), 1)


def draw(rows: Sequence[Row]) -> bytes:
    """Draw the waterfall as SVG."""
    height = TOP + PER_ROW * len(rows) + FOOT
    foot = height - FOOT
    parts = [
        _text(0, 14, TITLE, bold=True),
        f'<rect x="0" y="{TOP}" width="{ZERO}" height="{foot - TOP}" fill="{BAND}"/>',
        _text(ZERO / 2, (TOP + foot) / 2 + 4, LUCK, QUIET, "middle"),
    ]
    for share in (0.0, 0.5, 1.0):
        x, anchor = _x(share), "end" if share == 1.0 else "middle"
        parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{foot}" stroke="{LINE}" stroke-width="1"/>')
        parts.append(_text(x, foot + 14, percent(share), QUIET, anchor))
    parts.append(_text(END, foot + 31, AXIS, QUIET, "end"))
    for at, ((label, share, interval), (start, end, low, high)) in enumerate(zip(rows, spans_of(rows), strict=True)):
        y = TOP + PER_ROW * at
        bar = max(2.0, _x(end) - _x(start))
        middle = y + 30
        numbers = number_of(share, interval)
        parts += [
            _text(ZERO + 6, y + 15, label),
            _text(END, y + 15, numbers, anchor="end", bold=True),
            f"<g><title>{escape(f'{label}: {numbers}')}</title>{_bar(min(_x(start), END - 2), y + 22, bar)}</g>",
            f'<line x1="{_x(low)}" x2="{_x(high)}" y1="{middle}" y2="{middle}" stroke="#ffffff" stroke-width="4"/>',
            f'<line x1="{_x(low)}" x2="{_x(high)}" y1="{middle}" y2="{middle}" stroke="{INK}" stroke-width="1.6"/>',
        ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}{"".join(parts)}</svg>\n'.encode()


def _bar(x: float, y: float, width: float) -> str:
    return f'<rect x="{x}" y="{y}" width="{width:.1f}" height="16" fill="{SHADES[0]}"/>'


def _text(x: float, y: float, words: str, color: str = INK, anchor: str = "start", *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    font = f'font-family="sans-serif" font-size="12"{weight}'
    return f'<text x="{x}" y="{y}" fill="{color}" text-anchor="{anchor}" {font}>{escape(words)}</text>'


def tikz(rows: Sequence[Row]) -> str:
    """Draw the waterfall as a TikZ picture, 8 cm wide."""
    lines = [r"\begin{tikzpicture}[x=6.8cm,y=-1cm,font=\footnotesize]", rf"% {AXIS}"]
    lines.append(rf"\fill[black!8] (-0.16,0.05) rectangle (0,{len(rows)}.05);")
    lines.append(rf"\node[black!60] at (-0.08,{len(rows) / 2}) {{{LUCK}}};")
    for at, ((label, share, interval), (start, end, low, high)) in enumerate(zip(rows, spans_of(rows), strict=True)):
        numbers = number_of(share, interval).replace("%", r"\%").replace("\N{NARROW NO-BREAK SPACE}", r"\,")
        lines += [
            rf"\node[anchor=base west] at (0,{at}.35) {{{label}}};",
            rf"\node[anchor=base east] at (1,{at}.35) {{{numbers}}};",
            rf"\fill[blue!55!black] ({start:.4f},{at}.5) rectangle ({max(end, start + 0.005):.4f},{at}.85);",
            rf"\draw[white,line width=2pt] ({low:.4f},{at}.675) -- ({high:.4f},{at}.675);",
            rf"\draw ({low:.4f},{at}.675) -- ({high:.4f},{at}.675);",
        ]
    below = len(rows) + 0.1
    lines.append(rf"\draw[black!40] (0,0.05) -- (0,{below}) (1,0.05) -- (1,{below});")
    lines += [rf"\node[anchor=north] at ({x},{below}) {{{percent(x)[:-2]}\,\%}};" for x in (0.0, 0.5, 1.0)]
    return "\n".join([*lines, r"\end{tikzpicture}", ""])
