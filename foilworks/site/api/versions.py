"""Serve `/api/v1/`, and the addresses without a version as an alias of it until they end."""

from collections.abc import Callable
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.utils.http import http_date

ROOT, UNVERSIONED = "/api/v1/", "/api/"
# The page for people, which no program reads.
DOCS = "/api/docs/"
DEPRECATED = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp())
SUNSET = http_date(datetime(2027, 12, 1, tzinfo=UTC).timestamp())


def is_unversioned(request: HttpRequest) -> bool:
    """Report whether the request came to an address without a version."""
    return hasattr(request, "unversioned")


class UnversionedAddresses:
    """Serve `/api/X` as `/api/v1/X`, with the headers Deprecation (RFC 9745) and Sunset (RFC 8594).

    It comes first: access, limits, logs and metrics then know one address.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        path = request.path_info
        if not path.startswith(UNVERSIONED) or path.startswith((ROOT, DOCS)):
            return self.get_response(request)
        request.unversioned = path
        request.path_info = ROOT + path.removeprefix(UNVERSIONED)
        request.path = request.path.removesuffix(path) + request.path_info
        response = self.get_response(request)
        response.headers["Deprecation"], response.headers["Sunset"] = f"@{DEPRECATED}", SUNSET
        response.headers["Link"] = f'<{request.path}>; rel="successor-version"'
        return response
