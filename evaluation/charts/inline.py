"""Charts inside a page: the drawing of a file, with the page's colors and fonts and without inline styles.

The content policy forbids `style` attributes, so each becomes presentation attributes. A class stands beside each color
of a drawing; `components.css` gives it the color of the theme, light or dark. A print and a file keep the paper's.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe

from evaluation.cached_results.cache import SECONDS_IN_MEMORY, digest
from evaluation.charts.of_models import LINE_SHADES
from evaluation.charts.of_reports import BAND, INK, LINE, QUIET, SHADES

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
PAPER = "#ffffff"
# Color of a drawing -> its name in a class.
NAMES = {color: f"chart-{place}" for place, color in enumerate(dict.fromkeys((*SHADES, *LINE_SHADES)), 1)}
NAMES |= {INK: "ink", QUIET: "ink-2", LINE: "line", BAND: "sunken", PAPER: "paper"}
REFERENCE = re.compile(r"url\(#([^)]+)\)")
# Not drawn: what a file says of itself, and rules for every element of it.
DROPPED = {f"{{{SVG}}}metadata", f"{{{SVG}}}style"}
FIRST_KEY = "charts:1"


def cached_chart(name: str, draw: Callable[[], bytes], about: Any) -> SafeString:
    """Return what `draw` draws for a page. A process draws a chart once: `name` and `about` (JSON) say which it is."""
    key = f"{FIRST_KEY}:{name}:{digest(about)}"
    found = cache.get(key)
    if found is None:
        found = inline(draw())
        cache.set(key, found, SECONDS_IN_MEMORY)
    return mark_safe(found)  # noqa: S308 - serialized by ElementTree


def inline(image: bytes) -> SafeString:
    """Return a drawing as markup for a page. The page adds the words: the SVG itself is hidden from screen readers."""
    root = ElementTree.fromstring(image)  # noqa: S314 - our own drawing
    prefix = hashlib.sha256(image).hexdigest()[:8]
    used = _references(root)
    _clean(root, prefix, used)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"aria-hidden": "true", "stroke-linejoin": "round", "stroke-linecap": "butt", "focusable": "false"}
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return mark_safe(ElementTree.tostring(root, encoding="unicode"))  # noqa: S308 - serialized by ElementTree


def _references(root: ElementTree.Element) -> set[str]:
    """Return the ids that something in the drawing refers to."""
    found = set()
    for node in root.iter():
        for name, value in node.attrib.items():
            found.update(REFERENCE.findall(value))
            if name == f"{{{XLINK}}}href":
                found.add(value.removeprefix("#"))
    return found


def _clean(node: ElementTree.Element, prefix: str, used: set[str]) -> None:
    for child in [child for child in node if child.tag in DROPPED]:
        node.remove(child)
    attributes = node.attrib
    attributes |= _presentation(attributes.pop("style", ""))
    if node.tag == f"{{{SVG}}}text":
        attributes.setdefault("fill", INK)
        attributes.pop("font-family", None)
    classes = [f"{name}-{NAMES[attributes[name]]}" for name in ("fill", "stroke") if attributes.get(name) in NAMES]
    if classes:
        attributes["class"] = " ".join(classes)
    name = attributes.pop("id", None)
    if name in used:
        attributes["id"] = f"{prefix}-{name}"
    for key, value in attributes.items():
        if key == f"{{{XLINK}}}href":
            attributes[key] = f"#{prefix}-{value.removeprefix('#')}"
        elif "url(#" in value:
            attributes[key] = REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    for child in node:
        _clean(child, prefix, used)


def _presentation(style: str) -> dict[str, str]:
    """Return the declarations of a `style` attribute as attributes."""
    pairs = (part.partition(":") for part in style.split(";") if part.strip())
    return {name.strip(): value.strip() for name, _colon, value in pairs}
