"""Run a gunicorn worker that receives a whole request before a thread takes it.

A thread answers one request at a time. If it also waited for a client's bytes, a few slow clients would stop the site.
The overridden methods are gunicorn's; only this module overrides them.
"""

import errno
import selectors
import time
from concurrent.futures import Future
from contextlib import suppress
from socket import SHUT_RDWR, SHUT_WR, socket
from typing import Any

from gunicorn.http import wsgi
from gunicorn.workers.gthread import ThreadWorker

from foilworks.core.projects.limits.pace import ADMITTED, CONTINUE, HEAD_ONLY, SMALL_BODY_BYTES
from foilworks.site.server.arriving import CHUNK_BYTES, Arriving, Refusal, too_many

LOOK_SECONDS = 0.5
LINGER_SECONDS = 2.0
# Each has a file descriptor.
MAX_CONNECTIONS = 400
NO_CLIENT = (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK)


class ReceivingWorker(ThreadWorker):
    """gunicorn's threaded worker. Its event loop receives requests; threads answer them."""

    def init_process(self) -> None:
        self.arriving: set[Arriving] = set()
        self.answering: set[Arriving] = set()
        self.admitted: set[socket] = set()
        self.looked_at = 0.0
        super().init_process()

    def load_wsgi(self) -> None:
        """Tell the pages which requests they admitted by their head."""
        super().load_wsgi()
        application = self.wsgi

        def called(environ: dict[str, Any], start_response: Any) -> Any:
            environ[ADMITTED] = environ["gunicorn.socket"] in self.admitted
            return application(environ, start_response)

        self.wsgi = called

    def accept(self, listener: socket) -> None:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno not in NO_CLIENT:
                raise
            return
        if len(self.arriving) >= MAX_CONNECTIONS:
            self.end(min(self.arriving, key=lambda conn: conn.started))
        conn = Arriving(self, sock, client, listener.getsockname())
        self.wait_for(conn)
        # The request is usually here already.
        self.receive(sock, conn)

    def wait_for(self, conn: Arriving) -> None:
        conn.sock.setblocking(False)
        self.arriving.add(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, lambda sock: self.receive(sock, conn))

    def release(self, conn: Arriving) -> None:
        self.arriving.discard(conn)
        self.poller.unregister(conn.sock)

    def receive(self, sock: socket, conn: Arriving) -> None:
        """Read what has arrived. A large body waits for the pages to admit it by its head."""
        try:
            chunk = sock.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if conn.lingers_until is not None:
            if not chunk:
                self.end(conn)
            return
        try:
            if not chunk:
                raise Refusal("400 Bad Request", "The body of this request is incomplete; send the request again.")
            has_head = conn.add(chunk)
        except Refusal as refusal:
            self.refuse(conn, refusal)
            return
        if has_head and conn.length > SMALL_BODY_BYTES:
            self.hand_to_thread(conn, self.admit, self.after_admission)
        elif conn.is_whole:
            self.dispatch(conn)
        elif has_head:
            self.ask_for_body(conn)

    def ask_for_body(self, conn: Arriving) -> None:
        if conn.expects:
            with suppress(OSError):
                conn.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def dispatch(self, conn: Arriving) -> None:
        conn.hand_over()
        self.answering.add(conn)
        self.hand_to_thread(conn, self.handle, self.finish_request)

    def hand_to_thread(self, conn: Arriving, work: Any, callback: Any) -> None:
        self.release(conn)
        self.count(conn, is_counted=True)
        future = self.tpool.submit(work, conn)
        future.add_done_callback(lambda done: self.method_queue.defer(callback, conn, done))

    def count(self, conn: Arriving, *, is_counted: bool) -> None:
        """Count a connection that uses a thread; gunicorn accepts no more of them than there are threads."""
        self.nr_conns += is_counted - conn.is_counted
        conn.is_counted = is_counted

    def admit(self, conn: Arriving) -> bool:
        """Ask the pages, by the head alone, whether they take this body; send their refusal."""
        response, environ = wsgi.create(conn.message, conn.sock, conn.client, conn.server, self.cfg)
        is_admitted = False
        conn.sock.setblocking(True)

        def start_response(status: str, headers: list[tuple[str, str]], *details: Any) -> Any:
            nonlocal is_admitted
            is_admitted = status.startswith(str(CONTINUE))
            return None if is_admitted else response.start_response(status, headers, *details)

        response.force_close()
        answer = self.wsgi({**environ, HEAD_ONLY: True}, start_response)
        try:
            for chunk in () if is_admitted else answer:
                response.write(chunk)
        finally:
            answer.close()
        if not is_admitted:
            response.close()
        return is_admitted

    def after_admission(self, conn: Arriving, done: Future) -> None:
        self.count(conn, is_counted=False)
        error = done.exception()
        if error is not None:
            if not isinstance(error, OSError):
                self.log.error("Cannot admit a request", exc_info=error)
            conn.close()
        elif not done.result():
            self.linger(conn)
        else:
            self.admitted.add(conn.sock)
            self.wait_for(conn)
            if conn.is_whole:
                self.dispatch(conn)
            else:
                self.ask_for_body(conn)

    def finish_request(self, conn: Arriving, done: Future) -> None:
        self.answering.discard(conn)
        conn.is_counted = False
        super().finish_request(conn, done)

    def refuse(self, conn: Arriving, refusal: Refusal) -> None:
        body = f"{refusal}\n".encode()
        head = f"HTTP/1.1 {refusal.status}\r\nConnection: close\r\nContent-Type: text/plain\r\nRetry-After: 30\r\n"
        with suppress(OSError):
            conn.sock.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        self.release(conn)
        self.linger(conn)

    def linger(self, conn: Arriving) -> None:
        """Close when the client has, or soon: a connection that is closed with unread bytes loses its response."""
        self.count(conn, is_counted=False)
        conn.lingers_until = time.monotonic() + LINGER_SECONDS
        self.admitted.discard(conn.sock)
        conn.data.close()
        try:
            conn.sock.shutdown(SHUT_WR)
            self.wait_for(conn)
        except OSError:
            conn.close()

    def end(self, conn: Arriving) -> None:
        self.count(conn, is_counted=False)
        self.release(conn)
        self.admitted.discard(conn.sock)
        conn.close()

    def wait_for_and_dispatch_events(self, timeout: float) -> None:
        super().wait_for_and_dispatch_events(min(timeout, LOOK_SECONDS))
        now = time.monotonic()
        if now - self.looked_at >= LOOK_SECONDS:
            self.looked_at = now
            self.look(now)

    def look(self, now: float) -> None:
        """End what is too slow or too much."""
        for conn in list(self.arriving):
            if conn.lingers_until is not None:
                if now >= conn.lingers_until:
                    self.end(conn)
            elif conn.is_late(now):
                self.refuse(conn, Refusal("408 Request Timeout", "The request arrived too slowly. Send it again."))
            elif not self.alive:
                # A process that stops waits for what it counts.
                self.count(conn, is_counted=True)
        for conn in too_many(self.arriving, now):
            self.refuse(conn, Refusal("503 Service Unavailable", "Too many unfinished requests. Try again later."))
        for conn in list(self.answering):
            if conn.reads_too_slowly(now):
                with suppress(OSError):
                    conn.sock.shutdown(SHUT_RDWR)
