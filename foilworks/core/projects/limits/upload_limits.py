"""Limit the size of a request before its body is read, so that nobody fills the disk from a sign-in form."""

import math
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

from foilworks.core.projects.limits.pace import ADMITTED, CONTINUE, HEAD_ONLY, MIB, SMALL_BODY_BYTES
from foilworks.core.projects.limits.rate_limits import Limit, hit, is_exceeded, network_of
from foilworks.core.projects.limits.visitor_pages import upload_pages, visitor_pages
from foilworks.core.projects.tokens import token_of


class StrangersBodies:
    """Refuse large bodies of people who are not signed in, and too many requests of visitors, before a body is read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> HttpResponseBase | None:
        if request.META.get(ADMITTED):
            return None
        refusal = _refusal(request)
        return refusal if refusal or HEAD_ONLY not in request.META else HttpResponse(status=CONTINUE)


def _refusal(request: HttpRequest) -> HttpResponseBase | None:
    match = request.resolver_match
    name, space = (match.view_name, match.namespace) if match is not None else ("", "")
    page, n_bytes = visitor_pages().get(name), _announced_bytes(request)
    if page is not None and page.limit and request.method == "POST" and is_over(page.limit, network_of(request)):
        problem = _("Too many requests from your network. Try again in an hour.")
        return _problem(request, f"{problem} {page.advice}" if page.setting else problem, 429)
    if page is not None and page.setting and page.max_bytes < n_bytes < math.inf:
        problem = _("The file is larger than %(n)s MB.") % {"n": page.max_file_bytes // MIB}
        return _problem(request, f"{problem} {page.advice}", 413)
    if page is not None and page.setting:
        return None
    is_known = token_of(request) is not None if space == "api" else request.user.is_authenticated
    if is_known:
        is_fitting = n_bytes <= max(limit_of(request), settings.DATA_UPLOAD_MAX_MEMORY_SIZE) or n_bytes == math.inf
        return None if is_fitting else _problem(request, _("The request is too large for this page."), 413)
    if space == "api" and HEAD_ONLY not in request.META:
        # The API refuses it in its own shape, and reads nothing before.
        return None
    if name in upload_pages() and space != "api" and n_bytes:
        return redirect_to_login(request.get_full_path())
    if n_bytes <= SMALL_BODY_BYTES:
        return None
    return _problem(request, _("The request is too large for a visitor who is not signed in. Sign in first."), 413)


def is_over(limit: Limit, network: str) -> bool:
    """Count the request; a network beyond its limit costs no write."""
    return is_exceeded(limit, network) or not hit(limit, network)


def _problem(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    return render(request, "foilworks/problem.html", {"problem": problem, "status": status}, status=status)


def _announced_bytes(request: HttpRequest) -> float:
    """Bytes of the body; without end where no length is announced."""
    content_length = str(request.META.get("CONTENT_LENGTH") or 0)
    return math.inf if request.headers.get("Transfer-Encoding") or not content_length.isdigit() else int(content_length)


def texts_fit(request: HttpRequest) -> bool:
    """Return whether the texts of a form, without its files, are within the limit for strangers."""
    texts = (text for name, values in request.POST.lists() for text in (name, *values))
    return sum(map(len, texts)) <= SMALL_BODY_BYTES


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
    name = match.view_name if match is not None else ""
    page = visitor_pages().get(name)
    if page is not None and page.setting:
        return page.max_bytes
    upload_page = upload_pages().get(name) if request.user.is_authenticated else None
    return upload_page.max_bytes if upload_page is not None else MIB
