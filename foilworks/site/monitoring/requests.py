"""The outermost middleware: give every request an id, count and time it, and limit who may load our responses."""

import logging
import time
from collections.abc import Callable
from functools import cache

from csp.constants import HEADER as POLICY_HEADER
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from foilworks.core.jobs.trace import valid_or_new_id, working_on
from foilworks.site.monitoring.metrics import count_request

HEADER = "X-Request-ID"
# Static files, unknown addresses and refused host names.
NO_ROUTE = "none"
logger = logging.getLogger("foilworks.requests")


class RequestMiddleware:
    """Put the request's id into the response, the log lines and the jobs that it starts."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started, request_id = time.perf_counter(), valid_or_new_id(request.headers.get(HEADER, ""))
        # Django logs refused requests after this middleware; those lines need the request, too.
        request.request_id = request_id
        with working_on(request_id):
            response = self.get_response(request)
            seconds = time.perf_counter() - started
            route = request.resolver_match.view_name if request.resolver_match else ""
            count_request(route or NO_ROUTE, request.method or "", response.status_code, seconds)
            # The route, not the address: the log must contain no entry links and invitations.
            logger.info("%s %s %s in %.0f ms", request.method, route or NO_ROUTE, response.status_code, 1000 * seconds)
        response.headers[HEADER] = request_id
        return response


class CrossOriginMiddleware:
    """Keep other sites from loading our responses, and our pages from camera, microphone and location."""

    RESOURCE_POLICY = "same-origin"
    PERMISSIONS = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", self.RESOURCE_POLICY)
        response.headers.setdefault("Permissions-Policy", self.PERMISSIONS)
        if "Cookie" in response.headers.get("Vary", ""):
            # Personal responses stay in no cache. Pages that may be cached set their own header.
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response


@cache
def content_policy() -> str:
    """Return the header's value: django-csp's middleware would put it together for each response."""
    return build_policy()


class ContentPolicyMiddleware:
    """Send the Content-Security-Policy of the settings, which is the same for all responses.

    Not with Django's own page about an error, which only developers see: it has scripts and styles in it.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not (settings.DEBUG and response.status_code in {404, 500}):
            response.headers.setdefault(POLICY_HEADER, content_policy())
        return response
