"""Three nodes of Ray score, describe and generate; one is killed in each job: the results are those of a single host.

The nodes share no disk: videos come from an object store. They have no key of the web host, and their role of the
database may write results only (deploy/worker-role.sql).
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
import psycopg
import pytest

from tests.foilworks.shared_work import CAPTIONS, CLIPS, FRAMES
from tests.object_store import running_store
from tests.postgres import Postgres, running_postgres
from tests.ray_cluster import Cluster, running_cluster
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
ROLE = ROOT / "deploy" / "worker-role.sql"
# Job -> the table of its results.
WRITES = {"scoring": "evaluation_score", "describing": "evaluation_frametext", "generating": "generation_candidate"}

pytestmark = pytest.mark.machines


@dataclass
class Lab:
    folder: Path
    environment: dict[str, str]
    server: Postgres
    cluster: Cluster

    def run(self, database: str, *command: str) -> dict:
        home = self.folder / "desk"
        home.mkdir(exist_ok=True)
        given = {"DATABASE_URL": self.server.url(database), "FOILWORKS_HOME": str(home)}
        given |= {"RAY_ADDRESS": self.cluster.address} if database == "shared" else {}
        program = [sys.executable, "-m", "tests.foilworks.shared_work", *command]
        done = subprocess.run(program, cwd=ROOT, env={**self.environment, **given}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    def make(self, model: str) -> None:
        self.run("shared", "make", model)
        with psycopg.connect(host=str(self.server.folder), user="postgres", dbname="shared", autocommit=True) as owner:
            owner.execute(ROLE.read_text())

    def fetched(self, node: str) -> int:
        """The number of videos that a node took from the object store."""
        return sum(1 for path in (self.folder / node / "cache" / "clips").glob("*/*") if path.is_file())

    def rows(self, query: str, *values: object) -> list[tuple]:
        with psycopg.connect(host=str(self.server.folder), user="postgres", dbname="shared") as connection:
            return connection.execute(query, values).fetchall()

    def dotted(self, job: str) -> str:
        return self.rows("SELECT dotted FROM jobs_job WHERE id = %s", job)[0][0]

    def start_node(self, name: str) -> psutil.Popen:
        return self.cluster.start(1, FOILWORKS_HOME=str(self.folder / name))

    def engine(self, slots: int = 3, **more: str) -> psutil.Popen:
        command = [Path(sys.executable).with_name("foilworks"), "worker", "--ray", "--slots", str(slots)]
        given = {**self.cluster.environment, "RAY_ADDRESS": self.cluster.address, **more}
        with (self.folder / "engine.log").open("ab") as log:
            return psutil.Popen(
                command, cwd=ROOT, env={**given, "FOILWORKS_HOME": str(self.folder / "head")}, stdout=log, stderr=log
            )

    def logs(self) -> str:
        states = self.rows("SELECT title, state, worker, losses FROM jobs_job ORDER BY title")
        nodes = [(node.pid, node.poll()) for node in self.cluster.nodes]
        return f"{states}\n{nodes}\n{(self.folder / 'engine.log').read_text()[-3000:]}"

    def until(self, true) -> None:
        def reached() -> bool:
            failed = self.rows("SELECT title, worker, error FROM jobs_job WHERE state = 'failed'")
            assert not failed, (failed, self.logs())
            return true()

        wait_until(reached, log=self.logs)


@pytest.fixture
def lab(tmp_path) -> Iterator[Lab]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    with running_postgres() as server, running_store(tmp_path / "store") as store:
        for name in ("shared", "alone"):
            server.make(name)
        common = {
            **inherited,
            **store.environment,
            "PYTHONPATH": str(ROOT),
            "FOILWORKS_SHARD_ITEMS": "4",
            "FOILWORKS_LEASE_SECONDS": "30",
        }
        worker = server.url("shared").replace("//postgres@", "//foilworks_worker@")
        of_nodes = {**common, "DATABASE_URL": worker, "FOILWORKS_HOME": str(tmp_path / "head")}
        # Actors run on the other nodes only.
        with running_cluster(of_nodes, 0) as cluster:
            yield Lab(tmp_path, common, server, cluster)


def shards_of(lab: Lab, node: psutil.Popen, job: str) -> list[str]:
    """The running rows of the job that the node's processes hold: its shards, or itself where it has none."""
    pids = {process.pid for process in node.children(recursive=True)}
    rows = lab.rows("SELECT id, worker FROM jobs_job WHERE state = 'running' AND %s IN (id, parent_id)", job)
    found = [str(pk) for pk, worker in rows if int(worker.rpartition(":")[2]) in pids]
    return [pk for pk in found if pk != job] or [pk for pk in found if "generation" in lab.dotted(pk)]


def kill_in_the_middle(lab: Lab, title: str, model: str) -> tuple[str, dict[str, str]]:
    """Queue the job and kill a node that works on it: the job, and the rows that the node held, with their workers.

    Until then nobody can write a result, so that none is over before.
    """
    found: list[tuple[psutil.Popen, list[str]]] = []

    def caught() -> bool:
        nodes = [node for node in lab.cluster.nodes[1:] if node.poll() is None]
        found.extend((node, held) for node in nodes if (held := shards_of(lab, node, job)))
        return bool(found)

    with psycopg.connect(host=str(lab.server.folder), user="postgres", dbname="shared") as connection:
        connection.execute(f"LOCK TABLE {WRITES[title]} IN EXCLUSIVE MODE")
        job = lab.run("shared", title, model)["job"]
        lab.until(caught)
        node, held = found[0]
        workers = dict(lab.rows("SELECT id::text, worker FROM jobs_job WHERE id::text = ANY(%s)", held))
        lab.cluster.kill(node)
    return job, workers


def all_done(lab: Lab, rows: list[str]) -> bool:
    return set(lab.rows("SELECT state FROM jobs_job WHERE id::text = ANY(%s)", rows)) == {("done",)}


@pytest.mark.slow(seconds=120)
def test_three_nodes_one_killed_in_each_job_give_what_one_host_gives(lab):
    model = str(lab.folder / "model")
    for name in ("first", "second", "third"):
        lab.start_node(name)
    lab.make(model)
    engine = lab.engine()
    try:
        for number, title in enumerate(WRITES):
            job, lost = kill_in_the_middle(lab, title, model)
            lab.start_node(f"node-{number}")
            lab.until(partial(all_done, lab, [job]))
            again = lab.rows("SELECT id::text, worker, losses FROM jobs_job WHERE id::text = ANY(%s)", list(lost))
            assert {losses for _, _, losses in again} == {1}, title
            # How many actors share the rest is up to Ray; what was lost ended on another one.
            assert all(worker != lost[pk] for pk, worker, _ in again), title
    finally:
        engine.send_signal(signal.SIGTERM)
        engine.wait(60)
    # Those of the default queue wait: no worker of a web host runs here.
    ended = lab.rows("SELECT DISTINCT state, error FROM jobs_job WHERE queue = 'gpu'")
    assert ended == [("done", "")], lab.logs()

    found = lab.run("shared", "look")
    assert len({tuple(row[:2]) for row in found["scores"]}) == len(found["scores"]) == 2 * CLIPS
    assert len({tuple(row[:2]) for row in found["frames"]}) == len(found["frames"]) == FRAMES * CLIPS
    assert len({tuple(row) for row in found["candidates"]}) == len(found["candidates"]) == 2 * CAPTIONS

    lab.run("alone", "make", model)
    for title in WRITES:
        lab.run("alone", title, model)
    assert set(lab.run("alone", "alone").values()) == {"done"}
    assert lab.run("alone", "look") == found


@pytest.mark.slow(seconds=90)
def test_clips_are_decoded_on_a_node_without_gpu_and_by_the_actor_when_that_is_lost(lab):
    model = str(lab.folder / "model")
    # The actor holds the only processor of the node with the GPU.
    lab.cluster.start(1, gpus=1, FOILWORKS_HOME=str(lab.folder / "gpu"))
    processors = lab.cluster.start(2, FOILWORKS_HOME=str(lab.folder / "processors"))
    lab.make(model)
    engine = lab.engine(1, RAY_DECODERS="3")
    try:
        lab.until(partial(all_done, lab, [lab.run("shared", "describing", model)["job"]]))
        assert (lab.fetched("processors"), lab.fetched("gpu")) == (CLIPS, 0), lab.logs()
        lab.cluster.kill(processors)
        # Other frames of the same clips, so that the cache has none of them.
        lab.until(partial(all_done, lab, [lab.run("shared", "scoring", model)["job"]]))
    finally:
        engine.send_signal(signal.SIGTERM)
        engine.wait(60)
    lab.run("alone", "make", model)
    for title in ("scoring", "describing"):
        lab.run("alone", title, model)
    lab.run("alone", "alone")
    found = lab.run("alone", "look")
    assert lab.run("shared", "look") == found
    assert len(found["scores"]) == 2 * CLIPS
