"""A real HTTP server on this machine that speaks the chat protocol, well or badly, and counts what it was asked."""

import hashlib
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Said:
    """What the server answers: a status with headers and a body, after a while."""

    body: Any = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0


def content(text: str, *, tokens: tuple[int, int] = (20, 5), reason: str = "stop") -> Said:
    """An answer in OpenAI's form."""
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return Said({"choices": [choice], "usage": usage, "model": "tiny-2026-01-01"})


def likely(probabilities: dict[str, float], *, model: str = "tiny-2026-01-01") -> Said:
    """An answer of one token, with the probabilities of it and its alternatives."""
    rows = [{"token": token, "logprob": math.log(value)} for token, value in probabilities.items()]
    chosen = max(rows, key=lambda row: row["logprob"])
    said = content(str(chosen["token"])).body
    said["choices"][0]["logprobs"] = {"content": [{**chosen, "top_logprobs": rows}]}
    return Said({**said, "model": model})


def foils(*texts: str) -> Said:
    return content(json.dumps({"captions": list(texts)}))


def text_of(body: dict[str, Any]) -> str:
    """The words of the last message."""
    last = body["messages"][-1]["content"]
    return last if isinstance(last, str) else next(part["text"] for part in last if part["type"] == "text")


def pictures_of(body: dict[str, Any]) -> list[str]:
    """The data URLs of the last message."""
    last = body["messages"][-1]["content"]
    return [part["image_url"]["url"] for part in last if isinstance(part, dict) and part["type"] == "image_url"]


def asked_of(body: dict[str, Any]) -> str:
    """The words, the seed where one matters, and what was shown, in short."""
    pictures = "".join(pictures_of(body))
    shown = f" #{hashlib.sha256(pictures.encode()).hexdigest()[:12]} seed {body.get('seed')}" if pictures else ""
    return text_of(body) + shown


class Server:
    """`answer(body, n)`: what is said to the n-th request (from 1) about the same last message."""

    def __init__(self, answer: Callable[[dict[str, Any], int], Said]) -> None:
        self.answer = answer
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.asked: Counter[str] = Counter()
        self.paths: list[str] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()
        self.url = ""


@contextmanager
def chat_server(answer: Callable[[dict[str, Any], int], Said]) -> Iterator[Server]:
    server = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            last = asked_of(body)
            with server.lock:
                server.bodies.append(body)
                server.headers.append(dict(self.headers))
                server.paths.append(self.path)
                server.asked[last] += 1
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
                n = server.asked[last]
            answer = server.answer(body, n)
            time.sleep(answer.wait)
            with server.lock:
                server.at_once -= 1
            self._say(answer)

        def _say(self, said: Said) -> None:
            raw = said.body if isinstance(said.body, bytes) else None
            raw = (
                raw
                if raw is not None
                else (said.body if isinstance(said.body, str) else json.dumps(said.body)).encode()
            )
            try:
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The one who asked has given up.

        def do_GET(self) -> None:
            server.paths.append(self.path)
            self._say(Said("there", 200))

        def log_message(self, *args: Any) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        daemon_threads = True
        # As many as the tests send at once: five by default, and the rest are reset on a busy machine.
        request_queue_size = 128

    httpd = Listener(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{httpd.server_address[1]}/v1"
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
