"""Pages with a part that renews itself while a job is alive."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def render_live(request: HttpRequest, template: str, context: dict[str, Any], *, refresh: bool) -> HttpResponse:
    """Render the live part of a page; `refresh` makes the browser load the whole page again, once the job is over."""
    response = render(request, template, context)
    if refresh:
        response.headers["HX-Refresh"] = "true"
    return response
