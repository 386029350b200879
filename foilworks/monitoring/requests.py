"""The outermost middleware: names every request, counts it and its time, and says who may load what we answer."""

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from foilworks.monitoring.metrics import count_request
from jobs.trace import named, working_on

HEADER = "X-Request-ID"
logger = logging.getLogger("foilworks.requests")


class RequestMiddleware:
    """Answers carry the id of their request; lines of the log and jobs that come of it do, too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        started, request_id = time.perf_counter(), named(request.headers.get(HEADER, ""))
        # Django says what was refused when we are out of it again; its lines carry the request.
        request.request_id = request_id
        with working_on(request_id):
            response = self.get_response(request)
            seconds = time.perf_counter() - started
            route = request.resolver_match.view_name if request.resolver_match else ""
            count_request(route or "none", request.method or "", response.status_code, seconds)
            # The route and not the address: links of entry and invitations stand in no log.
            logger.info("%s %s %s in %.0f ms", request.method, route, response.status_code, 1000 * seconds)
        response.headers[HEADER] = request_id
        return response


class CrossOriginMiddleware:
    """Pages of others load none of our answers, and pages of ours use no camera, microphone or place."""

    RESOURCE_POLICY = "same-origin"
    PERMISSIONS = "camera=(), microphone=(), geolocation=(), payment=(), usb=()"

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cross-Origin-Resource-Policy", self.RESOURCE_POLICY)
        response.headers.setdefault("Permissions-Policy", self.PERMISSIONS)
        if "Cookie" in response.headers.get("Vary", ""):
            # What depends on who asks stays in no cache. Pages that may be kept say so themselves.
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
