"""Measure the requests per second of one client at an endpoint of half a second, relative to four at a time.

    .venv/bin/python benchmarks/endpoints.py [--in-flight 64] [--frames 8] [--side 336] [--requests 1500]

The endpoint is a process of its own that waits and answers with log-probabilities. Each clip has its own frames,
encoded as JPEG, and two texts. Nothing is decoded or stored: this measures the client. Printed: requests per second
from the first answer to the last, the client's processor time per request and as a share of one processor, the max
number of requests that the endpoint saw at a time, and the same for the old fixed number of four (as many requests as
they take in the same time).
"""

import argparse
import asyncio
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")

import django  # noqa: E402 (the root must be on the path first)

django.setup()

import numpy as np  # noqa: E402

from evaluation.scoring.served.questions import Asking, questions  # noqa: E402
from evaluation.scoring.served.served_model import ServedModel  # noqa: E402
from foilworks.core.hub.adapters.chat_endpoint import ChatEndpoint, Endpoint, Patience  # noqa: E402
from foilworks.core.hub.interfaces import ChatRequest  # noqa: E402
from foilworks.core.media.decode_pool import DecodePool  # noqa: E402
from generation.instruction_models.cached_answers import Asking as StoredAsking  # noqa: E402
from generation.instruction_models.cached_answers import MemoryAnswers  # noqa: E402

BEFORE = 4
TEXTS = ("a man folds a red shirt", "a man folds a blue shirt")


def answer() -> bytes:
    """Return the whole reply: P(yes) .7, with alternatives."""
    rows = [{"token": token, "logprob": math.log(value)} for token, value in (("Yes", 0.7), ("No", 0.3))]
    choice = {
        "message": {"role": "assistant", "content": "Yes"},
        "finish_reason": "stop",
        "logprobs": {"content": [{**rows[0], "top_logprobs": rows}]},
    }
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 1}}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def serve(latency: float, told: Connection) -> None:
    """Answer every POST after `latency` seconds. Reports its port and, on request, the max number at a time."""
    reply, seen = answer(), {"now": 0, "most": 0}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                seen["now"] += 1
                seen["most"] = max(seen.values())
                await asyncio.sleep(latency)
                seen["now"] -= 1
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionResetError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**20)
        told.send(server.sockets[0].getsockname()[1])
        async with server:
            while not told.poll():
                await asyncio.sleep(0.05)
            told.recv()
        told.send(seen["most"])

    asyncio.run(run())


def requests(model: ServedModel, n: int, frames: int, side: int, pool: DecodePool) -> Iterator[tuple[int, ChatRequest]]:
    """Return n questions about n / 2 clips whose frames differ."""
    ramp = np.linspace(0, 255, side, dtype=np.uint8)
    base = np.broadcast_to(ramp[None, :, None, None] // 2 + ramp[None, None, :, None] // 2, (frames, side, side, 3))

    def shown(number: int) -> tuple[bytes, ...]:
        grain = np.random.default_rng(number).integers(0, 8, (frames, side, side, 3), np.uint8)
        return model.pictures(base + grain)

    for number, wait in pool.ahead(range(n // 2), shown, 8):
        for at, question in enumerate(questions(model.asking, TEXTS, wait())):
            yield 2 * number + at, question.request


def measured(in_flight: int, n: int, options: argparse.Namespace) -> dict[str, float]:
    """Measure one client with at most `in_flight` requests at a time."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(options.latency, there))
    server.start()
    chat = ChatEndpoint(Endpoint("stub", f"http://127.0.0.1:{here.recv()}/v1", "stub"), Patience(concurrency=in_flight))
    model = ServedModel(chat.info, Asking(), StoredAsking(chat, MemoryAnswers()), options.side)
    with DecodePool(1) as pool:
        # Images are created before the clock starts, like those of cached frames.
        asked = list(requests(model, n, options.frames, options.side, pool))
    sent = sum(len(image) for _, request in asked for image in request.images)
    began, used = time.perf_counter(), time.process_time()
    count = sum(1 for _ in model.stored.stream(asked))
    seconds, used = time.perf_counter() - began, time.process_time() - used
    assert count == n
    here.send("stop")
    most = here.recv()
    server.join()
    return {
        "requests/s": n / seconds,
        "CPU ms per request": 1000 * used / n,
        "share of a processor": used / seconds,
        "most at a time": most,
        "KB per JPEG frame": sent / n / options.frames / 1000,
        "MB/s sent": sent * 4 / 3 / seconds / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in-flight", type=int, default=64)
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--side", type=int, default=336)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--latency", type=float, default=0.5)
    options = parser.parse_args()
    now = measured(options.in_flight, options.requests, options)
    before = measured(BEFORE, max(2 * BEFORE, options.requests * BEFORE // options.in_flight // 4 * 2), options)
    for name, value in now.items():
        print(f"{name:>22}: {value:8.1f}   (4 at a time: {before[name]:.1f})")
    print(f"{'ratio':>22}: {now['requests/s'] / before['requests/s']:8.1f}")


if __name__ == "__main__":
    main()
