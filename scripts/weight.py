"""Measure how heavy Foilworks is: installation, memory, pages, starts of commands. Compare with the last release.

    .venv/bin/python scripts/weight.py                     status 1 if a number grew by more than a tenth
    .venv/bin/python scripts/weight.py --demo HOME         with the pages of the demo in HOME, which is only read
    .venv/bin/python scripts/weight.py --install           and install into a new environment, with its time
    .venv/bin/python scripts/weight.py --demo HOME --update    store the numbers in benchmarks/weight.json

Compared: megabytes of packages, megabytes of memory that a process shares with no other, kilobytes of a page with its
styles and scripts, as gzip compresses them, and the number of modules that the start of a command imports. Printed
only: seconds, PSS, and the CPU time of a start as a multiple of `python -c pass`. They depend on the machine.
"""

import argparse
import gzip
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)
STORED = ROOT / "benchmarks" / "weight.json"
MAX_GROWTH = 0.1
NAME = "foilworks"
EXTRAS = ("models", "ray", "sentry", "docs")
DEMO_USER, DEMO_PAGE = "demo-researcher", "/projects/demo/"
STARTS = 3
SETUP = "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'foilworks.site.settings'; "
MEMORY = (
    "; print(*[line.split()[1] for line in open('/proc/self/smaps_rollup') if line.startswith(('Pss:', 'Anonymous:'))])"
)
PROCESSES = {
    "web process": SETUP + "import foilworks.site.wsgi",
    "worker": SETUP + "import django; django.setup(); "
    "from foilworks.site.supervisor.worker import import_jobs; "
    "from foilworks.core.jobs.affinity_worker import ModelAffinityWorker; "
    "import_jobs()",
}
START = SETUP + (
    "import sys, atexit; atexit.register(lambda: sys.stderr.write('modules ' + str(len(sys.modules)))); "
    "from foilworks.site.cli import main; main()"
)
LINKED = re.compile(r'<link rel="(?:stylesheet|modulepreload|icon)" href="([^"]+)"|<script [^>]*src="([^"]+)"')
MENU = re.compile(rf'href="({DEMO_PAGE}[^"?#]*)"')

# Name of a number -> the number.
Numbers = dict[str, float]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--demo", type=Path, metavar="HOME", help="home of a demo, for the pages")
    parser.add_argument("--install", action="store_true", help="install into a new environment, too")
    parser.add_argument("--update", action="store_true", help=f"write {STORED.relative_to(ROOT)}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foilworks-weight-") as folder:
        home = Path(folder)
        os.environ |= {"FOILWORKS_HOME": folder, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
        numbers = {**packages(), **memory(), **starts(), **(pages(options.demo, home) if options.demo else {})}
        if options.install:
            install(home / "environment")
    before = json.loads(STORED.read_text(encoding="utf-8"))["numbers"] if STORED.exists() else {}
    sys.stdout.write(table(before, numbers))
    if options.update:
        STORED.write_text(json.dumps({"version": metadata.version(NAME), "numbers": numbers}, indent=1) + "\n")
        return 0
    heavier = grown(before, numbers)
    sys.stdout.writelines(f"heavier than {STORED.name} by more than {MAX_GROWTH:.0%}: {name}\n" for name in heavier)
    return 1 if heavier else 0


def grown(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Return the names of the numbers that grew by more than MAX_GROWTH; a new name has nothing to be compared with."""
    return [name for name in now if name in before and now[name] > before[name] * (1 + MAX_GROWTH)]


def table(before: Mapping[str, float], now: Mapping[str, float]) -> str:
    rows = [f"{'':<46}{'before':>9}{'now':>9}"]
    for name in [*now, *(name for name in before if name not in now)]:
        shown = [f"{numbers[name]:>9g}" if name in numbers else f"{'-':>9}" for numbers in (before, now)]
        rows.append(f"{name:<46}{''.join(shown)}")
    return "\n".join(rows) + "\n"


def packages() -> Numbers:
    """Measure what is installed here: without extras, then what each extra adds."""
    base = required("")
    found = {"MB installed, without extras": megabytes(base)}
    for extra in EXTRAS:
        added = required(extra) - base
        if all(_is_installed(name) for name in added):
            found[f"MB installed, added by {extra}"] = megabytes(added)
    return found


def required(extra: str) -> set[str]:
    """Return the packages that an installation with the extra has, Foilworks among them."""
    found: set[str] = set()
    waiting = [(NAME, frozenset({extra}))]
    seen = set(waiting)
    while waiting:
        name, extras = waiting.pop()
        found.add(name)
        for line in (metadata.requires(name) or ()) if _is_installed(name) else ():
            wanted = Requirement(line)
            if wanted.marker and not any(wanted.marker.evaluate({"extra": one}) for one in extras | {""}):
                continue
            reached = (canonicalize_name(wanted.name), frozenset(wanted.extras))
            if reached not in seen:
                seen.add(reached)
                waiting.append(reached)
    return found


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def megabytes(names: set[str]) -> float:
    files = {path for name in names for path in _files(name)}
    return round(sum(path.stat().st_size for path in files if path.is_file()) / 1e6, 1)


def _files(name: str) -> Iterator[Path]:
    """Yield the files of a package, without byte code; those of Foilworks are in this checkout."""
    if name == NAME:
        listed = subprocess.run(["git", "ls-files", "*/*.*"], cwd=ROOT, capture_output=True, text=True, check=True)
        tops = ("tests/", "docs/", "benchmarks/", "scripts/", "deploy/")
        yield from (ROOT / line for line in listed.stdout.splitlines() if not line.startswith(tops))
        return
    for file in metadata.distribution(name).files or ():
        if file.suffix != ".pyc":
            yield Path(str(file.locate()))


def memory() -> Numbers:
    """Measure a web process without requests, and a worker without jobs. Prints their PSS."""
    found = {}
    for name, program in PROCESSES.items():
        done = subprocess.run(
            [sys.executable, "-c", program + MEMORY], capture_output=True, text=True, check=True, cwd=ROOT
        )
        pss, own = (int(kilobytes) / 1000 for kilobytes in done.stdout.split())
        print(f"{name}: PSS {pss:.0f} MB")
        found[f"MB of memory of its own, {name}"] = round(own, 1)
    return found


def starts() -> Numbers:
    """Count the modules of each command's start. Prints its CPU time as a multiple of that of an empty program."""
    from foilworks.site.cli import own_commands

    empty = min(_start([sys.executable, "-c", "pass"])[0] for _ in range(STARTS))
    found: Numbers = {}
    for name in ("", *own_commands()):
        seconds, modules = _start([sys.executable, "-c", START, *([name] if name else []), "--help"])
        label = f"modules, {NAME} {name or '--help'}"
        print(f"{label}: {seconds / empty:.0f} times `python -c pass`")
        found[label] = modules
    return found


def _start(command: list[str]) -> tuple[float, int]:
    """Return (CPU seconds, modules at its end)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    counted = re.findall(r"modules (\d+)$", done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, int(counted[-1]) if counted else 0


def pages(demo: Path, home: Path) -> Numbers:
    """Measure every page in the menu of the demo project, with a copy of its database."""
    with sqlite3.connect(f"file:{demo}/foilworks.sqlite3?mode=ro", uri=True) as source:
        source.backup(sqlite3.connect(home / "foilworks.sqlite3"))
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", "--no-backup", verbosity=0)
    client = Client(headers={"host": "localhost"})
    client.force_login(get_user_model().objects.get(username=DEMO_USER))
    menu = sorted(set(MENU.findall(client.get(DEMO_PAGE).content.decode())) | {DEMO_PAGE})
    return {f"kB of a page, {path}": page for path in menu if (page := _page(client.get(path)))}


def _page(answer: Any) -> float:
    """Return the kilobytes of a page with its styles and scripts, compressed; 0 for anything else than a page."""
    from django.conf import settings
    from django.contrib.staticfiles import finders

    if answer.status_code != 200 or not answer["Content-Type"].startswith("text/html"):
        return 0.0
    html = answer.content
    linked = {(link or script).removeprefix(settings.STATIC_URL) for link, script in LINKED.findall(html.decode())}
    files = [Path(str(finders.find(name))).read_bytes() for name in sorted(linked)]
    return round(sum(len(gzip.compress(content, 6)) for content in [html, *files]) / 1000, 1)


def install(folder: Path) -> None:
    """Print the seconds and megabytes of the packages without extras in a new environment."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    before, began = _size(folder), time.monotonic()
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), *wanted], check=True)
    seconds, grew = time.monotonic() - began, (_size(folder) - before) / 1e6
    print(f"installation without extras: {seconds:.0f} s, {grew:.0f} MB with byte code")


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


if __name__ == "__main__":
    sys.exit(main())
