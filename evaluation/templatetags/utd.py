"""Format numbers as in UTD's tables: points without a percent sign, with small differences next to them."""

from collections.abc import Sequence

from django import template

from evaluation.number_text import DASH, written
from evaluation.templatetags.numbers import from_to

register = template.Library()


@register.filter
def points(value: float | None) -> str:
    """Format 0.6333 as 63.3."""
    return DASH if value is None else written(f"{100 * value:.1f}")


@register.filter
def change(value: float | None) -> str:
    """Format -0.03 as −3.0, a difference in points."""
    return "" if value is None else written(f"{100 * value:+.1f}")


@register.filter
def span(bounds: Sequence[float] | None) -> str:
    """Format [0.58, 0.69] as [58.0, 69.0] below its number."""
    return from_to(points(bounds[0]), points(bounds[1])) if bounds else ""


@register.filter
def change_span(bounds: Sequence[float] | None) -> str:
    """Format the interval of a difference."""
    return from_to(change(bounds[0]), change(bounds[1])) if bounds else ""
