"""Serve a chat endpoint that takes a while per picture, in a process of its own: `python _chat_stub.py SECONDS`.

It prints its port. One loop keeps all connections open and reads no picture, so that its own processor time is small
beside that of a worker.
"""

import asyncio
import json
import sys

PICTURE = b'"image_url"'
_CHOICE = {"message": {"role": "assistant", "content": "1. a ball"}, "finish_reason": "stop"}
_USAGE = {"prompt_tokens": 20, "completion_tokens": 5}
BODY = json.dumps({"choices": [_CHOICE], "usage": _USAGE, "model": "tiny-2026-01-01"}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wait: float) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            asked = await reader.readexactly(length)
            # Only a text about a picture takes long: questions of an extractor have none.
            if PICTURE in asked:
                await asyncio.sleep(wait)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve(wait: float) -> None:
    server = await asyncio.start_server(lambda *streams: answer(*streams, wait), "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
