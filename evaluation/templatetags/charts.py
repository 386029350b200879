"""Template tags for charts and for intervals in the rows of tables."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.inclusion_tag("evaluation/_chart.html")
def chart(drawn: SafeString, alt: str, file: str = "", query: str = "") -> dict[str, Any]:
    """Show a chart of evaluation.charts.inline: `alt` says what it shows; `file` and `query` are the URL to save it."""
    return {"drawn": drawn, "alt": alt, "src": f"{file}?{query}" if query else file}


@register.inclusion_tag("evaluation/_interval_bar.html")
def interval_bar(value: float | None, bounds: Sequence[float] | None, chance: float | None = None) -> dict[str, str]:
    """Draw a share with its 95 % interval and chance on a line from 0 to 100 %; nothing without a value."""
    numbers = {"value": value, "chance": chance}
    if bounds:
        numbers |= {"low": bounds[0], "high": bounds[1]}
    # As text: a template would write a number with the decimal mark of the reader's language.
    return {name: f"{100 * number:.1f}" for name, number in numbers.items() if number is not None}
