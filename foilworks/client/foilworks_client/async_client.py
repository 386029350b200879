"""The client: every operation of the API, and what takes several of them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx

from .async_operations import AsyncOperations
from .async_transport import AsyncTransport
from .errors import ApiError
from .work import Work, work_of

Json = dict[str, Any]
Progress = Callable[[Json], object]
# Between two polls: at first, at most, and as a share of the elapsed time.
POLL_SECONDS, POLL_SHARE = (0.1, 2.0), 0.08
IMPORT_OVER = frozenset({"done", "failed", "discarded"})
JOB_OVER = frozenset({"done", "partly", "failed", "cancelled"})


class AsyncClient:
    """A connection of one person. `api` has every operation of the API under the name of its document.

    The methods here are for what takes several requests, and short names for the work of every day. `transport`:
    httpx's, for tests. ApiError: the server rejected a request, or a job failed.
    """

    def __init__(
        self, base_url: str, token: str, *, timeout: float = 60.0, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._transport = AsyncTransport(base_url, token, timeout=timeout, transport=transport)
        self.api = AsyncOperations(self._transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._transport.http.aclose()

    async def wait(
        self, read: Callable[[], Awaitable[Any]], *, progress: Progress | None = None, timeout_s: float = 3600.0
    ) -> Any:
        """Call `read` until the `job` of its result is over, and return the result.

        `progress` gets the job after each poll: its `state`, `done`, `total` and `message`. ApiError: the job failed.
        TimeoutError: no worker ends it.
        """
        return await self._until(read, lambda row: _is_over(row["job"]), progress, timeout_s)

    async def _until(
        self,
        read: Callable[[], Awaitable[Any]],
        is_over: Callable[[Any], bool],
        progress: Progress | None,
        timeout_s: float,
    ) -> Any:
        began = time.monotonic()
        row = await read()
        while not is_over(row):
            elapsed = time.monotonic() - began
            if elapsed > timeout_s:
                raise TimeoutError(f"the job is not over after {timeout_s:.0f} s; check that a worker runs")
            if progress and row.get("job"):
                progress(row["job"])
            soonest, latest = POLL_SECONDS
            await asyncio.sleep(min(latest, max(soonest, POLL_SHARE * elapsed)))
            row = await read()
        job = row.get("job")
        if progress and job:
            progress(job)
        if job and job["state"] in {"failed", "cancelled"}:
            raise ApiError(400, job["error"] or job["state"], {})
        return row

    # Projects and people

    async def me(self) -> Json:
        return await self._json("GET", "me")

    def projects(self) -> AsyncIterator[Json]:
        return self.each("projects")

    async def create_project(self, slug: str, name: str = "", **fields: Any) -> Json:
        return await self._json("POST", "projects", body={"slug": slug, "name": name or slug, **fields})

    def members(self, project: str) -> AsyncIterator[Json]:
        return self.each(f"projects/{project}/members")

    async def add_member(self, project: str, username: str, roles: Sequence[str], **fields: Any) -> Json:
        """Add a member.

        `new_account=True` creates the account, and with `with_token=True` a token: password and token are returned
        once.
        """
        body = {"username": username, "roles": list(roles), **fields}
        return await self._json("POST", f"projects/{project}/members", body=body)

    async def create_subtest(self, project: str, name: str, **rules: Any) -> Json:
        return await self._json("POST", f"projects/{project}/subtests", body={"name": name, **rules})

    # Content

    async def import_file(
        self,
        project: str,
        kind: str,
        content: bytes,
        name: str = "records",
        *,
        videos: Mapping[str, bytes] | None = None,
        update: bool = False,
        timeout_s: float = 600.0,
        progress: Progress | None = None,
        **fields: Any,
    ) -> Json:
        """Import a file of the format `kind`, wait until it is stored, and return counts and invalid records.

        `update`: change stored records that differ to the file's values; otherwise they are only counted. Raises
        ApiError if the file cannot be read, and TimeoutError if no worker stores it in time.
        """
        form = {"format": kind, "at_once": not update, "records": (name, content), **fields}
        path = f"projects/{project}/imports"
        upload = await self._json("POST", path, form={**form, "videos": list((videos or {}).items())})
        place = f"{path}/{upload['id']}"
        if update:
            upload = await self._stored(place, {"ready", *IMPORT_OVER}, progress, timeout_s)
        if upload["state"] == "ready":
            await self._json("POST", f"{place}/confirm", params={"update": "true"})
        return _result_of(await self._stored(place, IMPORT_OVER, progress, timeout_s))

    async def _stored(self, path: str, states: Collection[str], progress: Progress | None, timeout_s: float) -> Json:
        row: Json = await self._until(
            lambda: self._json("GET", path), lambda upload: upload["state"] in states, progress, timeout_s
        )
        return row

    async def import_records(self, project: str, records: Iterable[Mapping[str, Any]], **fields: Any) -> Json:
        """Import records from memory, in the columns of `jsonl` (docs/reference/formats.md)."""
        return await self.import_file(project, "jsonl", _lines(records), "records.jsonl", **fields)

    def items(self, project: str, **filters: Any) -> AsyncIterator[Json]:
        return self.each(f"projects/{project}/items", **filters)

    async def tune(self, project: str, *, seed: int = 0, **params: Any) -> Json:
        """Tune a text-to-text model on the train captions; `folder` of `tuning` is then the `model` of a run."""
        return await self._json("POST", f"projects/{project}/tunings", body={"params": params, "seed": seed})

    async def tuning(self, project: str, tuning: int) -> Json:
        return await self._json("GET", f"projects/{project}/tunings/{tuning}")

    async def start_generation(self, project: str, subtest: int, method: str = "", **fields: Any) -> Json:
        """Start a run of the method, or of `recipe=`."""
        body = {"subtest": subtest, "method": method, **fields}
        return await self._json("POST", f"projects/{project}/runs", body=body)

    def candidates(self, project: str, run: int, **filters: Any) -> AsyncIterator[Json]:
        return self.each(f"projects/{project}/runs/{run}/candidates", **filters)

    async def compose(self, project: str, subtest: int, random: str, hard: str = "", **fields: Any) -> Json:
        """Compose multiple-choice items from a subtest or a run of random captions, and one of hard foils."""
        body = {"subtest": subtest, "random": random, "hard": hard, **fields}
        return await self._json("POST", f"projects/{project}/choices", body=body)

    # Work

    async def queues(self, project: str) -> list[Json]:
        rows: list[Json] = await self._transport.json("GET", f"projects/{project}/queues")
        return rows

    async def claim(self, project: str, stage: str, *, after: Work | None = None) -> Work | None:
        """Claim the next task of the stage, or get the one you hold; None if none waits. `after`: the previous task."""
        params = {"after": after.upcoming} if after and after.upcoming else {}
        body = await self._transport.json("POST", f"projects/{project}/queues/{stage}/claim", params=params)
        return work_of(body) if body else None

    async def heartbeat(self, work: Work) -> str:
        """Extend the lease on the task; return its new end."""
        held = await self._json("POST", f"work/{work.token}/heartbeat")
        return str(held["expires_at"])

    async def submit(self, work: Work, **answer: Any) -> Json:
        """Submit the task once: `answer=` of a judgement, `texts=` of an edit, `decision=` of a review …"""
        return await self._json("POST", f"work/{work.token}/submit", body=answer, key=work.token)

    async def submit_and_claim(self, work: Work, **answer: Any) -> tuple[Json, Work | None]:
        """Submit and claim the next task of the stage in one request; None if none waits."""
        path = f"work/{work.token}/submit"
        body = await self._json("POST", path, body=answer, key=work.token, params={"next": "true"})
        following = body.pop("next", None)
        return body, work_of(following) if following else None

    async def skip(self, work: Work) -> None:
        await self._transport.json("DELETE", f"work/{work.token}")

    def votes(self, project: str, **filters: Any) -> AsyncIterator[Json]:
        """Yield all votes as the server streams them."""
        return self._transport.lines(f"projects/{project}/votes/export", params=filters)

    # Results

    async def report(self, project: str, kind: str, **params: Any) -> Json:
        return await self._json("GET", f"projects/{project}/reports/{kind}", params=params)

    async def compute_report(self, project: str, kind: str, **params: Any) -> Json:
        """Start the job that computes a report of a large project; `report` then returns it."""
        return await self._json("POST", f"projects/{project}/reports/{kind}", params=params)

    async def release(self, project: str, name: str = "", *, progress: Progress | None = None, **fields: Any) -> Json:
        """Freeze all valid items; the same content returns the existing release. Waits for the job of a large one."""
        path = f"projects/{project}/releases"
        frozen = await self._json("POST", path, body={"name": name, **fields})
        if "job" not in frozen:
            return frozen
        frozen = await self.wait(lambda: self._json("GET", f"{path}/freeze"), progress=progress)
        return await self._json("GET", f"{path}/{frozen['release']}")

    async def export(
        self, project: str, release: int, exporter: str = "foilworks", *, progress: Progress | None = None
    ) -> bytes:
        """Return the release as a zip. Waits for the job that writes a large one."""
        path = f"projects/{project}/releases/{release}"
        written = await self._transport.content("POST", f"{path}/export/{exporter}")
        if isinstance(written, bytes):
            return written
        export = f"{path}/exports/{written['id']}"
        await self.wait(lambda: self._json("GET", export), progress=progress)
        file: bytes = await self._transport.content("GET", f"{export}/file")
        return file

    async def score(self, project: str, release: int, spec: str, **fields: Any) -> Json:
        """Start a scoring run of the model `spec`; `wait_for_scores` waits for it."""
        return await self._json("POST", f"projects/{project}/releases/{release}/scoring", body={"spec": spec, **fields})

    async def upload_scores(
        self,
        project: str,
        release: int,
        scores: bytes | Iterable[Mapping[str, Any]],
        label: str,
        *,
        name: str = "scores.jsonl",
        progress: Progress | None = None,
        timeout_s: float = 3600.0,
        **fields: Any,
    ) -> Json:
        """Import scores of a model that ran elsewhere, wait until they are stored, and return the run.

        `scores`: rows {"id", "scores": [caption, foil, …]} in the order of the item's texts, or the bytes of a file
        `name`. ApiError: the file is wrong.
        """
        content = scores if isinstance(scores, bytes) else _lines(scores)
        form = {"scores": (name, content), "label": label, **fields}
        run = await self._json("POST", f"projects/{project}/releases/{release}/scores", form=form)
        return await self.wait_for_scores(project, run["id"], progress=progress, timeout_s=timeout_s)

    async def wait_for_scores(
        self, project: str, run: int, *, progress: Progress | None = None, timeout_s: float = 3600.0
    ) -> Json:
        """Wait until a scoring run is over, and return it with its results. ApiError: it failed."""
        row: Json = await self.wait(lambda: self.scoring(project, run), progress=progress, timeout_s=timeout_s)
        return row

    async def scoring(self, project: str, run: int) -> Json:
        return await self._json("GET", f"projects/{project}/scoring/{run}")

    async def ladder(self, project: str, run: int) -> Json:
        """Return the score of a run with less and less of the clip."""
        return await self._json("GET", f"projects/{project}/scoring/{run}/ladder")

    def scores(self, project: str, run: int) -> AsyncIterator[Json]:
        return self.each(f"projects/{project}/scoring/{run}/scores")

    async def add_webhook(self, project: str, url: str, events: Sequence[str]) -> Json:
        return await self._json("POST", f"projects/{project}/webhooks", body={"url": url, "events": list(events)})

    async def rotate_webhook(self, project: str, pk: int, *, revoke: bool = False) -> Json:
        """Return the webhook with a new secret; the old one is valid for 24 hours more, unless `revoke`."""
        return await self._json("POST", f"projects/{project}/webhooks/{pk}/rotate", body={"revoke": revoke})

    def each(self, path: str, **filters: Any) -> AsyncIterator[Json]:
        """Yield every row of a list, page after page; `path` as in the document, with or without `/api/v1/`."""
        return self._transport.pages(path.removeprefix("/api/").removeprefix("v1/"), params=filters)

    async def _json(self, method: str, path: str, **request: Any) -> Json:
        body: Json = await self._transport.json(method, path, **request)
        return body


def _is_over(job: Json | None) -> bool:
    return job is None or job["state"] in JOB_OVER


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _result_of(upload: Json) -> Json:
    """Return the result of an import. ApiError: it failed."""
    if upload["state"] != "done":
        error_fields = (("result", "problem"), ("preview", "problem"), ("job", "error"))
        why = (upload[section][field] for section, field in error_fields if (upload[section] or {}).get(field))
        raise ApiError(400, str(next(why, upload["state"])), {})
    result: Json = upload["result"]
    return result
