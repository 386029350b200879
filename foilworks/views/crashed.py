"""The page of a crash. Whatever broke may be the database, the session or a context processor: it asks none of them."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def crashed(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`. The id is that of the answer's X-Request-ID and of the lines of the log."""
    return HttpResponse(render_to_string("500.html", {"request_id": getattr(request, "request_id", "")}), status=500)
