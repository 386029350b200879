"""How many requests a web process works on at a time: the others wait for a place, not for the interpreter."""

import threading
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.http.request import UnreadablePostError

# A body up to here is read before the request has a place: whoever sends it slowly keeps nobody waiting.
SMALL_BODY_BYTES = 65_536
LONGEST_WAIT_S = 1.0


class AdmissionMiddleware:
    """Threads that compete for Python's lock hand it over in the middle of their work: eight at once cost each request
    half as much processor time again. Threads are still needed for slow lines, so the work is bounded and they are not:
    an upload has its place only when what it sends is small, a download gives its place back before it is sent.

    Nobody waits for longer than LONGEST_WAIT_S: where slow pages hold all places, the rest go on beside them.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.REQUESTS_AT_WORK < 1:
            raise MiddlewareNotUsed
        self.get_response = get_response
        self.places = threading.BoundedSemaphore(settings.REQUESTS_AT_WORK)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            small = _read_small_body(request)
        except UnreadablePostError:
            return HttpResponseBadRequest()
        if not small or not self.places.acquire(timeout=LONGEST_WAIT_S):
            return self.get_response(request)
        try:
            return self.get_response(request)
        finally:
            self.places.release()


def _read_small_body(request: HttpRequest) -> bool:
    """False for what is too large to be read ahead. UnreadablePostError: the line broke."""
    length = request.headers.get("Content-Length") or "0"
    if not length.isdigit() or int(length) > SMALL_BODY_BYTES:
        return False
    _ = request.body
    return True
