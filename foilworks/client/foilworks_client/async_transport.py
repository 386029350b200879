"""Send requests of the API, with retries that do no harm."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx

from .errors import ApiError

ROOT = "/api/v1/"
# Requests that failed, or came too early, are sent again.
TRIES = 4
MAX_WAIT_S = 60.0
RETRIED = frozenset({429, 502, 503, 504})


class AsyncTransport:
    """A connection of one person. Reads are repeated if the connection breaks, and so are writes: each has an
    Idempotency-Key, so that a second copy changes nothing.
    """

    def __init__(
        self, base_url: str, token: str, *, timeout: float = 60.0, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "foilworks-client"}
        url = base_url.rstrip("/") + ROOT
        self.http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout, transport=transport)

    async def json(self, method: str, path: str, **request: Any) -> Any:
        """Return the JSON of the response, None without content."""
        response = await self.send(method, path, **request)
        return response.json() if response.content else None

    async def content(self, method: str, path: str, **request: Any) -> Any:
        """Return the JSON of a response with JSON, the bytes of any other."""
        response = await self.send(method, path, **request)
        return response.json() if "json" in response.headers.get("Content-Type", "") else response.content

    async def pages(self, path: str, *, params: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield every row of a list, page after page."""
        cursor: str | None = ""
        while cursor is not None:
            page = await self.json("GET", path, params={**(params or {}), **({"cursor": cursor} if cursor else {})})
            for row in page["items"]:
                yield row
            cursor = page["next"]

    async def lines(self, path: str, *, params: Mapping[str, Any] | None = None) -> AsyncIterator[Any]:
        """Yield the JSON of each line as the server streams it."""
        async with self.http.stream("GET", path, params=_given(params)) as response:
            if response.status_code >= httpx.codes.BAD_REQUEST:
                await response.aread()
                raise _error(response)
            async for line in response.aiter_lines():
                if line:
                    yield json.loads(line)

    async def send(
        self,
        method: str,
        path: str,
        *,
        key: str = "",
        body: Mapping[str, Any] | None = None,
        form: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Return the response; retry where that can help. `key`: of a write, empty for a new one.

        `form`: fields and files of an upload; a file is (name, bytes). ApiError: the server rejected the request.
        """
        headers = {} if method == "GET" else {"Idempotency-Key": key or secrets.token_urlsafe(24)}
        request: dict[str, Any] = {"headers": headers, "params": _given(params)}
        if form is not None:
            request["data"], request["files"] = _split(form)
        elif body is not None:
            request["json"] = body
        for attempt in range(1, TRIES + 1):
            is_last = attempt == TRIES
            try:
                response = await self.http.request(method, path, **request)
            except httpx.TransportError:
                if is_last:
                    raise
                await asyncio.sleep(0.2 * attempt)
                continue
            if response.status_code in RETRIED and not is_last:
                await asyncio.sleep(min(MAX_WAIT_S, float(response.headers.get("Retry-After") or 0.5 * attempt)))
                continue
            if response.status_code >= httpx.codes.BAD_REQUEST:
                raise _error(response)
            return response
        raise AssertionError("the last attempt returns or raises")


def _given(params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (params or {}).items() if value is not None}


def _split(form: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """Return the fields and the files of an upload; a list holds several files of one name."""
    data: dict[str, Any] = {}
    # An empty list would send no multipart request.
    files: list[tuple[str, Any]] = []
    for name, value in form.items():
        rows = value if isinstance(value, list) else [value]
        if rows and isinstance(rows[0], tuple):
            files += [(name, file) for file in rows]
        elif value is not None and value != []:
            data[name] = str(value).lower() if isinstance(value, bool) else value
    return data, files


def _error(response: httpx.Response) -> ApiError:
    """Return the error in the body (RFC 9457), or only the status if a server in between answers without JSON."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    errors = body.get("errors", ()) if isinstance(body, dict) else ()
    fields = {row["where"]: row["detail"] for row in errors}
    detail = body.get("detail") if isinstance(body, dict) else None
    return ApiError(response.status_code, detail or response.reason_phrase, fields)
