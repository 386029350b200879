"""The client as a package: every operation of the document, both halves, alone in an environment, on a real server."""

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pandas
import pytest

from foilworks.client import ApiError, AsyncClient, Client, to_pandas
from foilworks.client.foilworks_client.operations import Operations
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import Role
from foilworks.site.api.api import api
from tests.factories import make_caption, make_item, make_member, make_project, make_subtest, make_video

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "foilworks/client"
FIELDS = {str: "a", int: 1, bool: True}


def documented() -> dict[str, tuple[str, str]]:
    """Operation -> its verb and its address with the pattern of each argument."""
    paths = json.loads(json.dumps(api.get_openapi_schema(), default=str))["paths"]
    return {
        operation["operationId"]: (verb.upper(), re.sub(r"\\?\{\w+\\?\}", "[a1]", re.escape(address)))
        for address, verbs in paths.items()
        for verb, operation in verbs.items()
    }


def arguments_of(method: Any) -> list[Any]:
    """A value for each argument of the address."""
    parameters = list(inspect.signature(method).parameters.values())
    return [FIELDS[one.annotation] for one in parameters if one.kind == one.POSITIONAL_ONLY]


def answer(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"items": [], "next": None})


def test_every_operation_of_the_document_has_a_method() -> None:
    sent: list[httpx.Request] = []

    def record(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return answer(request)

    operations = documented()
    assert {name for name in vars(Operations) if not name.startswith("_")} == set(operations)
    with Client("http://test", "fw_x", transport=httpx.MockTransport(record)) as client:
        for name, (verb, address) in operations.items():
            method = getattr(client.api, name)
            result = method(*arguments_of(method))
            if isinstance(result, Iterator):
                list(result)
            assert sent[-1].method == verb, name
            assert re.fullmatch(address, sent[-1].url.path), (name, sent[-1].url.path)
            assert ("Idempotency-Key" in sent[-1].headers) is (verb != "GET"), name


@pytest.mark.full
def test_generated_files_are_up_to_date_and_typed() -> None:
    for command in (["scripts/client.py", "check"], ["-m", "mypy", "--strict", "--follow-imports=silent", PACKAGE]):
        done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_request_is_repeated_with_one_key_and_errors_name_their_fields() -> None:
    keys: list[str] = []

    def busy(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            return httpx.Response(503, headers={"Retry-After": "0"})
        errors = [{"where": "name", "detail": "is empty"}]
        return httpx.Response(422, json={"detail": "Invalid request.", "errors": errors})

    with (
        Client("http://test", "fw_x", transport=httpx.MockTransport(busy)) as client,
        pytest.raises(ApiError) as refused,
    ):
        client.api.create_project(name="")
    assert len(set(keys)) == 1
    assert str(refused.value) == "422: Invalid request.; name: is empty"


@pytest.mark.django_db(transaction=True)
def test_both_halves_read_pages_and_wait_for_jobs(live_server) -> None:
    project = make_project()
    subtest = make_subtest(project)
    for number in range(3):
        make_item(subtest, make_caption(make_video(project, key=f"clip{number}"), f"caption {number}"))
    token = make_token(make_member(project, Role.RESEARCHER), name="reads", scope="manage").secret
    with Client(live_server.url, token) as client:
        rows = list(client.api.list_items(project.slug, limit=2))
        frame = to_pandas(rows)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["caption"]) == [row["caption"] for row in rows]
    assert {"video.key"} <= set(frame.columns) or "video" in frame.columns
    states = iter(["waiting", "running", "done"])
    seen = []

    async def in_async() -> list[Any]:
        async with AsyncClient(live_server.url, token) as other:

            async def read() -> dict[str, Any]:
                return {"job": {"state": next(states), "error": ""}}

            await other.wait(read, progress=lambda job: seen.append(job["state"]))
            return [row async for row in other.api.list_items(project.slug, limit=2)]

    # In a thread: a browser of another test may have left a loop in this one.
    with ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: asyncio.run(in_async())).result() == rows
    assert seen == ["waiting", "running", "done"]


def test_a_failed_job_is_an_error() -> None:
    with Client("http://test", "fw_x") as client, pytest.raises(ApiError, match="no disk"):
        client.wait(lambda: {"job": {"state": "failed", "error": "no disk"}})
