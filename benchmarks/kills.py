"""Kill processes at random moments in every stage, and compare the outcome with an undisturbed run.

Stages: import, generation, description, scoring, teacher training, freeze, export, backup. Between them the web server,
Redis and everything at once are killed, while people annotate, review and validate. Each stage first runs undisturbed.
Then each SIGKILL hits the process that works on a stage. A job must continue by itself, a command is started again, and
the outcome must equal that of the undisturbed run. After every kill `foilworks check` must find nothing, and every
export and backup with a final name must be complete. At the end each acknowledged answer is stored once, and the last
backup is restored beside the installation.

    .venv/bin/python benchmarks/kills.py --kills 200 --database sqlite
    .venv/bin/python benchmarks/kills.py --kills 200 --database postgresql
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# First, because it puts the root on the path.
import _served  # noqa: F401
import django
import psutil
from _kill_commands import BackingUp, Command, Exporting, Freezing
from _kill_stages import JOBS, PROGRAM, Stage, Unit, World, make_world, wait_until
from _soak_account import account, check_by_command, check_now
from _soak_people import Diary, persistent, start_people
from _topology import POSTGRES, Tree, kill_all, wait_for

from tests.hub.chat_server import Said, chat_server, content
from tests.ports import free_port

STAGES: tuple[type[Stage], ...] = (*JOBS, Freezing, Exporting, BackingUp)
PEOPLE = {"validator": 3, "annotator": 1, "reviewer": 1}
ITEMS = 300
# Kills of one round: one in each stage that is a job or a command, and those of the servers.
PER_ROUND = {stage.name: 2 for stage in STAGES} | {"web process": 1, "queue": 1, "everything": 1}
ANSWER_SECONDS, AIM_SECONDS = 0.04, 40.0
SOONER = 0.8
# A job whose worker died five times waits for a person (foilworks.core.jobs.queue.MAX_LOSSES).
MAX_KILLS_PER_UNIT = 3


@dataclass
class Machine:
    """The processes under test; `postgres` is None on SQLite."""

    folder: Path
    port: int
    trees: list[Tree]
    postgres: Any

    def revive(self) -> None:
        """Restart what is dead, as a service manager does."""
        for tree in self.trees:
            if not tree.alive():
                tree.kill()
                tree.start()

    def children(self) -> list[psutil.Process]:
        return [child for tree in self.trees for child in tree.children()]


@dataclass
class Tally:
    """Counts of one stage."""

    kills: int = 0
    units: int = 0
    killed: int = 0
    resumed: int = 0
    retries: int = 0
    equal: int = 0


@dataclass
class Run:
    machine: Machine
    stages: dict[str, Stage]
    chance: random.Random
    diary: Diary
    baselines: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    number: int = 0

    def undisturbed(self) -> None:
        for name, stage in self.stages.items():
            unit, began = self._started(stage), time.monotonic()
            if isinstance(stage, Command):
                assert unit.process.wait(300) == 0, self._log()
            else:
                wait_until(lambda unit=unit: unit.job().is_over, name)
                assert unit.job().state == "done", unit.job().error
            self.seconds[name] = time.monotonic() - began if unit.process else job_seconds(unit)
            self.baselines[name], self.tallies[name] = stage.outcome(unit), Tally()
            say(f"{name}: {self.seconds[name]:.1f} s undisturbed")

    def _started(self, stage: Stage) -> Unit:
        self.number += 1
        return persistent(lambda: stage.start(self.number))

    def kill(self, kind: str) -> bool:
        """Kill once in this way; return False if nothing was running."""
        stage = self.stages.get(kind)
        if stage is None:
            return self._kill_servers(kind)
        unit = self.units.get(kind) or self._started(stage)
        self.units[kind] = unit
        if unit.kills >= MAX_KILLS_PER_UNIT:
            return False
        hit = self._kill_command(stage, unit) if isinstance(stage, Command) else self._kill_job(unit)
        if hit:
            unit.kills += 1
            self.tallies[kind].kills += 1
        else:
            # It was too late: the machine is faster than in the undisturbed run.
            self.seconds[kind] *= SOONER
        return hit

    def _kill_command(self, stage: Command, unit: Unit) -> bool:
        process, began = unit.process, time.monotonic()
        last = self.seconds[stage.name]
        while process.poll() is None and not stage.is_at_work(unit) and time.monotonic() - began < 3 * last:
            time.sleep(0.002)
        spent = time.monotonic() - began
        # A stage that shows no sign of its work is killed in the second half of its time.
        left = max(0.05, last - spent) if spent > 0.1 * last else last
        time.sleep(self.chance.uniform(0.5 * left if spent < 0.1 * last else 0, left))
        hit = process.poll() is None
        kill_all([process])
        persistent(lambda: stage.check_half_way(unit))
        if hit:
            stage.start_again(unit)
        return hit

    def _kill_job(self, unit: Unit) -> bool:
        until = time.monotonic() + AIM_SECONDS
        while not (row := self._running(unit)):
            if unit.job().is_over or time.monotonic() > until:
                return False
            self.machine.revive()
            time.sleep(0.01)
        time.sleep(self.chance.uniform(0, 0.9 * self.seconds[unit.stage]))
        row = self._running(unit)
        target = int(row.worker.rpartition(":")[2]) if row else 0
        found = [child for child in self.machine.children() if child.pid == target]
        kill_all(found)
        return bool(found)

    def _running(self, unit: Unit) -> Any:
        from django.db.models import Q

        from foilworks.core.jobs.models import Job

        job = unit.job()
        rows = Job.objects.filter(Q(pk=job.pk) | Q(parent=job.pk), state="running")
        return persistent(lambda: rows.order_by("-heartbeat_at").first())

    def _kill_servers(self, kind: str) -> bool:
        if kind == "everything":
            for tree in self.machine.trees:
                kill_all([tree.process])
            for name, unit in self.units.items():
                unit.kills += not isinstance(self.stages[name], Command)
            self.machine.revive()
            return True
        words = {"web process": "gunicorn", "queue": "redis-server", "database": "postgres"}[kind]
        if kind == "database":
            kill_all([psutil.Process(self.machine.postgres.process.pid)])
            restart(self.machine.postgres)
            return True
        found = [child for child in self.machine.children() if words in " ".join(_line(child))]
        kill_all([self.chance.choice(found)] if found else [])
        return bool(found)

    def settle(self, wait: bool = False) -> None:
        """Check the units that have ended; with `wait`, all of them."""
        for name, unit in list(self.units.items()):
            stage = self.stages[name]
            if wait:
                wait_until(lambda s=stage, u=unit: self._is_over(s, u), name)
            if self._is_over(stage, unit):
                self._look_at(stage, unit)
                del self.units[name]

    def _is_over(self, stage: Stage, unit: Unit) -> bool:
        self.machine.revive()
        if isinstance(stage, Command):
            code = unit.process.poll()
            if code and stage.is_complete(unit):
                return True
            if code:
                # A command that failed with an error when the database ended is started again, as an operator would.
                unit.retries += 1
                assert unit.retries < 20, self._log()
                stage.start_again(unit)
            return code == 0
        job = unit.job()
        if job.state == "failed":
            from foilworks.core.jobs.queue import retry

            assert "worker died" in job.error, job.error
            unit.retries += 1
            persistent(lambda: retry(job))
            return False
        return job.is_over

    def _look_at(self, stage: Stage, unit: Unit) -> None:
        found, tally = persistent(lambda: stage.outcome(unit)), self.tallies[stage.name]
        assert found == self.baselines[stage.name], f"{stage.name}: {found}, undisturbed {self.baselines[stage.name]}"
        tally.units += 1
        tally.equal += 1
        tally.retries += unit.retries
        tally.killed += unit.kills > 0
        tally.resumed += unit.kills > 0 and (isinstance(stage, Command) or not unit.retries)

    def _log(self) -> str:
        return (self.machine.folder / "commands.log").read_text()[-2000:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument(
        "--minutes", type=float, default=0, help="stop after this many minutes, whatever the number of kills"
    )
    options = parser.parse_args()
    with machine(options.database) as (found, world):
        result = soak(found, world, options)
    print(json.dumps({**vars(options), **result}, indent=1))
    say(table(result))


def soak(found: Machine, world: World, options: argparse.Namespace) -> dict[str, Any]:
    chance, diary, counts = random.Random(options.seed), Diary(), Counter()
    run = Run(found, {stage.name: stage(world) for stage in STAGES}, chance, diary)
    run.undisturbed()
    check_now("before the first kill")
    threads = start_people(found.port, diary, ITEMS, PEOPLE)
    missed, until = 0, time.monotonic() + (60 * options.minutes or float("inf"))
    for kind in rounds(chance, options.database):
        if counts.total() >= options.kills or time.monotonic() > until:
            break
        found.revive()
        if run.kill(kind):
            counts[kind] += 1
            check_now(f"after kill {counts.total()} ({kind})")
            if counts.total() % 10 == 0:
                say(f"{counts.total()} kills: {dict(counts)}")
        else:
            missed += 1
        run.settle()
        assert not diary.findings, diary.findings
    run.settle(wait=True)
    diary.over.set()
    while any(thread.is_alive() for thread in threads):
        found.revive()
        time.sleep(0.1)
    backup = run.stages[BackingUp.name]
    assert isinstance(backup, BackingUp)
    return {
        "kills_by_kind": dict(counts),
        "killed": counts.total(),
        "came_too_late": missed,
        "stages": {name: vars(tally) for name, tally in run.tallies.items()},
        "people": persistent(lambda: account(diary, None)),
        "check_by_command": check_by_command("--files"),
        "restored": rehearsed(backup.last),
    }


def job_seconds(unit: Unit) -> float:
    """Return the time from its first process that began to the last that ended."""
    from django.db.models import Max, Min, Q

    from foilworks.core.jobs.models import Job

    job = unit.job()
    found = Job.objects.filter(Q(pk=job.pk) | Q(parent=job.pk)).aggregate(a=Min("started_at"), b=Max("finished_at"))
    return (found["b"] - found["a"]).total_seconds()


def rounds(chance: random.Random, database: str) -> Iterator[str]:
    """Yield kinds as often as `PER_ROUND` says, in a new order each round."""
    kinds = PER_ROUND | ({"database": 1} if database == "postgresql" else {})
    while True:
        yield from chance.sample(sorted(kinds), sum(kinds.values()), counts=[kinds[kind] for kind in sorted(kinds)])


def rehearsed(copy: Path) -> dict[str, Any]:
    """Restore the last backup beside the installation."""
    done = subprocess.run(
        [PROGRAM, "restore", str(copy), "--rehearse", "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@contextmanager
def machine(database: str) -> Iterator[tuple[Machine, World]]:
    """Yield a fresh home on that database, with servers and people; this process joins it."""
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="fw-kills-", ignore_cleanup_errors=True))
        folder, postgres = Path(name), None
        folder.chmod(0o755)
        os.environ.pop("DATABASE_URL", None)
        if database == "postgresql":
            from tests.postgres import running_postgres

            postgres = stack.enter_context(running_postgres(folder, **POSTGRES))
            os.environ["DATABASE_URL"] = postgres.make("kills")
        server = stack.enter_context(chat_server(answer))
        os.environ |= {
            "FOILWORKS_HOME": str(folder / "home"),
            "DJANGO_SETTINGS_MODULE": "foilworks.site.settings",
            "FOILWORKS_LEASE_SECONDS": "3",
            "FOILWORKS_SHARD_ITEMS": "4",
            "FOILWORKS_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
            "CHAT_ENDPOINTS": "lab",
            "CHAT_LAB_URL": server.url,
            "CHAT_LAB_MODELS": " ".join(f"tiny-{number}" for number in range(2000)),
        }
        subprocess.run([PROGRAM, "migrate", "--verbosity", "0"], check=True)
        django.setup()
        world, port = make_world(folder), free_port()
        command = [str(PROGRAM), "up", "--port", str(port), "--workers", "2"]
        up = Tree("up", command, dict(os.environ), folder / "up.log")
        worker = Tree("worker", [str(PROGRAM), "worker", "--cpu"], dict(os.environ), folder / "worker.log")
        found = Machine(folder, port, [up, worker], postgres)
        for tree in (up, worker):
            stack.callback(tree.stop)
        up.start()
        wait_for(up, port)
        worker.start()
        yield found, world


def answer(body: dict[str, Any], _n: int) -> Said:
    """Return the describing model's answer after a while: a function of the request's bytes."""
    messages = json.dumps(body["messages"], sort_keys=True)
    found = content(f"['thing {hashlib.sha256(messages.encode()).hexdigest()[:6]}']")
    return Said(found.body, wait=ANSWER_SECONDS)


def restart(postgres: Any) -> None:
    """Restart PostgreSQL; a killed server's memory may be held for a moment."""
    for _ in range(40):
        postgres.process.poll()
        try:
            postgres.start()
        except AssertionError:
            time.sleep(0.1)
        else:
            return
    postgres.start()


def table(result: dict[str, Any]) -> str:
    lines = ["| stage | kills | units of work | of them killed | continued | equal to the undisturbed run |"]
    lines.append("|---|---|---|---|---|---|")
    for name, each in result["stages"].items():
        cells = (each["kills"], each["units"], each["killed"], each["resumed"], each["equal"])
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    others = {kind: n for kind, n in result["kills_by_kind"].items() if kind not in result["stages"]}
    return "\n".join([*lines, *(f"| {kind} | {n} | | | | |" for kind, n in others.items())])


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
