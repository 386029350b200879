"""How much a request may send: said before its body is read, so that nobody fills the disk from a sign-in form."""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest

SMALL = 1024 * 1024


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
    """Bytes that the request may send in all."""
    match = request.resolver_match
    if match is not None and match.view_name in settings.SUBMISSION_PAGES:
        # What stands around the file in the form is small.
        return settings.SUBMISSION_MAX_BYTES + SMALL
    takes_files = match is not None and match.view_name in settings.UPLOAD_PAGES
    return settings.UPLOAD_MAX_BYTES if takes_files and request.user.is_authenticated else SMALL
