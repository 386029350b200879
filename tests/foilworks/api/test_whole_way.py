"""The example of docs/reference/api.md on a real server with a worker; many hands at once on the same server."""

import json
import os
import runpy
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from django.db import connection

from annotation.models import Vote
from foilworks.client import ApiError, Client
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.runner import execute
from foilworks.core.projects.actions.tokens import make_token
from foilworks.core.projects.models import IdempotentAnswer, Project, Role
from tests.annotation.test_parallel import in_threads
from tests.factories import make_item, make_member, make_project, make_subtest, make_user

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "api_whole_way.py"
PACKAGE = Path(__file__).resolve().parents[3] / "foilworks/client"
MAX_EXAMPLE_LENGTH = 60


@pytest.fixture
def worker() -> Iterator[None]:
    """Takes every job that waits, as a worker does."""
    stopped = threading.Event()

    def work() -> None:
        with closing(connection):
            while not stopped.wait(0.05):
                for job in Job.objects.filter(state=JobState.WAITING):
                    execute(str(job.pk))

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stopped.set()
    thread.join()


def test_different_stored_records_change_only_with_update(live_server, worker):
    project = make_project()
    token = make_token(make_member(project, Role.RESEARCHER), name="import", scope="manage").secret
    record = {"id": "a", "source_id": "v", "caption": "a cat sits", "foil": "a dog sits"}
    changed = {**record, "foil": "a fox sits"}
    with Client(live_server.url, token) as client:
        results = [
            client.import_records(project.slug, [one], update=update)
            for one, update in ((record, False), (changed, False), (changed, True))
        ]
        (item,) = client.items(project.slug)
        with pytest.raises(ApiError, match="neither an object nor a list"):
            client.import_file(project.slug, "valse", b"no JSON", update=True)
        client.import_records(project.slug, [{**record, "id": "b"}], subtest="set", as_published=True)
        marks = {one["key"]: (one["as_published"], one["state"]) for one in client.items(project.slug)}
    assert [(one["changed"], one.get("updated", 0)) for one in results] == [(0, 0), (1, 0), (1, 1)]
    assert item["foils"][0]["text"] == "a fox sits"
    assert marks == {"a": (False, "in_validation"), "b": (True, "valid")}


@pytest.fixture
def alone(tmp_path) -> str:
    """The Python of a new environment with the wheel of the client, and what it requires, alone."""
    pip = ["-m", "pip", "--disable-pip-version-check", "--quiet"]
    source = shutil.copytree(PACKAGE, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__"))
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run([sys.executable, *wheel], check=True)
    (built,) = tmp_path.glob("foilworks_client-*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "new")], check=True)
    python = str(tmp_path / "new/bin/python")
    subprocess.run([python, *pip, "install", str(built)], check=True)
    names = ("foilworks", "django", "numpy", "pandas", "foilworks_client", "httpx")
    program = f"from importlib.util import find_spec; print([name for name in {names} if find_spec(name)])"
    found = subprocess.run([python, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['foilworks_client', 'httpx']"
    return python


@pytest.mark.full
def test_the_example_makes_a_public_benchmark_with_the_package_alone(live_server, worker, alone, tmp_path):
    token = make_token(make_user(is_superuser=True), name="example", scope="manage").secret
    runpy.run_path(str(EXAMPLE.parent / "own_clips.py"))["make"](tmp_path / "clips")
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [alone, EXAMPLE, live_server.url, token, tmp_path / "clips"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=clean, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "4 valid items" in done.stdout
    result = json.loads(done.stdout[done.stdout.index('{\n "ladder"') :])
    assert result["ladder"]["overall"]["rungs"]
    page = httpx.get(result["address"])
    assert page.status_code == 200
    assert "By the API" in page.text
    with zipfile.ZipFile(tmp_path / "by-the-api.zip") as archive:
        names = {name.rpartition("/")[2] for name in archive.namelist()}
    assert {"manifest.json", "items.jsonl", "votes.jsonl"} <= names
    assert Vote.objects.count() == 12
    assert len(EXAMPLE.read_text().splitlines()) < MAX_EXAMPLE_LENGTH


def test_four_equal_submits_at_once_are_stored_once(live_server):
    project = make_project()
    make_item(make_subtest(project))
    token = make_token(make_member(project, Role.VALIDATOR), name="hands", scope="work").secret
    with Client(live_server.url, token) as client:
        work = client.claim(project.slug, "validation")

        def submit(_number: int) -> dict:
            with Client(live_server.url, token) as one:
                return one.submit(work, answer="first")

        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(submit, range(4)))
        assert answers == [answers[0]] * 4
        assert Vote.objects.count() == 1
        assert client.claim(project.slug, "validation") is None


def test_one_key_sent_four_times_at_once_makes_one_project(live_server):
    person = make_user(is_superuser=True)
    token = make_token(person, name="hands", scope="manage").secret

    def create(_number: int) -> dict:
        with Client(live_server.url, token) as one:
            return one._json("POST", "projects", body={"slug": "one", "name": "One"}, key="same")

    answers = in_threads(create, [1, 2, 3, 4])
    assert answers == [answers[0]] * 4
    assert Project.objects.count() == 1
    assert IdempotentAnswer.objects.get().status == 201


def test_the_client_raises_errors_of_the_server(live_server):
    with Client(live_server.url, "fw_unknown") as client, pytest.raises(ApiError) as refused:
        client.me()
    assert refused.value.status == 401
    assert "Tokens" in refused.value.problem
