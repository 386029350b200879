"""Errors that a person can act on become a page that says so, never a 500."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from projects.errors import AccessDenied
from text.errors import ActionableError


class ActionableErrorMiddleware:
    """AccessDenied answers 403, any other ActionableError 400, each with its message; htmx gets the same."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, ActionableError):
            return None
        status = 403 if isinstance(error, AccessDenied) else 400
        return render(request, "foilworks/problem.html", {"problem": str(error), "status": status}, status=status)
