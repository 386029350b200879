"""Record an installation of a version, for the tests of upgrades: its database, its files, its pages and commands.

    .venv/bin/python -m tests.foilworks.upgrade.record_installation COMMIT [--check]

Without `--check`, it writes the folder COMMIT beside itself. With it, it compares; status 1 if something differs.

The script checks the commit out beside the working tree and runs tests/foilworks/upgrade/recorder/ there, with that
version's own code, once on SQLite and once on PostgreSQL. It needs the environment of `make test`. Ids, keys and times
differ between two recordings: `--check` compares what the version shows and stores, not the bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.postgres import find_binaries, running_postgres

UPGRADE = Path(__file__).resolve().parent
ROOT = UPGRADE.parents[2]
RECORDER = UPGRADE / "recorder"
ENGINES = ("sqlite", "postgresql")
# Name of the home in the record: paths in rows and files contain it.
PLACE = "@HOME@"
# Files of the home that a test needs. The test creates weights of models: random bytes do not compress.
HOME_FILES = ("media", "uploads", "models/teaching", "secret_key")
# The sample's clips are large, and no recorded job reads them.
LEFT_OUT = "media/videos/"
HARMLESS = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "OMP_NUM_THREADS": "1", "LOG_LEVEL": "CRITICAL"}


def record(commit: str, folder: Path) -> None:
    """Write the whole record of the commit into the folder.

    CalledProcessError: its code cannot be fetched or run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with checked_out(commit) as checkout:
        for engine in ENGINES:
            with tempfile.TemporaryDirectory(prefix="fw-record-") as name, database(engine) as url:
                home, out = Path(name, "home"), Path(name, "out")
                environment = _environment(checkout, home, url)
                _run("install.py", out, checkout, environment)
                dump = sqlite_dump(home) if engine == "sqlite" else postgresql_dump(url)
                packed = pack(home, dump)
                _run("answers.py", out, checkout, environment)
                texts = {name: (out / f"{name}.json").read_text("utf-8") for name in ("installation", "answers")}
                write(folder / f"{engine}.json.gz", {name: json.loads(placed(texts[name], home)) for name in texts})
                (folder / f"{engine}.tar.xz").write_bytes(packed)
                if engine == ENGINES[0]:
                    _run("surface.py", out, checkout, environment)
                    surface = json.loads((out / "surface.json").read_text("utf-8"))
                    write(folder / "surface.json.gz", {**surface, "recorder": recorder()})


def recorder() -> dict[str, str]:
    """Return file of the recorder -> the digest of its bytes: a record names the code that made it."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(RECORDER.glob("*.py"))}


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="fw-checkout-") as name:
        checkout = Path(name, "checkout")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", checkout, commit], cwd=ROOT, check=True)
        try:
            yield checkout
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", checkout], cwd=ROOT, check=True)


@contextmanager
def database(engine: str) -> Iterator[str]:
    """Yield the DATABASE_URL of an empty database; empty for the file of a home."""
    if engine == "sqlite":
        yield ""
        return
    with running_postgres() as server:
        yield server.make("recorded")


def _environment(checkout: Path, home: Path, url: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "FOILWORKS_"))}
    own = {"FOILWORKS_HOME": str(home), "DJANGO_SETTINGS_MODULE": "foilworks.site.settings", "DATABASE_URL": url}
    paths = os.pathsep.join([str(checkout), str(RECORDER)])
    return {**inherited, **HARMLESS, **own, "WEBHOOK_NETWORKS": "127.0.0.0/8", "PYTHONPATH": paths}


def _run(script: str, out: Path, checkout: Path, environment: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, RECORDER / script, out], cwd=checkout, env=dict(environment), check=True)


def placed(text: str, home: Path) -> str:
    return text.replace(str(home.resolve()), PLACE).replace(str(home), PLACE)


def sqlite_dump(home: Path) -> str:
    with closing(sqlite3.connect(home / "foilworks.sqlite3")) as connection:
        return "\n".join(connection.iterdump())


def postgresql_dump(url: str) -> str:
    """Return plain SQL that a driver accepts: rows as INSERTs, no commands of psql."""
    binaries = find_binaries()
    options = ("--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges", f"--dbname={url}")
    done = subprocess.run([binaries / "pg_dump", *options], capture_output=True, text=True, check=True)
    # Settings of one session, some of which older servers do not know.
    unwanted = ("\\", "SET ", "SELECT pg_catalog.set_config", "--")
    return "\n".join(line for line in done.stdout.splitlines() if line and not line.startswith(unwanted))


def pack(home: Path, dump: str) -> bytes:
    """Pack database.sql and the home's files, without times and owners."""
    files = {"database.sql": placed(dump, home).encode()}
    for root in (home / name for name in HOME_FILES):
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            name = path.relative_to(home).as_posix()
            if path.is_file() and not name.startswith(LEFT_OUT):
                files[f"home/{name}"] = path.read_bytes()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=9) as archive:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return packed.getvalue()


def write(path: Path, content: Any) -> None:
    text = json.dumps(content, indent=0, sort_keys=True, ensure_ascii=False)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def differences(stored: Path, repeated: Path) -> Iterator[str]:
    """Yield what differs in another recording of the same commit."""
    if read(stored / "surface.json.gz") != read(repeated / "surface.json.gz"):
        yield "surface.json.gz: what the version shows"
    for engine in ENGINES:
        old, new = (comparable(read(folder / f"{engine}.json.gz")["answers"]) for folder in (stored, repeated))
        yield from (f"{engine}.json.gz: {part}" for part in old if old[part] != new[part])


def comparable(answers: dict[str, Any]) -> dict[str, Any]:
    """Return the parts without ids and keys."""
    statuses = {
        part: [[row["name"], row["method"], row["statuses"]] for row in answers[part]]
        for part in ("addresses", "operations")
    }
    jobs = sorted([job["dotted"], job["state_before"], job["state"], job["error"]] for job in answers["jobs"].values())
    return {**{part: answers[part] for part in ("rows", "audit", "validation", "violations")}, **statuses, "jobs": jobs}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--check", action="store_true", help="compare with the record; write nothing")
    options = parser.parse_args()
    folder = UPGRADE / options.commit
    if not options.check:
        record(options.commit, folder)
        return 0
    with tempfile.TemporaryDirectory() as name:
        record(options.commit, Path(name))
        differing = list(differences(folder, Path(name)))
    print("\n".join(differing) or f"{options.commit}: the record matches the version")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
