"""A server inside our own network, which nobody from outside should reach."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Receiver(HTTPServer):
    """`came`: the paths that were asked for; `location`: where it sends whoever asks."""

    def __init__(self, location: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.came: list[str] = []
        self.location = location

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.came.append(self.path)
        self.send_response(302 if self.server.location else 200)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 (its base class names it so)

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextmanager
def receiving(location: str = "") -> Iterator[Receiver]:
    with Receiver(location) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@contextmanager
def dripping(first: bytes, *, for_s: float = 6.0) -> Iterator[int]:
    """The port of one who answers with `first` and then, for so long, a letter now and again."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        thread = threading.Thread(target=_drip, args=(server, first, for_s))
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def _drip(server: socket.socket, first: bytes, for_s: float) -> None:
    # Whoever has had enough hangs up.
    with suppress(OSError), server.accept()[0] as connection:
        connection.sendall(first)
        until = time.monotonic() + for_s
        while time.monotonic() < until:
            time.sleep(0.02)
            connection.sendall(b"H")
