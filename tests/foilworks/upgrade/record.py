"""The record of 0.3.0 (record_installation.py), and installations restored from it."""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from tests.commands import foilworks

ROOT = Path(__file__).resolve().parents[3]
COMMIT = "cc592f35"
FOLDER = Path(__file__).parent / COMMIT
ENGINES = ("sqlite", "postgresql")
HOME_PLACEHOLDER = "@HOME@"


@cache
def surface() -> dict[str, Any]:
    """Return what the version showed: addresses, the API's document, commands, settings, jobs, slugs, its client."""
    return _read(FOLDER / "surface.json.gz")


@cache
def recorded(engine: str) -> dict[str, Any]:
    """Return `installation` (people, secrets, ids of rows) and `answers` (what the version answered) of one engine."""
    return _read(FOLDER / f"{engine}.json.gz")


def _read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


class Installation:
    """A home and a database. `url` is empty for SQLite."""

    def __init__(self, home: Path, url: str = "") -> None:
        self.home, self.url = home, url
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "DATABASE_"))}
        own = {"FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings", "DATABASE_URL": url}
        # As when it was recorded: its webhook leads to this machine, and it reaches no model hub.
        recorded_with = {"WEBHOOK_NETWORKS": "127.0.0.0/8", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
        self.environment = {**inherited, **own, **recorded_with, "LOG_LEVEL": "CRITICAL"}

    @property
    def engine(self) -> str:
        return "postgresql" if self.url else "sqlite"

    def foilworks(self, *arguments: object, status: int = 0) -> dict[str, Any]:
        done = foilworks(self.environment, *arguments, "--json")
        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout)

    def inside(self, *checks: str) -> dict[str, list[Any]]:
        """Return the differences that each check of inside.py finds."""
        out = self.home / "differences.json"
        command = [sys.executable, "-m", "tests.foilworks.upgrade.inside", self.engine, str(out), *checks]
        done = subprocess.run(command, env=self.environment, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(out.read_text(encoding="utf-8"))


def restore(home: Path, url: str = "") -> Installation:
    """Put the recorded database and files into the home, as 0.3.0 left them."""
    assert home.name == "home", "the archive has it under this name"
    home.parent.mkdir(parents=True, exist_ok=True)
    installation = Installation(home, url)
    with tarfile.open(FOLDER / f"{installation.engine}.tar.xz") as archive:
        archive.extractall(home.parent, filter="data")
    dump = home.parent / "database.sql"
    sql = dump.read_text(encoding="utf-8").replace(HOME_PLACEHOLDER, str(home))
    if url:
        with psycopg.connect(url) as connection:
            connection.execute(sql)
    else:
        with closing(sqlite3.connect(home / "foilworks.sqlite3")) as connection:
            connection.executescript(sql)
    for name in _files_of_videos(installation):
        path = home / "media" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return installation


def _files_of_videos(installation: Installation) -> list[str]:
    """Return the files of all videos; those of the sample project are too large for the record."""
    columns = ("file", "film_strip")
    queries = [f"SELECT {column} FROM corpus_video WHERE {column} != ''" for column in columns]
    return [name for query in queries for (name,) in rows(installation, query)]


def rows(installation: Installation, query: str) -> list[tuple[Any, ...]]:
    """Read the database without a line of the product."""
    if installation.url:
        with psycopg.connect(installation.url) as connection:
            return connection.execute(query).fetchall()
    with closing(sqlite3.connect(installation.home / "foilworks.sqlite3")) as connection:
        return connection.execute(query).fetchall()
