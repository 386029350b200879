"""Draw the picture that messengers show beside a link to a release: its title and its waterfall, as PNG."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from evaluation.charts.of_reports import INK, LINE, QUIET, SHADES
from evaluation.charts.waterfall import Row, number_of, spans_of

# The size that Open Graph recommends.
WIDTH, HEIGHT = 1200, 630
MARGIN, TOP, FOOT = 60, 210, 590
ZERO, END = 60, 1140
MAX_TITLE = 48


def draw_preview(title: str, text: str, rows: Sequence[Row]) -> bytes:
    """Return a PNG of 1200 by 630 pixels; without rows, of the title and the text alone."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "#ffffff")
    pen = ImageDraw.Draw(image)
    pen.text((MARGIN, 50), _shortened(title, MAX_TITLE), INK, _font(48))
    pen.text((MARGIN, 125), _shortened(text, 2 * MAX_TITLE), QUIET, _font(25))
    step = (FOOT - TOP) / max(len(rows), 1)
    font = _font(26)
    for index, ((label, share, interval), (start, end, low, high)) in enumerate(zip(rows, spans_of(rows), strict=True)):
        y = TOP + step * index
        pen.text((ZERO, y), label, INK, font)
        # The font has no narrow space.
        pen.text((END, y), number_of(share, interval).replace("\u202f", " "), INK, font, anchor="ra")
        pen.line((ZERO, y + 58, END, y + 58), LINE, 1)
        pen.rectangle((_x(start), y + 42, max(_x(end), _x(start) + 4), y + 74), SHADES[0])
        pen.line((_x(low), y + 58, _x(high), y + 58), "#ffffff", 8)
        pen.line((_x(low), y + 58, _x(high), y + 58), INK, 3)
    out = BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return matplotlib's DejaVu Sans, which has Latin, Greek, Cyrillic and Arabic letters."""
    spec = find_spec("matplotlib")
    folder = Path(str(spec.origin)).parent if spec else Path()
    return ImageFont.truetype(folder / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf", size)


def _x(share: float) -> float:
    return ZERO + share * (END - ZERO)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
