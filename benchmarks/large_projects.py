"""Measure the pages and commands of large projects: processor seconds, statements and peak memory, before and after.

    git worktree add ../old add9d354
    .venv/bin/python benchmarks/large_projects.py --demo /home/of/a/demo --items 10000 100000 --against ../old

The sample project (`foilworks demo`) is copied into a PostgreSQL of its own, and its rows are copied until it has so
many items. Each tree requests every page once, in a process of its own and with nothing cached, and runs every command
once. Counted is the processor time of the process and of PostgreSQL, as other programs use the machine too. Printed:
the slowest pages and commands, the ratio of the other tree to this one, and how an item's time grows between the first
and the last size. `--databases` measures databases that are grown already. `--stored` requests each page before, and
runs the jobs that it queues: measured is the page that shows what is stored.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
# The tree that is measured: its pages and tests, with this script.
TREE = Path(os.environ.get("FOILWORKS_TREE", ROOT))
sys.path.append(str(ROOT / "benchmarks"))
import first_views  # noqa: E402 - with the folder of the benchmarks, which comes last

sys.path[:] = [str(TREE), *(path for path in sys.path if path not in {str(ROOT), str(TREE)})]
if str(ROOT / "benchmarks") in sys.path[:2]:
    sys.path.remove(str(ROOT / "benchmarks"))
TICKS = os.sysconf("SC_CLK_TCK")
KIB = 1024
# A page or command that needs more is stopped; by the clock, a busy machine gets five times as long.
LIMIT_SECONDS = 60.0
PATIENCE = 5
# The processor time that the jobs of a page may take.
JOB_SECONDS = 600.0
# Reports that read files, or wait for a model library.
REPORTS = ("validation", "agreement", "divergence", "blind", "position", "funnel", "people", "reviewing", "filters")
EXPORTS = ("foilworks", "jsonl", "csv", "vilma", "valse", "contrast", "hf", "hub", "inspect", "votes")
# Name: its arguments; {out} is a new folder, {file} the exported items, {release} the only release.
COMMANDS: dict[str, str] = {
    "export jsonl of the project": "export jsonl --project demo --out {keep}/items",
    **{f"export {form}": f"export {form} --project demo --release {{release}} --out {{out}}" for form in EXPORTS},
    **{f"report {kind}": f"report {kind} --project demo" for kind in REPORTS},
    "import": "import jsonl {keep}/items/records.jsonl --project demo",
    "audit": "audit {keep}/items/records.jsonl",
    "balance": "balance --file {keep}/items/records.jsonl",
    "check": "check",
    "ladder": "ladder --release {release}",
    "plan": "plan --project demo",
    "publish": "publish --project demo --release {release}",
    "refresh-dashboard": "refresh-dashboard --project demo",
    "release": "release --project demo --name second --override measured",
    "sources": "sources check --project demo",
    "pair": "pair --project demo --subtest pairs --dry-run",
    "digest": "digest",
    "doctor": "doctor",
    "backup": "backup --out {out}/backup",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=os.environ.get("FOILWORKS_HOME"), help="the home of the demo")
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--databases", nargs="*", default=[], help="addresses of databases grown already, small first")
    parser.add_argument("--against", type=Path, help="the other tree")
    parser.add_argument("--only", default="", help="a regular expression of the pages and commands to measure")
    parser.add_argument("--kinds", nargs="+", choices=STEPS, default=list(STEPS))
    parser.add_argument("--slowest", type=int, default=20)
    parser.add_argument("--list", action="store_true", help="one JSON line per measurement")
    parser.add_argument("--stored", action="store_true", help="measure pages whose results are stored")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="processor seconds that a page may take")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        measure = partial(pages, stored=True) if options.stored and options.step == "pages" else STEPS[options.step]
        for row in measure(options.only, options.limit):
            print(json.dumps(row), flush=True)
        return
    trees = [ROOT, *([options.against.resolve()] if options.against else [])]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="foilworks-large-")))
        home = copied_home(options.demo, folder)
        found = options.databases or stack.enter_context(grown(home, options.items))
        for kind in options.kinds:
            rows = [[step(tree, home, url, kind, options) for tree in trees] for url in found]
            report(kind, rows, options.slowest)


def copied_home(demo: Path, folder: Path) -> Path:
    home = folder / "home"
    shutil.copytree(demo, home, ignore=shutil.ignore_patterns(*first_views.LEFT_BEHIND))
    return home


@contextmanager
def grown(home: Path, sizes: list[int]) -> Iterator[list[str]]:
    """Run a PostgreSQL with a database of each size while the block runs; their addresses."""
    from tests.postgres import running_postgres

    settings = {"shared_buffers": "512MB", "autovacuum": "off", "max_parallel_workers_per_gather": "0", "jit": "off"}
    with running_postgres(**settings) as server:
        urls = [server.make(f"items{size}") for size in sizes]
        for url, size in zip(urls, sizes, strict=True):
            program = f"import _large; print(_large.fill({size}, {str(home)!r}), 'items')"
            subprocess.run([sys.executable, "-c", program], env=environment(ROOT, home, url), check=True)
        yield urls


def environment(tree: Path, home: Path, url: str) -> dict[str, str]:
    own = {"FOILWORKS_TREE": str(tree), "FOILWORKS_HOME": str(home), "DATABASE_URL": url}
    path = f"{tree}{os.pathsep}{ROOT / 'benchmarks'}"
    return {**os.environ, **own, "PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}


def step(tree: Path, home: Path, url: str, kind: str, options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Measure one kind in a tree; {name: its measurements}."""
    command = [
        sys.executable,
        str(Path(__file__).resolve()),
        "--step",
        kind,
        "--only",
        options.only,
        "--limit",
        str(options.limit),
        *(["--stored"] if options.stored else []),
    ]
    found = {}
    env = environment(tree, home, url) | {"PYTHONPATH": str(tree)}
    with subprocess.Popen(command, cwd=tree, env=env, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            row = json.loads(line)
            found[row["name"]] = row
            if options.list:
                print(json.dumps({"tree": tree.name, **row}), flush=True)
    if child.returncode:
        sys.exit(f"{tree}: the {kind} could not be measured")
    return found


def report(kind: str, rows: list[list[dict[str, dict[str, Any]]]], slowest: int) -> None:
    """Print the slowest of the last size: this tree, the other one over it, and the growth of each."""
    last = rows[-1]
    print(f"\n{kind}: CPU seconds | statements | MiB | growth an item || the other tree: CPU over this | MiB over this")
    for name in sorted(last[0], key=lambda name: -max(tree.get(name, NOTHING)["cpu"] for tree in last))[:slowest]:
        here = last[0][name]
        line = f"{here['cpu']:8.2f} {here['statements']:6} {here['mib']:6} {_growth(rows, 0, name)}"
        other = last[1].get(name) if len(last) > 1 else None
        if other and other["status"] == "stopped":
            # Its processor time is that of the web process alone, so a ratio would say too little.
            line += " || stopped"
        elif other:
            line += f" || {_over(other, here, 'cpu')} {_over(other, here, 'mib')} {_growth(rows, 1, name)}"
        print(f"{line}  {here['status']} {name}")


NOTHING = {"cpu": 0.0, "mib": 0}


def _over(one: dict[str, Any], other: dict[str, Any], what: str) -> str:
    return f"{one[what] / max(other[what], 0.01):7.2f}"


def _growth(rows: list[list[dict[str, dict[str, Any]]]], tree: int, name: str) -> str:
    """How much more an item costs at the last size than at the first, without what a start costs."""
    small, large = rows[0][tree].get(name), rows[-1][tree].get(name)
    if len(rows) < 2 or not small or not large:
        return "     -"
    a_small, a_large = small["cpu"] / small["items"], large["cpu"] / large["items"]
    return f"{a_large / a_small:6.2f}"


def pages(only: str, limit: float, *, stored: bool = False) -> Iterator[dict[str, Any]]:
    """Request each page, and again with what its progress asks for."""
    first_views.start()
    found, _absent = first_views.alone(first_views.prepared, "demo")
    n = first_views.alone(_n_items)
    for page in found:
        if not page.person or not re.search(only, page.address):
            continue
        if stored:
            alone(JOB_SECONDS, finished, page)
        row = alone(limit, visited, page, stored)
        # The token of a task differs each time.
        yield named(row, re.sub(r"(/work/\w+/).+", r"\1…", page.address), n)
        if row.get("waits"):
            address = page.address + ("&" if "?" in page.address else "?") + "now=1"
            again = first_views.Page(page.name, address, page.person)
            yield named(alone(limit, visited, again, stored), address, n)


def finished(page: first_views.Page) -> None:
    """Request the page, and run the jobs that compute what it will show."""
    from foilworks.core.jobs.models import Job, JobState
    from foilworks.core.jobs.runner import run_now

    waiting = Job.objects.filter(state=JobState.WAITING, dotted__startswith="evaluation.")
    # Those of earlier measurements, whose rows are deleted.
    waiting.delete()
    first_views.measured(page, stored=True)
    for job in waiting.order_by("created_at"):
        run_now(job)


def named(row: dict[str, Any], name: str, items: int) -> dict[str, Any]:
    return {**row, "name": name, "items": items}


def _n_items() -> int:
    from foilworks.core.corpus.models import Item

    return Item.objects.count()


def visited(page: first_views.Page, stored: bool) -> dict[str, Any]:
    from django.db import connection

    from evaluation.cached_results.models import CachedResult

    if not stored:
        CachedResult.objects.all().delete()
    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    used, before = _cpu_of(backend), _peak_mib()
    row = first_views.measured(page, stored=stored)
    return {
        "cpu": round(row["cpu"] + _cpu_of(backend) - used, 2),
        "statements": row["queries"],
        "mib": _peak_mib() - before,
        "status": row["status"],
        "waits": row["progress"] and row["html"],
        "bytes": row["bytes"],
    }


def alone(limit: float, act: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """Return what `act` returns in a process of its own, or that it took too long."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_tell, args=(there, act, args))
    process.start()
    try:
        until = time.monotonic() + PATIENCE * limit
        while not here.poll(0.5):
            if _cpu_of(process.pid) > limit or time.monotonic() > until:
                used = _cpu_of(process.pid)
                first_views.alone(_end_statements)
                return {"cpu": used, "statements": 0, "mib": 0, "status": "stopped"}
        return here.recv()
    finally:
        process.kill()
        process.join()


def _tell(there: Any, act: Callable[..., Any], args: tuple[Any, ...]) -> None:
    there.send(act(*args))


def _end_statements() -> None:
    """PostgreSQL goes on with the statement of a client that is gone."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()"
        )


def _cpu_of(pid: int) -> float:
    """Seconds of a process, user and system."""
    return _stat(pid, 11, 12)


def _stat(pid: int, *fields: int) -> float:
    values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(values[field]) for field in fields) / TICKS


def _peak_mib() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KIB


def commands(only: str, limit: float) -> Iterator[dict[str, Any]]:
    """Run each command once, in the order of COMMANDS: later ones read the files of earlier ones."""
    first_views.start()
    n, release, server = first_views.alone(_known)
    with tempfile.TemporaryDirectory(prefix="foilworks-commands-") as keep:
        for name, line in COMMANDS.items():
            if not re.search(only, name) and "{keep}/items" not in line.split()[-1:]:
                continue
            with tempfile.TemporaryDirectory(prefix="foilworks-command-") as out:
                values = {"keep": keep, "out": f"{out}/new", "release": release}
                yield named(ran([part.format(**values) for part in line.split()], server, limit), name, n)


def _known() -> tuple[int, int, int]:
    """The number of items, the first release, and the first process of PostgreSQL."""
    from django.db import connection

    from evaluation.cached_results.models import CachedResult
    from foilworks.core.corpus.models import Release

    CachedResult.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
        return _n_items(), Release.objects.order_by("pk").values_list("pk", flat=True)[0], int(cursor.fetchone()[0])


def ran(arguments: list[str], server: int, limit: float) -> dict[str, Any]:
    """Run a command; the server's part is the time of its processes that ended meanwhile."""
    with tempfile.TemporaryFile() as told:
        before = _ended(server)
        command = [sys.executable, str(TREE / "manage.py"), *arguments, "--json"]
        child = subprocess.Popen(command, cwd=TREE, stdout=subprocess.DEVNULL, stderr=told)
        until = time.monotonic() + 4 * PATIENCE * limit
        while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > until:
                child.kill()
            time.sleep(0.02)
        _pid, status, used = ended
        child.returncode = os.waitstatus_to_exitcode(status)
        time.sleep(0.3)
        told.seek(0)
        why = told.read().decode(errors="replace").strip().splitlines()[-1:] if child.returncode else []
    return {
        "cpu": round(used.ru_utime + used.ru_stime + _ended(server) - before, 2),
        "statements": 0,
        "mib": used.ru_maxrss // KIB,
        "status": child.returncode,
        **({"why": why[0][:200]} if why else {}),
    }


def _ended(server: int) -> float:
    return _stat(server, 13, 14)


STEPS: dict[str, Callable[[str, float], Iterator[dict[str, Any]]]] = {"pages": pages, "commands": commands}


if __name__ == "__main__":
    main()
