"""Template tag for charts."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

register = template.Library()


@register.inclusion_tag("evaluation/_chart.html")
def chart(drawn: SafeString, alt: str, file: str = "", query: str = "") -> dict[str, Any]:
    """Show a chart of evaluation.charts.inline: `alt` says what it shows; `file` and `query` are the URL to save it."""
    return {"drawn": drawn, "alt": alt, "src": f"{file}?{query}" if query else file}
