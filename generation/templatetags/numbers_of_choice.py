"""Template filters for the pages of selections."""

from django import template

register = template.Library()


@register.filter
def percent(value: float | None) -> str:
    """Format a share: 0.651 -> 65.1 %; a dash without a number."""
    return "–" if value is None else f"{100 * value:.1f} %"
