"""Run a gunicorn worker that ends requests whose head or body arrives too slowly.

A thread reads one request at a time. A client that sends a byte now and then would hold it for ever, and a few such
clients would stop the site. `handle` and `handle_request` are gunicorn's; only this module overrides them.
"""

import socket
import threading
import time
from contextlib import suppress
from typing import Any

from gunicorn.workers.gthread import ThreadWorker

HEAD_SECONDS = 10.0
# A body may take this long, plus a time by its size: the rate of a slow phone line.
BODY_SECONDS = 20.0
BYTES_PER_SECOND = 16 * 1024
LOOK_SECONDS = 0.5


class Deadlines:
    """Sockets and the time by which their request must be complete; one thread per process checks them."""

    def __init__(self) -> None:
        self._until: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, name="deadlines", daemon=True).start()

    def set(self, sock: socket.socket, seconds: float) -> None:
        with self._lock:
            self._until[sock] = time.monotonic() + seconds

    def drop(self, sock: socket.socket) -> None:
        with self._lock:
            self._until.pop(sock, None)

    def _watch(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            now = time.monotonic()
            with self._lock:
                late = [sock for sock, until in self._until.items() if until <= now]
                for sock in late:
                    del self._until[sock]
            for sock in late:
                # The reader sees the end of the data; a response can still be sent.
                with suppress(OSError):
                    sock.shutdown(socket.SHUT_RD)


class DeadlineWorker(ThreadWorker):
    """gunicorn's threaded worker, with a deadline for the head of each request and one for its body."""

    def init_process(self) -> None:
        self.deadlines = Deadlines()
        super().init_process()

    def handle(self, conn: Any) -> Any:
        self.deadlines.set(conn.sock, HEAD_SECONDS)
        try:
            return super().handle(conn)
        finally:
            self.deadlines.drop(conn.sock)

    def handle_request(self, req: Any, conn: Any) -> Any:
        self.deadlines.set(conn.sock, seconds_for(length_of(req.headers)))
        return super().handle_request(req, conn)


def length_of(headers: list[tuple[str, str]]) -> int:
    """Return the announced length of the body in bytes; 0 if none is announced."""
    length = next((value for name, value in headers if name.upper() == "CONTENT-LENGTH"), "0")
    return int(length) if length.isdigit() else 0


def seconds_for(length: int) -> float:
    """Return how long a body of this many bytes may take."""
    return BODY_SECONDS + length / BYTES_PER_SECOND
