"""Limit the size of a request before its body is read, so that nobody fills the disk from a sign-in form."""

import math
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

SMALL = 1024 * 1024
# What nobody's sign-in, code or invitation comes near. It is read into memory, before anybody is known.
STRANGERS_MOST = 64 * 1024
TOO_LARGE_FILE = gettext_lazy(
    "The file is larger than %(n)s MB, the most that this page accepts. Upload a smaller file."
)
TOO_LARGE_AUDIT = gettext_lazy(
    "The file is larger than %(n)s MB. Run `foilworks audit FILE` on your own computer instead."
)


class StrangersBodies:
    """Refuse large bodies of people who are not signed in, unread. It is before everything that reads a form.

    The API asks for a token before it reads; public pages that take files have limits of their own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponse | None:
        match = request.resolver_match
        name, space = (match.view_name, match.namespace) if match is not None else ("", "")
        if name in settings.VISITOR_PAGES and limit_of(request) < _announced_bytes(request) < math.inf:
            words = TOO_LARGE_AUDIT if name == "audit" else TOO_LARGE_FILE
            return _too_large(request, words % {"n": getattr(settings, settings.VISITOR_PAGES[name]) // SMALL})
        if space == "api" or name in settings.VISITOR_PAGES or request.user.is_authenticated:
            return None
        if name in settings.UPLOAD_PAGES and _announced_bytes(request):
            # The web server passes these bodies on as they come: a stranger's is not read at all.
            return redirect_to_login(request.get_full_path())
        if _announced_bytes(request) <= STRANGERS_MOST:
            return None
        return _too_large(request, _("The request is too large for a visitor who is not signed in. Sign in first."))


def _too_large(request: HttpRequest, problem: str) -> HttpResponse:
    return render(request, "foilworks/problem.html", {"problem": problem, "status": 413}, status=413)


def _announced_bytes(request: HttpRequest) -> float:
    """Bytes of the body; without end where no length is announced."""
    content_length = str(request.META.get("CONTENT_LENGTH") or 0)
    return math.inf if request.headers.get("Transfer-Encoding") or not content_length.isdigit() else int(content_length)


def texts_fit(request: HttpRequest) -> bool:
    """Return whether the texts of a form, without its files, are within the limit for strangers."""
    texts = (text for name, values in request.POST.lists() for text in (name, *values))
    return sum(map(len, texts)) <= STRANGERS_MOST


class LimitedUploadHandler(FileUploadHandler):
    """First of the handlers; it keeps nothing. Files are for signed-in people on the pages that take them."""

    def handle_raw_input(
        self,
        input_data: Any,
        META: dict,  # noqa: N803 - Django names it so
        content_length: int,
        boundary: bytes,
        encoding: str | None = None,
    ) -> None:
        if content_length > limit_of(self.request):
            raise RequestDataTooBig("this request is larger than the page takes")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def limit_of(request: HttpRequest) -> int:
    """Return the maximum bytes of the request."""
    match = request.resolver_match
    if match is not None and match.view_name in settings.VISITOR_PAGES:
        # What stands around the file in the form is small.
        return getattr(settings, settings.VISITOR_PAGES[match.view_name]) + SMALL
    takes_files = match is not None and match.view_name in settings.UPLOAD_PAGES
    return settings.UPLOAD_MAX_BYTES if takes_files and request.user.is_authenticated else SMALL
