"""Refuse a request whose body ends before its announced length, so that no text is stored in part."""

from collections.abc import Callable, Iterable
from typing import Any, BinaryIO

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class BodyCutShort(OSError):
    """The connection ended, or was ended, before the body was complete. Django answers 400."""


class WholeBody:
    """The input of WSGI as Django reads it. Raises BodyCutShort at an early end."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self.stream, self.left = stream, length

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        return self._count_bytes(data, is_short=len(data) < size)

    def readline(self, size: int) -> bytes:
        data = self.stream.readline(size)
        return self._count_bytes(data, is_short=len(data) < size and not data.endswith(b"\n"))

    def _count_bytes(self, data: bytes, *, is_short: bool) -> bytes:
        self.left -= len(data)
        if is_short and self.left > 0:
            raise BodyCutShort("the body of this request is incomplete; send the request again")
        return data


def with_whole_bodies(application: Application) -> Application:
    """Wrap a WSGI application. Bodies without an announced length (chunked) end by themselves."""

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or ""
        if length.isdigit() and int(length):
            environ["wsgi.input"] = WholeBody(environ["wsgi.input"], int(length))
        return application(environ, start_response)

    return wrapped
