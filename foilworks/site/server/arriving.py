"""Store what arrives on a connection until its request is complete, and tell which requests arrive too slowly."""

import re
import socket
import struct
import time
from collections import Counter
from collections.abc import Collection
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from gunicorn.http import get_parser
from gunicorn.http.errors import ParseException
from gunicorn.workers.gthread import TConn

from foilworks.core.projects.limits.pace import (
    BUFFER_BYTES,
    HEAD_SECONDS,
    MAX_UNFINISHED,
    MAX_UNFINISHED_PER_ADDRESS,
    MIN_BYTES_PER_SECOND,
    UNFINISHED_SECONDS,
    WINDOW_SECONDS,
)

CHUNK_BYTES = 64 * 1024
MAX_HEAD_BYTES = 64 * 1024
HEAD_END = b"\r\n\r\n"
EXPECT = re.compile(rb"\r\nexpect:[^\r\n]*", re.IGNORECASE)
HAS_BODY = re.compile(rb"\r\n(content-length|transfer-encoding):", re.IGNORECASE)
# What reading a head may raise.
UNREADABLE = (ParseException, LookupError, OSError, StopIteration, ValueError)
# `struct tcp_info` of Linux: bytes that the peer confirmed, bytes not yet sent, and segments that it has not confirmed.
TCP_INFO_BYTES, ACKED, NOT_SENT, UNCONFIRMED = 192, 120, 144, 24


class Refusal(Exception):
    """A request that ends with `status` before a thread takes it."""

    def __init__(self, status: str, words: str) -> None:
        super().__init__(words)
        self.status = status


class Pace:
    """The bytes of one transfer; the first window is free, then each one must bring the minimum rate."""

    def __init__(self, now: float, *, free_seconds: float = 0.0) -> None:
        self.since, self.n_bytes = now + free_seconds, 0

    def is_too_slow(self, now: float, n_bytes: int) -> bool:
        if now - self.since < WINDOW_SECONDS:
            return False
        slow = n_bytes - self.n_bytes < WINDOW_SECONDS * MIN_BYTES_PER_SECOND
        self.since, self.n_bytes = now, n_bytes
        return slow


class Arriving(TConn):
    """A connection whose request is being received. `worker` gets it back when its response is sent.

    The head is in `head` until it is complete; `data` has all bytes, on disk beyond BUFFER_BYTES. `total` is the bytes
    of head and body, None before the head is complete.
    """

    def __init__(self, worker: Any, sock: socket.socket, client: Any, server: Any) -> None:
        super().__init__(worker.cfg, sock, client, server)
        self.worker, self.started = worker, time.monotonic()
        self.head, self.n_bytes, self.length = b"", 0, 0
        # Closed with the connection.
        self.data = SpooledTemporaryFile(BUFFER_BYTES, dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115
        self.total: int | None = None
        self.lingers_until: float | None = None
        self.message: Any = None
        self.expects, self.is_counted, self.address = False, False, ""
        self.pace = Pace(self.started)

    @property
    def is_whole(self) -> bool:
        return self.total is not None and self.n_bytes >= self.total

    def add(self, chunk: bytes) -> bool:
        """Store what arrived; return whether it completed the head. Raises Refusal."""
        if self.total is not None:
            self._store(chunk)
            return False
        self.head += chunk
        end = self.head.find(HEAD_END)
        if end < 0 and len(self.head) > MAX_HEAD_BYTES:
            raise Refusal("431 Request Header Fields Too Large", "The head of this request is too large.")
        if end < 0:
            return False
        head, body = self.head[: end + len(HEAD_END)], self.head[end + len(HEAD_END) :]
        # The worker itself asks for the body, once.
        self.expects, head = bool(EXPECT.search(head)), EXPECT.sub(b"", head)
        self._store(head + body)
        self.total, self.pace = len(head), Pace(time.monotonic(), free_seconds=WINDOW_SECONDS)
        if HAS_BODY.search(head):
            self._read_head(head)
        return True

    def _store(self, chunk: bytes) -> None:
        try:
            self.data.write(chunk)
        except OSError as error:
            raise Refusal(
                "503 Service Unavailable", "The server cannot store this request. Try again later."
            ) from error
        self.n_bytes += len(chunk)

    def _read_head(self, head: bytes) -> None:
        # Models can be imported only after the pages are loaded.
        from foilworks.core.projects.limits.rate_limits import network_of

        try:
            self.message = next(get_parser(self.cfg, iter([head]), self.client))
        except UNREADABLE:
            # Gunicorn reads it again in a thread, and answers its fault.
            return
        headers = {f"HTTP_{name.replace('-', '_')}": value for name, value in self.message.headers}
        if "HTTP_TRANSFER_ENCODING" in headers:
            raise Refusal("411 Length Required", "Send the length of the body (Content-Length).")
        self.length = int(headers["HTTP_CONTENT_LENGTH"])
        self.total = len(head) + self.length
        request = HttpRequest()
        request.META = {**headers, "REMOTE_ADDR": self.client[0] if isinstance(self.client, tuple) else ""}
        self.address = network_of(request)

    def is_late(self, now: float) -> bool:
        """Return whether the head takes too long, or the body arrives too slowly."""
        if self.total is None:
            return now - self.started >= HEAD_SECONDS
        return self.pace.is_too_slow(now, self.n_bytes)

    def hand_over(self) -> None:
        """Let gunicorn's parser read what has arrived."""
        self.data.seek(0)
        self.parser = get_parser(self.cfg, iter(partial(self.data.read, CHUNK_BYTES), b""), self.client)
        self.data_ready, self.pace = True, Pace(time.monotonic())

    def reads_too_slowly(self, now: float) -> bool:
        """Return whether a response waits for a client that takes less than the minimum rate; only Linux tells it."""
        try:
            info = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
            acked = struct.unpack_from("=Q", info, ACKED)[0]
            waits = any(struct.unpack_from("=I", info, offset)[0] for offset in (NOT_SENT, UNCONFIRMED))
        except (AttributeError, OSError, struct.error):
            return False
        if not waits:
            self.pace.since, self.pace.n_bytes = now, acked
        return waits and self.pace.is_too_slow(now, acked)

    def close(self, graceful: bool = False) -> None:
        """Close the connection; `graceful`: once the client has read what was sent."""
        if graceful:
            self.worker.linger(self)
        else:
            self.data.close()
            super().close()


def too_many(arriving: Collection[Arriving], now: float) -> list[Arriving]:
    """Return the unfinished bodies beyond the limits per process and address, slowest first to go."""
    unfinished = [
        conn
        for conn in arriving
        if conn.total is not None and conn.lingers_until is None and now - conn.started >= UNFINISHED_SECONDS
    ]
    unfinished.sort(key=lambda conn: conn.n_bytes / (now - conn.started), reverse=True)
    per_address: Counter[str] = Counter()
    surplus = []
    for conn in unfinished:
        per_address[conn.address] += 1
        is_over = per_address[conn.address] > MAX_UNFINISHED_PER_ADDRESS
        if is_over or per_address.total() - len(surplus) > MAX_UNFINISHED:
            surplus.append(conn)
    return surplus
