"""Shares as the pages of selections print them."""

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """0.651 -> 65.1 %; a dash where there is no number."""
    return "–" if value is None else f"{100 * value:.1f} %"
