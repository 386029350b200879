"""Charts inside a page: the drawing of a file, with the page's colors and fonts and without inline styles.

The content policy forbids `style` attributes, so each becomes presentation attributes. Each color also gets a class;
`components.css` gives it the color of the theme, light or dark. A print and a file keep the paper's.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from evaluation.cached_results.cache import SECONDS_IN_MEMORY, digest
from evaluation.charts.of_models import LINE_SHADES
from evaluation.charts.of_reports import BAND, INK, LINE, QUIET, SHADES, on_a_phone

PAPER = "#ffffff"
# Color of a drawing -> its name in a class.
NAMES = {color: f"chart-{number}" for number, color in enumerate(dict.fromkeys((*SHADES, *LINE_SHADES)), 1)}
NAMES |= {INK: "ink", QUIET: "ink-2", LINE: "line", BAND: "sunken", PAPER: "paper"}
# matplotlib writes every attribute in double quotes and escapes what would end a tag, in texts too.
TAG = re.compile(r'<(?P<name>[a-zA-Z][\w:]*)(?P<attributes>(?:\s+[\w:-]+="[^"]*")*)\s*(?P<end>/?)>')
ATTRIBUTE = re.compile(r'(?<![\w:-])([\w:-]+)="([^"]*)"')
REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Not drawn: what a file says of itself, and rules for every element of it. What is not closed goes to the end, so that
# no character is read twice.
DROPPED = re.compile(r"<!--.*?(?:-->|\Z)|<metadata>.*?(?:</metadata>|\Z)|<style.*?(?:</style>|\Z)", re.DOTALL)
# Charts stay in English, for papers.
ROOT = {
    "aria-hidden": "true",
    "focusable": "false",
    "translate": "no",
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
}
FIRST_KEY = "charts:2"
BOTH = '<div class="chart-wide">{}</div><div class="chart-narrow">{}</div>'


def cached_chart(name: str, draw: Callable[[], bytes], subject: Any) -> SafeString:
    """Return what `draw` draws for a page, and for a phone if that differs.

    A process draws a chart once: `name`, `subject` (JSON) say which it is.
    """
    key = f"{FIRST_KEY}:{name}:{digest(subject)}"
    drawing: SafeString | None = cache.get(key)
    if drawing is None:
        image = draw()
        with on_a_phone():
            narrow = draw()
        drawing = inline(image) if narrow == image else format_html(BOTH, inline(image), inline(narrow))
        cache.set(key, drawing, SECONDS_IN_MEMORY)
    return drawing


def inline(image: bytes) -> SafeString:
    """Return a drawing as markup for a page. The page adds the words: the SVG itself is hidden from screen readers."""
    text = image.decode()
    text = DROPPED.sub("", text[text.index("<svg") :])
    prefix, used = hashlib.sha256(image).hexdigest()[:8], _references(text)
    # matplotlib has escaped every name in it.
    return mark_safe(TAG.sub(lambda tag: _page_tag(tag, prefix, used), text))  # noqa: S308  # nosec


def _references(text: str) -> set[str]:
    """Return the ids that something in the drawing refers to."""
    return {*REFERENCE.findall(text), *re.findall(r'xlink:href="#([^"]+)"', text)}


def _page_tag(tag: re.Match[str], prefix: str, used: set[str]) -> str:
    """Return a tag without styles, with classes for its colors, and with the ids of this page that are needed."""
    attributes = dict(ATTRIBUTE.findall(tag["attributes"]))
    attributes |= _presentation(attributes.pop("style", ""))
    if tag["name"] == "text":
        attributes.setdefault("fill", INK)
        attributes.pop("font-family", None)
    if tag["name"] == "svg":
        attributes = {"viewBox": attributes["viewBox"], **ROOT}
    fill, stroke = (NAMES.get(attributes.get(name, "")) for name in ("fill", "stroke"))
    classes = [*([f"fill-{fill}"] if fill else []), *([f"stroke-{stroke}"] if stroke else [])]
    if classes:
        attributes["class"] = " ".join(classes)
    if attributes.get("id") not in used:
        attributes.pop("id", None)
    for name, value in attributes.items():
        if name == "id":
            attributes[name] = f"{prefix}-{value}"
        elif name == "xlink:href":
            attributes[name] = f"#{prefix}-{value.removeprefix('#')}"
        elif "url(#" in value:
            attributes[name] = REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{tag['name']}{written}{tag['end']}>"


def _presentation(style: str) -> dict[str, str]:
    """Return the declarations of a `style` attribute as attributes."""
    pairs = (declaration.partition(":") for declaration in style.split(";") if declaration.strip())
    return {name.strip(): value.strip() for name, _colon, value in pairs}
