"""Measure a large project while people vote: freezing and exporting by jobs, and on SQLite an import.

    .venv/bin/python -m benchmarks.large_project --items 100000
    .venv/bin/python -m benchmarks.large_project --items 100000 --sqlite

The web server, one worker and the voters are real processes and threads on this machine; PostgreSQL unless --sqlite. It
prints seconds of requests and jobs, quantiles of the seconds of a vote (quiet, and during each job), and peak resident
memory in MB of the processes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import numpy as np
import psutil

from tests.many_rows import DIGEST, analyse, multiply, validation_project
from tests.ports import free_port
from tests.served_home import ROOT, Browser, answers_at, own_home, session_of
from tests.waiting import wait_until

VOTERS, PAUSE_SECONDS, QUIET_SECONDS = 3, 0.3, 20.0
# Rows of the large project have keys from here on: those of the project with work are below.
FIRST = 10_000_000
# The gate's language of two opposites, each as often caption as foil: texts alone do not tell the answers.
EXPORTERS = ("jsonl", "foilworks")
QUEUE = "/projects/many/work/validation/"
ANSWER = {"answer": "first", "watch_seconds": "2.0", "watch_loops": "1", "watch_covered": "1.0", "seconds": "4.0"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--sqlite", action="store_true", help="measure votes beside an import")
    options = parser.parse_args()
    with own_home(sqlite=options.sqlite) as home, ExitStack() as stack:
        _note_migrations()
        sessions, token = make_work(options.items)
        if not options.sqlite:
            make_large(options.items)
        site = stack.enter_context(Site.serving(home, token))
        voters = stack.enter_context(Voters.voting(site.port, sessions))
        figures = {"quiet": voters.during(lambda: time.sleep(QUIET_SECONDS))}
        measured = site.measure_import(voters, options.items) if options.sqlite else site.measure_jobs(voters)
        figures |= measured | {"quiet after": voters.during(lambda: time.sleep(QUIET_SECONDS))}
    print(json.dumps({**vars(options), **figures}, indent=1))


def _note_migrations() -> None:
    """Note that the tables are as the migrations leave them: they were created from the models."""
    from django.core.management.commands.migrate import Command

    Command().run_from_argv(["manage.py", "migrate", "--fake", "--verbosity", "0"])


def make_work(items: int) -> tuple[list[str], str]:
    """Make a project with open tasks and an owner; return sessions of its validators and the owner's API token."""
    from foilworks.core.projects.actions.tokens import make_token
    from foilworks.core.projects.models import Membership, Project, Role, User

    # Voters see each item once: enough for a vote per second and voter until the end.
    project = validation_project(VOTERS * max(items // 10, 2000), overlap=VOTERS)
    large = Project.objects.create(slug="large", name="large")
    owner = User.objects.create(username="owner")
    Membership.objects.create(project=large, person=owner, role=Role.RESEARCHER)
    voters = [User.objects.create(username=f"voter{number}") for number in range(VOTERS)]
    Membership.objects.bulk_create(Membership(project=project, person=user, role=Role.VALIDATOR) for user in voters)
    return [session_of(user) for user in voters], make_token(owner, name="benchmark", scope="manage", days=1).secret


def make_large(items: int) -> None:
    """Make valid items with three votes each."""
    from annotation.models import Choice, Vote
    from foilworks.core.corpus.models import Caption, Foil, Item, MediaState, Subtest, Video
    from foilworks.core.corpus.rules.states import FoilVerdict, ItemState
    from foilworks.core.projects.models import Project, User

    project, last = Project.objects.get(slug="large"), FIRST + items - 1
    subtest = Subtest.objects.create(project=project, name="folding")
    clip = {"media_state": MediaState.READY, "file": "none.mp4", "duration": 2.0, "fps": 12.0, "n_frames": 24}
    digest = DIGEST["postgresql"]
    multiply(Video(project=project, **clip), FIRST, last, key="'v' || n", source_id="'s' || n", sha256=digest)
    verbs = ["folds", "unfolds"]
    caption, foil = (
        f"'person ' || n || CASE WHEN n % 2 = 0 THEN ' {even} ' ELSE ' {odd} ' END || 'shirt ' || n % 97 || '.'"
        for even, odd in (verbs, verbs[::-1])
    )
    multiply(Caption(), FIRST, last, video="n", key="'c' || n", text=caption, text_sha256=digest)
    item = Item(project=project, subtest=subtest, state=ItemState.VALID, unanimous=True)
    multiply(item, FIRST, last, video="n", caption="n", key="'i' || n", decided_at="now()")
    multiply(Foil(position=0, verdict=FoilVerdict.VALID), FIRST, last, item="n", text=foil, text_sha256=digest)
    for number, person in enumerate(User.objects.filter(username__startswith="voter")):
        vote = Vote(person=person, choice=Choice.CAPTION)
        start = FIRST + number * items
        of_item = f"n - {number * items}"
        columns = {"item": of_item, "foil": of_item, "idempotency_key": "'k' || n"}
        multiply(vote, start, start + items - 1, caption_first=f"n % 2 = {number % 2}", **columns)
    analyse()


class Voters:
    """Threads that vote through the pages until the block ends; `seconds`: (end, seconds) of each submit."""

    def __init__(self, port: int, sessions: list[str]) -> None:
        self.browsers = [Browser(port, session) for session in sessions]
        self.seconds: list[tuple[float, float]] = []
        self.problems: list[str] = []
        self._over = threading.Event()

    @classmethod
    @contextmanager
    def voting(cls, port: int, sessions: list[str]) -> Iterator["Voters"]:
        voters = cls(port, sessions)
        threads = [threading.Thread(target=voters._vote, args=(browser,)) for browser in voters.browsers]
        for thread in threads:
            thread.start()
        try:
            yield voters
        finally:
            voters._over.set()
            for thread in threads:
                thread.join()
            assert not voters.problems, voters.problems

    def _vote(self, browser: Browser) -> None:
        browser.get(QUEUE)
        while not self._over.wait(PAUSE_SECONDS):
            if 'id="answer"' not in browser.page:
                browser.post(QUEUE, {})
            began = time.monotonic()
            browser.submit(ANSWER)
            if browser.status != 200:
                self.problems.append(f"{browser.status}: {browser.page[:300]}")
                return
            now = time.monotonic()
            self.seconds.append((now, now - began))

    def during(self, act: object) -> dict[str, object]:
        """Return what the act returns, with the milliseconds of votes that it overlaps."""
        began = time.monotonic()
        figures = act() or {}
        ended = time.monotonic()
        waits = [1000 * seconds for at, seconds in self.seconds if at > began and at - seconds < ended]
        quantiles = {f"p{q}": round(float(np.percentile(waits, q)), 1) for q in (50, 95, 100)} if waits else {}
        return {**figures, "seconds": round(ended - began, 2), "votes": len(waits), "vote_ms": quantiles}


class Site:
    """`foilworks up` on a home, as the owner of the large project uses it by the API."""

    def __init__(self, port: int, token: str, process: psutil.Popen) -> None:
        self.port, self.process = port, process
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}/api/projects/large",
            headers={"Authorization": f"Bearer {token}"},
            timeout=600,
        )

    @classmethod
    @contextmanager
    def serving(cls, home: Path, token: str) -> Iterator["Site"]:
        port = free_port()
        command = [Path(sys.executable).with_name("foilworks"), "up", "--port", str(port), "--workers", "1"]
        with (home / "up.log").open("wb") as log:
            process = psutil.Popen(command, cwd=ROOT, env=dict(os.environ), stdout=log, stderr=log)
        try:
            wait_until(lambda: answers_at(port), processes=[process], log=(home / "up.log").read_text)
            yield cls(port, token, process)
        finally:
            process.terminate()
            process.wait(60)

    def peaks(self) -> dict[str, int]:
        """Return the peak resident memory of each kind of process so far, in MB."""
        peaks: dict[str, int] = {}
        for process in self.process.children(recursive=True):
            with suppress(psutil.Error, OSError):
                line = " ".join(process.cmdline())
                kind = next((kind for kind in ("gunicorn", "worker") if kind in line), "")
                peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
                if kind and peak:
                    peaks[kind] = max(peaks.get(kind, 0), int(peak[1]) // 1024)
        return peaks

    def measure_jobs(self, voters: Voters) -> dict[str, object]:
        figures = {"peak_mb at start": self.peaks(), "freeze": voters.during(self._freeze)}
        for exporter in EXPORTERS:
            figures[f"export {exporter}"] = voters.during(lambda exporter=exporter: self._export(exporter))
        return figures

    def _freeze(self) -> dict[str, object]:
        body = {"name": "first", "override": "a benchmark of made-up sentences, published nowhere"}
        seconds = self._post("/releases", body)[0]
        self._until_over("/releases/freeze")
        return {"request_s": seconds, "peak_mb": self.peaks()}

    def _export(self, exporter: str) -> dict[str, object]:
        release = self.client.get("/releases").json()["items"][0]["id"]
        seconds, export = self._post(f"/releases/{release}/export/{exporter}")
        self._until_over(f"/releases/{release}/exports/{export['id']}")
        return {"request_s": seconds, "peak_mb": self.peaks()}

    def _post(self, path: str, body: object = None) -> tuple[float, dict[str, object]]:
        began = time.monotonic()
        reply = self.client.post(path, json=body)
        assert reply.status_code == 202, reply.text
        return round(time.monotonic() - began, 3), reply.json()

    def _until_over(self, path: str) -> None:
        while (job := self.client.get(path).json()["job"])["state"] in {"waiting", "running"}:
            time.sleep(0.5)
        assert job["state"] == "done", job

    def measure_import(self, voters: Voters, items: int) -> dict[str, object]:
        file = Path(os.environ["FOILWORKS_HOME"]) / "items.jsonl"
        with file.open("w") as out:
            for n in range(items):
                texts = {"caption": f"person {n} folds a shirt.", "foil": f"person {n} unfolds a shirt."}
                out.write(json.dumps({"id": f"r{n}", "video": f"v{n}.mp4", "subtest": "folding", **texts}) + "\n")
        command = [Path(sys.executable).with_name("foilworks"), "import", "jsonl", file, "--project", "large"]
        return {"import": voters.during(lambda: subprocess.run(command, check=True, cwd=ROOT) and None)}


if __name__ == "__main__":
    main()
