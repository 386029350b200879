"""Format numbers as reports print them, in the reader's language; None is a dash, never 0 and never "None"."""

from collections.abc import Sequence

from django import template
from django.utils.formats import get_format
from django.utils.html import format_html

from evaluation.number_text import DASH, count, share, written

register = template.Library()
register.filter("share", share)
register.filter("count", count)
# A separator between two numbers that may contain commas.
BETWEEN = {".": ", ", ",": "; "}


def from_to(low: str, high: str, unit: str = "") -> str:
    """Format two numbers as an interval below their value."""
    between = BETWEEN.get(get_format("DECIMAL_SEPARATOR"), "; ")
    return format_html('<span class="ci">[{}{}{}]{}</span>', low, between, high, unit)


@register.filter
def shift(value: float) -> str:
    """Format a difference of shares in percentage points: 0.0279 as +2.79 pp."""
    return written(f"{100 * value:+.2f} pp")


@register.filter
def points(value: float) -> str:
    """Format a difference of shares as a number of percentage points, without a sign: 0.025 as 2.5."""
    return written(f"{100 * value:.1f}".removesuffix(".0"))


@register.filter
def of(value: int | None, total: int | None) -> str:
    """Format 466 of 624 as 74.7 %."""
    return DASH if value is None or not total else share(value / total)


@register.filter
def decimal(value: float | None, digits: int = 3) -> str:
    if value is None:
        return DASH
    text = f"{value:.{digits}f}"
    # A number that rounds to zero has no sign.
    return written(text if float(text) else text.lstrip("-"))


@register.filter
def interval(bounds: Sequence[float] | None, digits: int = 3) -> str:
    """Format [-0.04, 0.5] as [−0.040, 0.500] under its number; empty if there is none."""
    return from_to(decimal(bounds[0], digits), decimal(bounds[1], digits)) if bounds else ""


@register.filter
def share_interval(bounds: Sequence[float] | None, digits: int = 1) -> str:
    if not bounds:
        return ""
    low, high = (decimal(100 * bound, digits) for bound in bounds)
    return from_to(low, high, " %")


@register.filter
def shift_interval(bounds: Sequence[float] | None, digits: int = 1) -> str:
    """Format [-0.1, 0.2], a difference of shares, as [−10.0, 20.0] pp."""
    if not bounds:
        return ""
    low, high = (decimal(100 * bound, digits) for bound in bounds)
    return from_to(low, high, " pp")


@register.filter
def get(mapping: dict, key: str) -> object:
    """Return a value whose key a template cannot spell, such as `P+T`."""
    return mapping.get(key)


@register.filter
def wordlist(names: str) -> list[str]:
    """Split a literal into words, for loops."""
    return names.split()


@register.filter
def p_value(value: float | None) -> str:
    """Format 0.0004 as < .001; a dash without a test."""
    return DASH if value is None else written("< .001" if value < 0.001 else f"{value:.3f}".removeprefix("0"))
