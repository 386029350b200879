"""Numbers as UTD's tables print them: points without a sign of percent, differences small beside them."""

from collections.abc import Sequence

from django import template

from evaluation.templatetags.numbers import DASH, from_to, written

register = template.Library()


@register.filter
def points(value: float | None) -> str:
    """0.6333 -> 63.3."""
    return DASH if value is None else written(f"{100 * value:.1f}")


@register.filter
def change(value: float | None) -> str:
    """-0.03 -> −3.0, as a difference in points."""
    return "" if value is None else written(f"{100 * value:+.1f}")


@register.filter
def span(bounds: Sequence[float] | None) -> str:
    """[0.58, 0.69] -> [58.0, 69.0] below its number."""
    return from_to(points(bounds[0]), points(bounds[1])) if bounds else ""


@register.filter
def change_span(bounds: Sequence[float] | None) -> str:
    """The interval of a difference."""
    return from_to(change(bounds[0]), change(bounds[1])) if bounds else ""
