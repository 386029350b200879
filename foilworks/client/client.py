"""Provide the client: one method per operation, with retries that do no harm."""

import json
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, Self

import httpx

from foilworks.client.errors import ApiError


@dataclass(frozen=True)
class Work:
    """A claimed task, as docs/reference/api.md describes it; times are ISO 8601.

    It has texts, edit, review or objects, as its stage requires.
    """

    token: str
    stage: str
    project: str
    task: int
    expires_at: str
    resumed: bool
    upcoming: str | None
    subtest: str | None
    guideline_version: int | None
    video: dict[str, Any]
    texts: list[str]
    edit: dict[str, Any] | None
    review: dict[str, Any] | None
    objects: list[str]
    frame_url: str | None


NAMES = frozenset(field.name for field in fields(Work))


def work_of(body: dict[str, Any]) -> Work:
    """Parse the JSON of a claim; ignore fields that a later version of the server adds."""
    return Work(**{name: value for name, value in body.items() if name in NAMES})


Json = dict[str, Any]
# Pauses before the retries of a request that failed or came too early.
TRIES = 4
MAX_WAIT_S = 60.0
AGAIN = frozenset({429, 502, 503, 504})
# Between two polls of an import: at first, at most, and as a share of the elapsed time.
POLL_SECONDS, POLL_SHARE = (0.1, 1.0), 0.08
OVER = frozenset({"done", "failed", "discarded"})
JOB_OVER = frozenset({"done", "partly", "failed", "cancelled"})


class Client:
    """A connection of one person.

    `transport`: httpx's, for tests. Reads are repeated if the connection breaks, and so are writes: each has an
    Idempotency-Key, so that a second copy changes nothing.
    """

    def __init__(
        self, base_url: str, token: str, *, timeout: float = 60.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {token}", "User-Agent": "foilworks.client"}
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=timeout, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    # Projects and people

    def me(self) -> Json:
        return self._json("GET", "/api/me")

    def projects(self) -> Iterator[Json]:
        return self.each("/api/projects")

    def create_project(self, slug: str, name: str = "", **fields: Any) -> Json:
        return self._json("POST", "/api/projects", body={"slug": slug, "name": name or slug, **fields})

    def members(self, project: str) -> Iterator[Json]:
        return self.each(f"/api/projects/{project}/members")

    def add_member(self, project: str, username: str, roles: Sequence[str], **fields: Any) -> Json:
        """Add a member.

        `new_account=True` creates the account, and with `with_token=True` a token: password and token are returned
        once.
        """
        return self._json(
            "POST", f"/api/projects/{project}/members", body={"username": username, "roles": list(roles), **fields}
        )

    def create_subtest(self, project: str, name: str, **rules: Any) -> Json:
        return self._json("POST", f"/api/projects/{project}/subtests", body={"name": name, **rules})

    # Content

    def import_file(
        self,
        project: str,
        kind: str,
        content: bytes,
        name: str = "records",
        *,
        videos: Mapping[str, bytes] | None = None,
        update: bool = False,
        timeout_s: float = 600.0,
        **fields: Any,
    ) -> Json:
        """Import a file of the format `kind`, wait until it is stored, and return counts and invalid records.

        `update`: change stored records that differ to the file's values; otherwise they are only counted. Raises
        ApiError if the file cannot be read, and TimeoutError if no worker stores it in time.
        """
        files: list[tuple[str, tuple[str, bytes]]] = [("records", (name, content))]
        files += [("videos", (video, data)) for video, data in (videos or {}).items()]
        data = {"format": kind, "at_once": str(not update).lower(), **fields}
        path = f"/api/projects/{project}/imports"
        upload = self._json("POST", path, data=data, files=files)
        if update:
            upload = self._waited(path, upload, {"ready", *OVER}, timeout_s)
        if upload["state"] == "ready":
            upload = self._json("POST", f"{path}/{upload['id']}/confirm", params={"update": "true"})
        return _result_of(self._waited(path, upload, OVER, timeout_s))

    def import_records(self, project: str, records: Iterable[Mapping[str, Any]], **fields: Any) -> Json:
        """Import records from memory, in the columns of `jsonl` (docs/reference/formats.md)."""
        lines = "".join(json.dumps(record) + "\n" for record in records)
        return self.import_file(project, "jsonl", lines.encode(), "records.jsonl", **fields)

    def items(self, project: str, **filters: Any) -> Iterator[Json]:
        return self.each(f"/api/projects/{project}/items", **filters)

    def tune(self, project: str, *, seed: int = 0, **params: Any) -> Json:
        """Tune a text-to-text model on the train captions; `folder` of `tuning` is then the `model` of a run."""
        return self._json("POST", f"/api/projects/{project}/tunings", body={"params": params, "seed": seed})

    def tuning(self, project: str, tuning: int) -> Json:
        return self._json("GET", f"/api/projects/{project}/tunings/{tuning}")

    def start_generation(self, project: str, subtest: int, method: str = "", **fields: Any) -> Json:
        """Start a run of the method, or of `recipe=`."""
        body = {"subtest": subtest, "method": method, **fields}
        return self._json("POST", f"/api/projects/{project}/runs", body=body)

    def candidates(self, project: str, run: int, **filters: Any) -> Iterator[Json]:
        return self.each(f"/api/projects/{project}/runs/{run}/candidates", **filters)

    def compose(self, project: str, subtest: int, random: str, hard: str = "", **fields: Any) -> Json:
        """Compose multiple-choice items from a subtest or a run of random captions, and one of hard foils."""
        body = {"subtest": subtest, "random": random, "hard": hard, **fields}
        return self._json("POST", f"/api/projects/{project}/choices", body=body)

    # Work

    def queues(self, project: str) -> list[Json]:
        return self._json("GET", f"/api/projects/{project}/queues")

    def claim(self, project: str, stage: str, *, after: Work | None = None) -> Work | None:
        """Claim the next task of the stage, or get the one you hold; None if none waits. `after`: the previous task."""
        params = {"after": after.upcoming} if after and after.upcoming else {}
        body = self._json("POST", f"/api/projects/{project}/queues/{stage}/claim", params=params)
        return work_of(body) if body else None

    def heartbeat(self, work: Work) -> str:
        """Extend the lease on the task; return its new end."""
        return self._json("POST", f"/api/work/{work.token}/heartbeat")["expires_at"]

    def submit(self, work: Work, **answer: Any) -> Json:
        """Submit the task once: `answer=` of a judgement, `texts=` of an edit, `decision=` of a review …"""
        return self._json("POST", f"/api/work/{work.token}/submit", body=answer, key=work.token)

    def submit_and_claim(self, work: Work, **answer: Any) -> tuple[Json, Work | None]:
        """Submit and claim the next task of the stage in one request; None if none waits."""
        path = f"/api/work/{work.token}/submit"
        body = self._json("POST", path, body=answer, key=work.token, params={"next": "true"})
        following = body.pop("next", None)
        return body, work_of(following) if following else None

    def skip(self, work: Work) -> None:
        self._json("DELETE", f"/api/work/{work.token}")

    def votes(self, project: str, **filters: Any) -> Iterator[Json]:
        """Yield all votes as the server streams them."""
        with self._http.stream("GET", f"/api/projects/{project}/votes/export", params=filters) as response:
            if response.status_code >= 400:
                response.read()
                raise _error(response)
            yield from (json.loads(line) for line in response.iter_lines() if line)

    # Results

    def report(self, project: str, kind: str, **params: Any) -> Json:
        return self._json("GET", f"/api/projects/{project}/reports/{kind}", params=params)

    def release(self, project: str, name: str = "", **fields: Any) -> Json:
        """Freeze all valid items; the same content returns the existing release. Waits for the job of a large one."""
        path = f"/api/projects/{project}/releases"
        frozen = self._json("POST", path, body={"name": name, **fields})
        if "job" not in frozen:
            return frozen
        frozen = self._ended(f"{path}/freeze", frozen)
        return self._json("GET", f"{path}/{frozen['release']}")

    def export(self, project: str, release: int, exporter: str = "foilworks") -> bytes:
        """Return the release as a zip. Waits for the job that writes a large one."""
        path = f"/api/projects/{project}/releases/{release}"
        response = self._send("POST", f"{path}/export/{exporter}")
        if response.status_code != httpx.codes.ACCEPTED:
            return response.content
        export = f"{path}/exports/{response.json()['id']}"
        self._ended(export, response.json())
        return self._send("GET", f"{export}/file", key=None).content

    def compute_report(self, project: str, kind: str, **params: Any) -> Json:
        """Start the job that computes a report of a large project; `report` then returns it."""
        return self._json("POST", f"/api/projects/{project}/reports/{kind}", params=params)

    def score(self, project: str, release: int, spec: str, **fields: Any) -> Json:
        return self._json("POST", f"/api/projects/{project}/releases/{release}/scoring", body={"spec": spec, **fields})

    def scoring(self, project: str, run: int) -> Json:
        return self._json("GET", f"/api/projects/{project}/scoring/{run}")

    def ladder(self, project: str, run: int) -> Json:
        """Return the score of a run with less and less of the clip."""
        return self._json("GET", f"/api/projects/{project}/scoring/{run}/ladder")

    def scores(self, project: str, run: int) -> Iterator[Json]:
        return self.each(f"/api/projects/{project}/scoring/{run}/scores")

    def add_webhook(self, project: str, url: str, events: Sequence[str]) -> Json:
        return self._json("POST", f"/api/projects/{project}/webhooks", body={"url": url, "events": list(events)})

    def rotate_webhook(self, project: str, pk: int, *, revoke: bool = False) -> Json:
        """Return the webhook with a new secret; the old one is valid for 24 hours more, unless `revoke`."""
        return self._json("POST", f"/api/projects/{project}/webhooks/{pk}/rotate", body={"revoke": revoke})

    def each(self, path: str, **filters: Any) -> Iterator[Json]:
        """Yield every row of a list, page after page."""
        cursor: str | None = ""
        while cursor is not None:
            page = self._json("GET", path, params={**filters, **({"cursor": cursor} if cursor else {})})
            yield from page["items"]
            cursor = page["next"]

    def _ended(self, path: str, body: Json, timeout_s: float = 3600.0) -> Json:
        """Poll until the job in the body is over. Raises ApiError if it failed, TimeoutError if no worker ends it."""
        until = time.monotonic() + timeout_s
        while (job := body["job"]) and job["state"] not in JOB_OVER:
            if time.monotonic() > until:
                raise TimeoutError(f"{path} is not done after {timeout_s:.0f} s; check that a worker runs")
            time.sleep(POLL_SECONDS[1])
            body = self._json("GET", path)
        if job and job["state"] not in {"done", "partly"}:
            raise ApiError(400, job["error"] or job["state"], {})
        return body

    def _waited(self, path: str, upload: Json, states: Collection[str], timeout_s: float) -> Json:
        began = time.monotonic()
        until = began + timeout_s
        while upload["state"] not in states:
            if time.monotonic() > until:
                raise TimeoutError(
                    f"import {upload['id']} is not stored after {timeout_s:.0f} s; check that a worker runs"
                )
            soonest, latest = POLL_SECONDS
            time.sleep(min(latest, max(soonest, POLL_SHARE * (time.monotonic() - began))))
            upload = self._json("GET", f"{path}/{upload['id']}")
        return upload

    def _json(self, method: str, path: str, *, key: str | None = "", **request: Any) -> Any:
        response = self._send(method, path, key=key, **request)
        return response.json() if response.content else None

    def _send(
        self, method: str, path: str, *, key: str | None = "", body: Any = None, **request: Any
    ) -> httpx.Response:
        """Return the response; retry where that can help. `key`: empty for a new one, None for none."""
        headers = {} if method == "GET" or key is None else {"Idempotency-Key": key or secrets.token_urlsafe(24)}
        if body is not None:
            request["json"] = body
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                response = self._http.request(method, path, headers=headers, **request)
            except httpx.TransportError:
                if last or (method != "GET" and not headers):
                    raise
                time.sleep(0.2 * attempt)
                continue
            if response.status_code in AGAIN and not last:
                time.sleep(min(MAX_WAIT_S, float(response.headers.get("Retry-After") or 0.5 * attempt)))
                continue
            if response.status_code >= 400:
                raise _error(response)
            return response
        raise AssertionError("the last attempt returns or raises")


def _error(response: httpx.Response) -> ApiError:
    """Return the error in the body, or only the status if a server in between answers without JSON."""
    try:
        body = response.json()
    except ValueError:
        body = {}
    fields = {field_error["where"]: field_error["problem"] for field_error in body.get("fields", [])}
    return ApiError(response.status_code, body.get("problem") or response.reason_phrase, fields)


def _result_of(upload: Json) -> Json:
    """Return the result of an import. Raises ApiError if it failed."""
    if upload["state"] != "done":
        error_fields = (("result", "problem"), ("preview", "problem"), ("job", "error"))
        why = (upload[section][field] for section, field in error_fields if (upload[section] or {}).get(field))
        raise ApiError(400, str(next(why, upload["state"])), {})
    return upload["result"]
