"""`foilworks COMMAND` as a process of its own, forked from one that has loaded what every command loads.

Settings, models and the command itself are read by the process, from the environment it is given, as after any other
start; Django and the libraries, which take two thirds of a start, are there already. What a start from nothing does is
held by tests/foilworks/test_cli.py and wherever a program is started by subprocess.
"""

import faulthandler
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# None of them reads the settings. pytest, because a process made by multiprocessing reads its maker's main module.
LOADED = (
    "tests.commands",
    "foilworks.site.cli",
    "django.core.management.commands.migrate",
    "django.contrib.auth.hashers",
    "django.core.handlers.wsgi",
    "django.db.backends.sqlite3.base",
    "django.db.migrations.executor",
    "django.forms",
    "django.template.backends.django",
    "av",
    "httpx",
    "numpy",
    "psycopg",
    "pytest",
    "redis",
    "rq",
    "scipy.optimize",
    "scipy.special",
    "sqlparse",
)
_PROCESSES = get_context("forkserver")
_PROCESSES.set_forkserver_preload(list(LOADED))


def foilworks(environment: Mapping[str, str], *arguments: object) -> subprocess.CompletedProcess:
    """The ended command, started in the root of the repository with this environment."""
    command = ["foilworks", *map(str, arguments)]
    with tempfile.TemporaryDirectory(prefix="fw-command-") as folder:
        out, error = Path(folder) / "out", Path(folder) / "error"
        process = _PROCESSES.Process(target=_run, args=(command, dict(environment), out, error))
        process.start()
        process.join()
        status = process.exitcode
        process.close()
        assert out.exists(), "the command was not begun"
        return subprocess.CompletedProcess(command, status, out.read_text(), error.read_text())


def _run(command: list[str], environment: dict[str, str], out: Path, error: Path) -> None:
    """In the new process: as the console script."""
    faulthandler.disable()
    for number, path in ((1, out), (2, error)):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(ROOT)
    with suppress(ValueError):
        sys.path.remove("")
    sys.argv = command
    from foilworks.site.cli import main

    main()
