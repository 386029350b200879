"""Descriptions in shards through an endpoint: the worker is killed, and two workers continue; every text once."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import psutil
import pytest

from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
from tests.foilworks.described_videos import number_seen
from tests.hub.chat_server import Said, Server, chat_server, content, pictures_of, text_of
from tests.ports import redis_url
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
IN_FLIGHT = 8


@dataclass
class Home:
    """One FOILWORKS_HOME with its Redis, its SQLite and its workers."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str) -> str:
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        return done.stdout

    def rows(self, query: str) -> list[tuple]:
        with closing(sqlite3.connect(f"file:{self.folder / 'foilworks.sqlite3'}?mode=ro", uri=True)) as database:
            return database.execute(query).fetchall()

    def work(self, slots: int) -> psutil.Popen:
        """`foilworks worker --cpu` with this number of processes for descriptions."""
        # The last of several processes takes only quick jobs.
        processes = slots + (slots > 1)
        command = [Path(sys.executable).with_name("foilworks"), "worker", "--cpu", "--slots", str(processes)]
        with (self.folder / f"{slots}.log").open("wb") as log:
            return psutil.Popen(command, cwd=ROOT, env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def until(self, true: Callable[[], bool]) -> None:
        wait_until(true, log=lambda: "\n".join(path.read_text()[-3000:] for path in self.folder.glob("*.log")))

    def state(self, job: str) -> str:
        return self.rows(f"SELECT state FROM jobs_job WHERE id = '{job.replace('-', '')}'")[0][0]


@pytest.fixture
def home(tmp_path) -> Iterator[Home]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    redis = EmbeddedRedis(tmp_path / "queue")
    assert redis.acquire()
    redis.start()
    given = {
        "FOILWORKS_HOME": str(tmp_path),
        "REDIS_URL": redis_url(tmp_path / "queue"),
        "FOILWORKS_LEASE_SECONDS": "2",
    }
    yield Home(tmp_path, {**inherited, **given})
    redis.stop()
    redis.release()


def killed_and_resumed(home: Home, count: int, shard: int) -> None:
    killed, two = Event(), Event()

    def answer(body: dict, n: int) -> Said:
        if len(server.bodies) > count // 2 and not killed.is_set():
            # From the half on, nothing is answered before the kill: what was stored is known.
            killed.wait(PATIENCE_SECONDS)
        elif killed.is_set():
            two.wait(PATIENCE_SECONDS)
        if pictures_of(body):
            return content(f"Picture {number_seen(body)} shows blocks.")
        return content(f"1. of {text_of(body).partition('Picture ')[2].partition(' ')[0] or 'verbs'}")

    with chat_server(answer) as server:
        names = {"ENDPOINTS": "lab", "LAB_URL": server.url, "LAB_MODELS": "tiny", "LAB_IN_FLIGHT": str(IN_FLIGHT)}
        home.environment |= {f"CHAT_{name}": value for name, value in names.items()}
        home.environment["FOILWORKS_SHARD_ITEMS"] = str(shard)
        job = home.run(sys.executable, "-m", "tests.foilworks.described_videos", "make", str(count)).split()[-1]
        first = home.work(1)
        home.until(lambda: len(server.bodies) >= count // 2 + IN_FLIGHT)
        end_at_once(first)
        asked_before = Counter(server.asked)
        stored = home.rows("SELECT text FROM generation_modelanswer")
        assert home.state(job) == "spread"
        killed.set()
        second = home.work(2)
        try:
            home.until(lambda: len(running(home)) == 2)
            two.set()
            home.until(lambda: home.state(job) in {"done", "failed"})
        finally:
            two.set()
            second.send_signal(signal.SIGINT)
            second.wait(60)
        check(home, server, count, stored, asked_before)
    ends = home.rows("SELECT state, done, total, worker FROM jobs_job WHERE parent_id IS NOT NULL")
    assert {(state, done == total) for state, done, total, _ in ends} == {("done", True)}
    assert len(ends) == 2 * (count // shard)
    assert len({worker for *_, worker in ends}) == 3
    (parent,) = home.rows("SELECT state, done, total FROM jobs_job WHERE parent_id IS NULL AND dotted LIKE '%utd%'")
    assert parent == ("done", 2 * count, 2 * count)


def running(home: Home) -> set[str]:
    """The workers that hold a shard with a valid lease."""
    fresh = "lease_until > strftime('%Y-%m-%d %H:%M:%f', 'now')"
    found = home.rows(f"SELECT worker FROM jobs_job WHERE state = 'running' AND parent_id IS NOT NULL AND {fresh}")
    return {worker for (worker,) in found}


def end_at_once(worker: psutil.Popen) -> None:
    """SIGKILL to the supervisor and its worker process."""
    tree = [*worker.children(recursive=True), worker]
    for process in tree:
        process.suspend()
    for process in tree:
        process.kill()
    psutil.wait_procs(tree)


def check(home: Home, server: Server, count: int, stored: list[tuple], asked_before: Counter) -> None:
    texts = home.rows(
        "SELECT video.key, frame.raw FROM evaluation_frametext frame "
        "JOIN corpus_video video ON video.id = frame.video_id"
    )
    raw = {key: json.loads(told) for key, told in texts}
    assert len(texts) == len(raw) == count
    for number in range(count):
        said = raw[f"v{number}"]
        assert said["objects+composition+activities"] == f"Picture {number} shows blocks."
        assert said["objects"] == f"1. of {number}"
    # Half of the descriptions were stored at the kill. Only what was on its way was asked again.
    assert len(stored) == count // 2
    again = [text for text, n in server.asked.items() if n > 1]
    assert max(server.asked.values()) <= 2
    assert 0 < len(again) <= IN_FLIGHT
    assert set(again) <= set(asked_before)
    assert sum(asked_before.values()) == len(stored) + len(again)


@pytest.mark.machines
@pytest.mark.slow(seconds=15)
def test_a_killed_run_of_descriptions_is_continued_by_two_workers(home):
    killed_and_resumed(home, 100, 10)


@pytest.mark.machines
@pytest.mark.slow(seconds=200)
def test_two_thousand_descriptions_are_each_made_once(home):
    killed_and_resumed(home, 2000, 50)
