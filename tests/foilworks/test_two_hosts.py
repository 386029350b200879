"""Two hosts share a run: process trees of their own with folders of their own, and nothing between them but a Redis, a
PostgreSQL and the folder of videos and models. One is killed in the middle; the other one ends the run.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
import pytest

from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
from tests.foilworks.hosts import CLIPS
from tests.ports import redis_url
from tests.postgres import Postgres, running_postgres
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
SHARD_ITEMS = 4
# A shard's four clips are written together.
UNWRITTEN = SHARD_ITEMS
TEXTS_PER_CLIP = 2


@dataclass
class Hosts:
    """`environment` is what the hosts have in common."""

    folder: Path
    environment: dict[str, str]
    server: Postgres

    @property
    def model(self) -> Path:
        return self.folder / "shared/model"

    def of(self, name: str) -> dict[str, str]:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return {**self.environment, "FOILWORKS_HOME": str(home), "HOME": str(home)}

    def run(self, *command: str | Path, host: str = "desk") -> str:
        done = subprocess.run(command, cwd=ROOT, env=self.of(host), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        return done.stdout

    def rows(self, query: str, *values: str) -> list[tuple]:
        with psycopg.connect(host=str(self.server.folder), user="postgres", dbname="shared") as connection:
            return connection.execute(query, values).fetchall()

    def state(self, job: str) -> str:
        return self.rows("SELECT state FROM jobs_job WHERE id = %s", job)[0][0]

    def scores(self) -> dict[tuple[str, str], float]:
        rows = self.rows("SELECT clip_key, text_sha256, value FROM evaluation_score")
        found = {(clip, text): value for clip, text, value in rows}
        assert len(found) == len(rows)
        return found

    def work(self, name: str) -> psutil.Popen:
        """`foilworks worker --cpu` on that host."""
        command = [Path(sys.executable).with_name("foilworks"), "worker", "--cpu"]
        with (self.folder / f"{name}.log").open("wb") as log:
            return psutil.Popen(command, cwd=ROOT, env=self.of(name), stdout=log, stderr=log, start_new_session=True)

    def asked(self) -> list[tuple[str, str]]:
        """(host, clip) of every question that the models were asked."""
        log = self.model / "asked"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(Path(home).name, key) for home, key in map(json.loads, lines)]

    def logs(self) -> str:
        return "\n".join(path.read_text()[-2000:] for path in sorted(self.folder.glob("*.log")))


@pytest.fixture
def hosts(tmp_path) -> Iterator[Hosts]:
    shared = tmp_path / "shared"
    shared.mkdir()
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    redis = EmbeddedRedis(tmp_path / "queue")
    assert redis.acquire()
    redis.start()
    with running_postgres() as server:
        yield Hosts(
            tmp_path,
            {
                **inherited,
                "DATABASE_URL": server.make("shared"),
                "REDIS_URL": redis_url(tmp_path / "queue"),
                "STORAGE_URL": f"file://{shared}/media",
                "FOILWORKS_SHARD_ITEMS": str(SHARD_ITEMS),
                # Longer than load keeps a living host from renewing: its shard would be asked twice.
                "FOILWORKS_LEASE_SECONDS": "10",
            },
            server,
        )
    redis.stop()
    redis.release()


def kill_at_once(host: psutil.Popen) -> None:
    """The supervisor, its engine and the engine's model, as a host without power."""
    tree = [*host.children(recursive=True), host]
    for process in tree:
        process.suspend()
    for process in tree:
        process.kill()
    psutil.wait_procs(tree)


@pytest.mark.machines
@pytest.mark.slow
def test_the_other_host_finishes_the_job_of_a_killed_host(hosts):
    job = hosts.run(sys.executable, "-m", "tests.foilworks.hosts", str(hosts.model)).split()[-1]
    first, second = hosts.work("first"), hosts.work("second")
    try:
        # Both run shards, and more than one is left.
        wait_until(lambda: {host for host, _ in hosts.asked()} == {"first", "second"}, log=hosts.logs)
        (hosts.model / "go").touch()
        wait_until(lambda: sum(host == "first" for host, _ in hosts.asked()) > 1, log=hosts.logs)
        kill_at_once(first)
        before = hosts.scores()
        by_first = {key for host, key in hosts.asked() if host == "first"}
        assert hosts.state(job) == "spread"
        wait_until(lambda: hosts.state(job) == "done", log=hosts.logs)
    finally:
        for host in (first, second):
            if host.is_running():
                host.send_signal(signal.SIGINT)
                host.wait(60)

    shards = hosts.rows("SELECT state, attempts, done, total FROM jobs_job WHERE parent_id = %s", job)
    assert [(state, done, total) for state, _, done, total in shards] == [("done", 8, 8)] * (CLIPS // SHARD_ITEMS)
    assert max(attempts for _, attempts, _, _ in shards) == 2, "the shard of the killed host was taken up again"
    # Each pair once, with the value that the model gives it.
    texts = {
        hashlib.sha256(text.encode()).hexdigest(): text
        for n in range(CLIPS)
        for text in (f"ball {n} rises", f"ball {n} falls")
    }
    after = hosts.scores()
    assert len(after) == 2 * CLIPS
    for (clip, text), value in after.items():
        digest = hashlib.sha256(f"{clip} {texts[text]}".encode()).hexdigest()
        assert value == int(digest[:6], 16) / 2**24

    # Asked twice: what the killed host had asked and not stored, and nothing else.
    times = Counter(key for _, key in hosts.asked())
    twice = {key for key, n in times.items() if n > 1}
    assert len(times) == CLIPS
    assert max(times.values()) <= 2
    assert twice <= by_first
    assert len(twice) <= UNWRITTEN
    # A write that came due between a clip's two texts left the clip to be asked for the other one.
    assert not twice & {clip for clip, texts in Counter(clip for clip, _ in before).items() if texts == TEXTS_PER_CLIP}

    check = hosts.run(Path(sys.executable).with_name("foilworks"), "check", "--json", host="second")
    assert json.loads(check)["ok"]
    # Each host has its own key and its own caches, and no video and no table.
    assert not [path for name in ("first", "second") for path in (hosts.folder / name).rglob("*.mp4")]
    assert not list(hosts.folder.rglob("foilworks.sqlite3"))
