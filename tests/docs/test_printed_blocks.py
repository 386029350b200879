"""Every block of shell on the pages for operators runs as printed, with real programs, or it is named here why not."""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import psycopg
import pytest

from foilworks.site.supervisor.embedded_redis import EmbeddedRedis
from scripts.doc_pages import DOCS, ROOT, split
from tests.docs.slurm_cluster import missing, running_slurm
from tests.object_store import running_store
from tests.ports import free_port
from tests.postgres import running_postgres
from tests.waiting import wait_until

PAGES = ("how-to/clusters.md", "how-to/gpu-jobs.md", "how-to/operations.md", "how-to/back-up.md", "deploy.md")
PROGRAMS = Path(sys.executable).parent
# Both would be cut or evaluated by a shell.
PASSWORD = "a$b&c`d"
# The sample release is small: shards of the usual size would be one.
SHARDS = {"FOILWORKS_SHARD_ITEMS": "8"}
SLURM, RAY, BACKUP, HERE = "Slurm", "Ray", "backup", "this machine"
# The start of a block -> where it runs: a test below, or why it does not run.
BLOCKS = {
    "DATABASE_URL=postgresql://foilworks_worker": SLURM,
    'psql "$DATABASE_URL"': SLURM,
    "deploy/slurm/submit.sh cpu --count 16": SLURM,
    "(umask 077; openssl rand": RAY,
    "export FOILWORKS_ENVIRONMENT=": RAY,
    "ray start --head": RAY,
    "ray start --address": RAY,
    "RAY_ADDRESS=head:6379 foilworks worker": RAY,
    ".venv/bin/foilworks backup --out": BACKUP,
    "promtool check rules": HERE,
    # Why not.
    "deploy/slurm/submit.sh 8b --count 8": "needs a GPU; tests/docs/test_clusters.py reads what sbatch gets",
    "deploy/slurm/submit.sh 8b --count 4 --ray": "needs a GPU; tests/docs/test_clusters.py runs ray.sbatch",
    "foilworks worker --environment": "needs a GPU; the tasks of Slurm run it with --cpu",
    "RAY_ADDRESS=head:6379 RAY_DECODERS": "tests/foilworks/test_ray_nodes.py decodes on other nodes",
    "RAY_RESOURCES=": "a line for the file; tests/foilworks/test_settings.py reads it",
    "foilworks worker --ray --slots 16 --until-empty": "tests/docs/test_clusters.py runs ray.sbatch",
    "cat output/metas_jsonl": "needs output of cosmos-curator; tests/docs/test_clusters.py makes such a file",
    "DATABASE_URL=postgresql://…": "the same file as that of clusters.md, which the tasks of Slurm read",
    "systemctl status": "needs systemd as the first process; tests/foilworks/test_deploy.py verifies the units",
    ".venv/bin/python -m pytest -m machines": "it is a test itself",
    "python3.11 -m venv venv": "tests/foilworks/test_wheel.py installs the wheel and runs it",
    "cp deploy/environment.example": "needs a container engine; tests/foilworks/test_image.py serves the image's files",
    "fw run --rm models": "needs a container engine and the hub",
    "useradd --system": "needs systemd, and changes the machine; tests/foilworks/test_topology.py runs the parts",
    "FOILWORKS_HOME=/var/lib/foilworks": "tests/foilworks/test_production.py reads these variables",
    "git clone … /opt/foilworks-2": "needs systemd, and changes the machine",
}


def blocks(page: str) -> list[str]:
    """The blocks that a person types, or writes into a file; not examples of Python or settings."""
    found = split((DOCS / page).read_text(encoding="utf-8"))[1]
    return [block.text.strip() for block in found if block.language in {"", "bash", "sh", "console"}]


def block(start: str) -> str:
    (text,) = [text for page in PAGES for text in blocks(page) if text.startswith(start)]
    return text


def test_every_block_runs_in_a_test_or_says_why_not():
    everything = [text for page in PAGES for text in blocks(page)]
    starts = {start: [text for text in everything if text.startswith(start)] for start in BLOCKS}
    assert [start for start, texts in starts.items() if not texts] == []
    assert [text for text in everything if not any(text.startswith(start) for start in BLOCKS)] == []
    named = {path for why in BLOCKS.values() for path in re.findall(r"tests/[\w/]+\.py", why)}
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.mark.machines
def test_blocks_for_this_machine():
    for start in (start for start, where in BLOCKS.items() if where == HERE):
        command = block(start)
        if not shutil.which(command.split()[0]):
            pytest.skip(f"{command.split()[0]} is not installed")
        subprocess.run(["bash", "-c", command], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.machines
def test_the_commands_of_a_backup_run_as_printed(tmp_path):
    safe = tmp_path / "safe"
    safe.mkdir()
    environment = {**os.environ, "FOILWORKS_HOME": str(tmp_path / "home")}
    subprocess.run([PROGRAMS / "foilworks", "migrate"], env=environment, check=True, capture_output=True)
    commands = block(".venv/bin/foilworks backup").replace("/mnt/safe", str(safe)).replace(".venv/bin", str(PROGRAMS))
    done = subprocess.run(["bash", "-euc", commands], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "invariants hold" in done.stdout


@dataclass
class Site:
    """A web host: PostgreSQL with passwords, a store, a queue; `user` is the home of somebody on the cluster, and
    `file` what is in their file of the environment."""

    folder: Path
    environment: dict[str, str]
    owner: str
    file: str
    # The id of the scoring.
    job: str = ""

    @property
    def user(self) -> Path:
        return self.folder / "user"

    def desk(self, *arguments: str) -> dict:
        command = [sys.executable, "-m", "tests.foilworks.shared_work", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    def rows(self, query: str) -> list[tuple]:
        with psycopg.connect(self.owner) as connection:
            return connection.execute(query).fetchall()

    def bash(self, commands: str, **variables: str) -> str:
        """What the commands print; they are typed by the person on the cluster, in a clone."""
        inherited = {name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ}
        path = f"{PROGRAMS}:{os.environ['PATH']}:/usr/sbin"
        given = {**inherited, "HOME": str(self.user), "PATH": path, "PYTHONPATH": str(ROOT), **variables}
        done = subprocess.run(["bash", "-euc", commands], cwd=ROOT, env=given, capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return done.stdout

    def queue_scoring(self, model: str) -> None:
        self.job = self.desk("scoring", str(self.folder / model))["job"]

    def has_scored(self) -> bool:
        ((state, error),) = self.rows(f"SELECT state, error FROM jobs_job WHERE id = '{self.job}'")
        assert state != "failed", error
        return state == "done"

    def check_scores(self) -> None:
        """Each clip of the sample release has a score, by shards."""
        ((n_clips,),) = self.rows("SELECT count(DISTINCT video_id) FROM corpus_releaseitem")
        ((key, problems),) = self.rows(f"SELECT model_key, problems FROM evaluation_run WHERE job_id = '{self.job}'")
        assert n_clips > 100
        scored = f"SELECT count(DISTINCT clip_key) FROM evaluation_score WHERE model_key = '{key}'"
        assert self.rows(scored) == [(n_clips,)]
        assert not {"unreadable", "missing_media"} & problems.keys()
        assert self.rows(f"SELECT count(*) > 9 FROM jobs_job WHERE parent_id = '{self.job}'") == [(True,)]


@pytest.fixture(scope="module")
def installation(tmp_path_factory) -> Iterator[Site]:
    """With the sample project and its release."""
    folder, port = tmp_path_factory.mktemp("web"), str(free_port())
    with ExitStack() as stack:
        # Before the server starts: its socket is named by the port.
        stack.enter_context(pytest.MonkeyPatch.context()).setenv("PGPORT", port)
        server = stack.enter_context(running_postgres(listen_addresses="127.0.0.1", port=port))
        store = stack.enter_context(running_store(folder / "s"))
        with psycopg.connect(host=str(server.folder), port=port, user="postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE foilworks")
            # From here on, a connection over the network needs its password.
            rules = server.folder / "data" / "pg_hba.conf"
            rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
            connection.execute("SELECT pg_reload_conf()")
        owner = f"postgresql://postgres@/foilworks?host={server.folder}&port={port}"
        redis = EmbeddedRedis(folder / "queue")
        assert redis.acquire()
        stack.callback(redis.release)
        redis.start()
        stack.callback(redis.stop)
        text = "\n".join(block("DATABASE_URL=postgresql://foilworks_worker").splitlines()) + "\n"
        replaced = {
            "foilworks_worker:…@database.example.org/": f"foilworks_worker:{PASSWORD}@127.0.0.1:{port}/",
            "sslmode=require": "sslmode=prefer",
            "https://store.example.org": store.url,
            "AWS_ACCESS_KEY_ID=…": f"AWS_ACCESS_KEY_ID={store.environment['AWS_ACCESS_KEY_ID']}",
            "AWS_SECRET_ACCESS_KEY=…": f"AWS_SECRET_ACCESS_KEY={store.environment['AWS_SECRET_ACCESS_KEY']}",
            "rediss://…": f"unix://{redis.socket}",
        }
        for word, value in replaced.items():
            assert word in text
            text = text.replace(word, value)
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
        storage = re.search(r"^STORAGE_URL=(.*)$", text, re.MULTILINE)[1]
        given = {**store.environment, "STORAGE_URL": storage, "DATABASE_URL": owner, "PYTHONPATH": str(ROOT)}
        given |= {"REDIS_URL": f"unix://{redis.socket}", "FOILWORKS_HOME": str(folder / "home")}
        web_host = Site(folder, {**own, **given}, owner, text)
        web_host.desk("sample")
        yield web_host


@pytest.fixture
def site(installation, tmp_path) -> Site:
    """As somebody sees it who has not used a cluster yet."""
    own = replace(installation, folder=tmp_path, environment=dict(installation.environment))
    file = own.user / ".config" / "foilworks" / "environment"
    file.parent.mkdir(parents=True)
    file.write_text(own.file)
    file.chmod(0o600)
    return own


def make_role(site: Site) -> None:
    command = block('psql "$DATABASE_URL"')
    site.bash(command, DATABASE_URL=site.owner)
    with psycopg.connect(site.owner, autocommit=True) as connection:
        connection.execute(f"ALTER ROLE foilworks_worker PASSWORD '{PASSWORD}'")


@pytest.mark.machines
@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_two_nodes_of_a_real_slurm_score_from_the_printed_page(site):
    site.queue_scoring("of-slurm")
    make_role(site)
    # As many tasks as nodes: sixteen would only wait for each other here.
    submit = block("deploy/slurm/submit.sh cpu --count 16").replace("16", "2")
    with running_slurm(site.folder / "slurm", 2) as variables:
        logs = f"cd {site.folder} && {ROOT}/"
        number = site.bash(logs + submit, **variables, **SHARDS).split()[-1]

        def states() -> list[str]:
            shown = site.bash(f"squeue --noheader --states=all --job={number} --format=%T", **variables)
            return shown.split()

        def nodes() -> set[str]:
            return set(site.bash(f"squeue --noheader --states=all --job={number} --format=%N", **variables).split())

        def output() -> str:
            return "\n".join(path.read_text() for path in site.folder.glob(f"foilworks-{number}_*.log"))

        wait_until(lambda: not {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING"} & set(states()), log=output)
        assert states() == ["COMPLETED", "COMPLETED"], output()
        assert nodes() == {"n1", "n2"}
    assert site.has_scored(), output()
    site.check_scores()
    assert list(Path("/tmp").glob(f"foilworks-{number}*")) == []


@pytest.mark.machines
@pytest.mark.skipif(not (PROGRAMS / "ray").exists(), reason="Ray is not installed")
def test_three_nodes_of_a_real_ray_score_from_the_printed_page(site):
    # Ray's sockets are below it, and their paths may have 107 characters.
    ray_folder = Path("/tmp") / f"r-{secrets.token_hex(3)}"
    ray_folder.mkdir()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # No packet is sent: it is the address by which this machine reaches others.
        probe.connect(("192.0.2.1", 9))
        head = f"{probe.getsockname()[0]}:{free_port()}"
    site.environment["RAY_ADDRESS"] = head
    site.queue_scoring("of-ray")
    make_role(site)
    # "Leave out REDIS_URL with Ray."
    file = site.user / ".config" / "foilworks" / "environment"
    file.write_text(re.sub(r"^REDIS_URL=.*\n", "", site.file, flags=re.MULTILINE))
    site.bash(block("(umask 077; openssl"))
    variables = block("export FOILWORKS_ENVIRONMENT=")
    # Where Ray keeps its sockets, and that these nodes are one machine, the page need not say.
    quiet = {"RAY_TMPDIR": str(ray_folder), "RAY_USAGE_STATS_ENABLED": "0", **SHARDS}

    def typed(start: str) -> str:
        printed = block(start).replace("head:6379", head).replace("6379", head.partition(":")[2])
        return f"{variables}\n{printed}"

    def active_nodes() -> int:
        status = site.bash(f"{variables}\nray status --address {head}", **quiet)
        return len(re.findall(r"^ 1 node_", status.partition("Pending:")[0], re.MULTILINE))

    engine = None
    try:
        site.bash(typed("ray start --head"), **quiet, FOILWORKS_HOME=str(site.folder / "n1"))
        for n in (2, 3):
            site.bash(typed("ray start --address"), **quiet, FOILWORKS_HOME=str(site.folder / f"n{n}"))
        # A node that has just started is listed a moment later.
        wait_until(lambda: active_nodes() == 3)
        path = f"{PROGRAMS}:{os.environ['PATH']}"
        given = {"HOME": str(site.user), "PATH": path, "PYTHONPATH": str(ROOT), **quiet}
        command = typed("RAY_ADDRESS=head:6379 foilworks worker").replace("foilworks worker", "exec foilworks worker")
        with (site.folder / "engine.log").open("wb") as log:
            engine = psutil.Popen(
                ["bash", "-euc", command.replace("RAY_ADDRESS=", "export RAY_ADDRESS=").replace(" exec", "\nexec")],
                cwd=ROOT,
                env={**given, "FOILWORKS_HOME": str(site.folder / "n1")},
                stdout=log,
                stderr=log,
            )
        wait_until(site.has_scored, processes=[engine], log=(site.folder / "engine.log").read_text)
        site.check_scores()
    finally:
        if engine is not None:
            engine.terminate()
            engine.wait(60)
        of_ours = [
            one for one in psutil.process_iter(["cmdline"]) if str(ray_folder) in " ".join(one.info["cmdline"] or [])
        ]
        for process in of_ours:
            process.kill()
        psutil.wait_procs(of_ours, 10)
        shutil.rmtree(ray_folder, ignore_errors=True)
