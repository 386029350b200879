"""`foilworks backup`, `restore` and the copy before `migrate`, as commands in homes of their own."""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from foilworks.core.text.atomic_folders import work_folder
from foilworks.site.backup import database
from foilworks.site.backup.folder import remove_older
from foilworks.site.backup.media import back_up_files, copy_in
from tests.commands import foilworks
from tests.kill_points import killed_at
from tests.postgres import find_binaries, running_postgres

pytestmark = pytest.mark.slow(seconds=7)


class Home:
    """A home with its commands."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.folder = folder
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        self.environment = {**inherited, "FOILWORKS_HOME": str(folder), **({"DATABASE_URL": url} if url else {})}

    def run(self, *arguments: object) -> subprocess.CompletedProcess:
        return foilworks(self.environment, *arguments)

    def json(self, *arguments: object) -> dict:
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def problem(self, *arguments: object) -> str:
        """The one line of a command that cannot do it."""
        done = self.run(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done.stderr
        return done.stderr.strip().removeprefix("foilworks: ")

    def fill(self, slug: str) -> None:
        """A project of that name with one caption."""
        path = self.folder.parent / "captions.jsonl"
        path.write_text('{"id": "a", "video": "a.mp4", "caption": "a man sits."}\n', encoding="utf-8")
        self.json("import", "jsonl", path, "--project", slug, "--create")

    def projects(self) -> set[str]:
        """What the import's message names: the projects that there are."""
        words = self.problem("import", "jsonl", self.folder.parent / "captions.jsonl", "--project", "no-such")
        return set(words.rpartition("choose one of: ")[2].split(", "))


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A home with a project and a video, made once: each test works on a copy."""
    home = Home(tmp_path_factory.mktemp("filled") / "home")
    home.json("migrate")
    home.fill("first")
    video = home.folder / "media" / "videos" / "ab" / "abc.mp4"
    video.parent.mkdir(parents=True)
    video.write_bytes(b"a film")
    for name in ("submission-1f/scores.jsonl", "import-1/records.jsonl", "arriving/half"):
        (home.folder / "uploads" / name).parent.mkdir(parents=True, exist_ok=True)
        (home.folder / "uploads" / name).write_bytes(b"{}")
    return home


@pytest.fixture
def home(filled, tmp_path):
    shutil.copytree(filled.folder.parent, tmp_path, dirs_exist_ok=True)
    return Home(tmp_path / "home")


def test_a_backup_restores_the_database_the_videos_and_the_key(home, tmp_path):
    made = home.json("backup", "--out", tmp_path / "copy")
    assert (made["database"], made["media"], made["files"]) == ("sqlite", True, 4)
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    home.fill("second")
    key = (home.folder / "secret_key").read_text()
    (home.folder / "secret_key").write_text("another")
    shutil.rmtree(home.folder / "media")
    shutil.rmtree(home.folder / "uploads")
    assert home.projects() == {"first", "second"}
    result = home.json("restore", tmp_path / "copy")
    assert home.projects() == {"first"}
    assert (home.folder / "secret_key").read_text() == key
    assert (home.folder / "media" / "videos" / "ab" / "abc.mp4").read_bytes() == b"a film"
    # What visitors sent waits for a decision and would be missed; files of imports are sent again.
    sent = [path for path in (home.folder / "uploads").rglob("*") if path.is_file()]
    assert [path.parent.name for path in sent] == ["submission-1f"]
    # What was replaced is not lost.
    home.json("restore", result["aside"])
    assert home.projects() == {"first", "second"}
    assert home.json("check")["ok"]


@pytest.mark.full
def test_a_restore_never_removes_the_backup_that_it_restores(home, tmp_path):
    home.json("backup", "--out", tmp_path / "copy", "--no-media")
    home.fill("second")
    first, *others = [home.json("restore", tmp_path / "copy")["aside"] for _ in range(5)]
    for source, expected in ((first, {"first", "second"}), (others[2], {"first"}), (first, {"first", "second"})):
        home.json("restore", source)
        assert home.projects() == expected
        assert Path(source).is_dir()
    asides = {str(path) for path in (home.folder / "backups").iterdir()}
    assert len(asides) == 5
    assert first in asides


@pytest.mark.full
def test_repeated_attempts_of_an_update_keep_the_backup_from_before_it(home):
    copies = home.folder / "backups"
    # What was there before the first of two migrations, and then a start again and again that fails at the second.
    before = home.json("migrate", "sessions", "zero")["backup"]
    for _ in range(6):
        last = home.json("migrate", "sessions", "zero")["backup"]
    assert len(list(copies.iterdir())) == 5
    assert {before, last} < {str(path) for path in copies.iterdir()}


def test_a_backup_is_made_while_somebody_writes(home, tmp_path):
    with closing(sqlite3.connect(home.folder / "foilworks.sqlite3", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE projects_project SET name = 'half done'")
        home.json("backup", "--out", tmp_path / "copy", "--no-media")
        writer.execute("ROLLBACK")
    with closing(sqlite3.connect(tmp_path / "copy" / "database.sqlite3")) as copy:
        assert copy.execute("SELECT name FROM projects_project").fetchall() == [("first",)]
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert not (tmp_path / "copy" / "media").exists()


def test_a_backup_that_cannot_be_restored_changes_nothing(home, tmp_path):
    home.json("backup", "--out", tmp_path / "copy")
    home.fill("second")
    assert (
        home.problem("backup", "--out", tmp_path / "copy") == f"{tmp_path / 'copy'}: already exists; give a new folder"
    )
    wrong = {
        "empty": (lambda copy: shutil.rmtree(copy), "is not a backup; give a folder that `foilworks backup` made"),
        "bytes": (
            lambda copy: (copy / "media/videos/ab/abc.mp4").write_bytes(b"a filn"),
            "differs from the manifest; use another backup",
        ),
        "gone": (lambda copy: (copy / "database.sqlite3").unlink(), "differs from the manifest; use another backup"),
        "kind": (lambda copy: edit(copy, kind="x"), "is not the manifest of a backup; give a folder"),
        "outside": (
            lambda copy: edit(copy, files={"../x": {"sha256": ""}}),
            "names '../x', which is not in the backup; use another backup",
        ),
        "newer": (
            lambda copy: edit(copy, migrations=["corpus.9999_later"]),
            "was made by a newer Foilworks (it knows corpus.9999_later); update this one first",
        ),
        "other": (
            lambda copy: edit(copy, database="postgresql"),
            "is a backup of a postgresql database, but this one is sqlite; set DATABASE_URL accordingly",
        ),
    }
    for name, (spoil, words) in wrong.items():
        copy = tmp_path / name
        shutil.copytree(tmp_path / "copy", copy)
        spoil(copy)
        assert words in home.problem("restore", copy), name
    assert home.projects() == {"first", "second"}


def test_an_incomplete_video_never_replaces_a_complete_one(settings, tmp_path):
    whole = b"a film, all of it"
    name = f"videos/ab/{hashlib.sha256(whole).hexdigest()}.mp4"
    stored, copied = settings.MEDIA_ROOT / name, tmp_path / "copy" / name
    stored.parent.mkdir(parents=True)
    stored.write_bytes(whole[:6])
    (stored.parent / ".on-its-way").write_bytes(b"a")
    back_up_files(tmp_path / "copy", pass_on)
    assert [path.name for path in (tmp_path / "copy").rglob("*") if path.is_file()] == [copied.name]
    stored.write_bytes(whole)
    copy_in(tmp_path / "copy", pass_on)
    assert stored.read_bytes() == whole
    # The other way round the copy is the whole one.
    copied.write_bytes(whole)
    stored.write_bytes(whole[:6])
    copy_in(tmp_path / "copy", pass_on)
    assert stored.read_bytes() == whole


def pass_on(things, _total, _label):
    yield from things


def edit(copy: Path, **changes: object) -> None:
    path = copy / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}), encoding="utf-8")


@pytest.mark.full
def test_a_backup_is_rehearsed_beside_the_installation(home, tmp_path):
    home.json("backup", "--out", tmp_path / "copy")
    home.fill("second")
    there = sorted(path.name for path in home.folder.iterdir())
    found = home.json("restore", tmp_path / "copy", "--rehearse")
    assert (found["ok"], found["key"], found["media"], found["rows"]["projects"]) == (True, True, True, 1)
    assert found["checked"] > 50
    # People continue, and nothing is left.
    assert home.projects() == {"first", "second"}
    assert sorted(path.name for path in home.folder.iterdir()) == there
    with closing(sqlite3.connect(tmp_path / "copy" / "database.sqlite3")) as copy, copy:
        copy.execute("UPDATE corpus_video SET media_state = 'ready'")
    data = (tmp_path / "copy" / "database.sqlite3").read_bytes()
    assert "differs from the manifest" in home.problem("restore", tmp_path / "copy", "--rehearse")
    manifest = json.loads((tmp_path / "copy" / "manifest.json").read_text())
    manifest["files"]["database.sqlite3"] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    edit(tmp_path / "copy", files=manifest["files"])
    done = home.run("restore", tmp_path / "copy", "--rehearse")
    assert (done.returncode, done.stderr) == (1, "")
    assert "is ready without a file" in done.stdout


def test_old_backups_are_removed_only_after_a_new_one_was_made(home):
    made = [Path(home.json("backup", "--no-media")["out"]) for _ in range(3)]
    for copy, day in zip(made[:2], ("2026-01-01", "2026-01-02"), strict=True):
        edit(copy, created_at=f"{day}T00:00:00+00:00")
    shutil.move(home.folder / "foilworks.sqlite3", home.folder / "away")
    (home.folder / "foilworks.sqlite3").mkdir()
    assert home.run("backup", "--no-media", "--keep-days", 30).returncode == 1
    assert all(copy.exists() for copy in made)
    (home.folder / "foilworks.sqlite3").rmdir()
    shutil.move(home.folder / "away", home.folder / "foilworks.sqlite3")
    found = home.json("backup", "--no-media", "--keep-days", 30)
    assert found["removed"] == [str(copy) for copy in made[:2]]
    assert {path.name for path in (home.folder / "backups").iterdir()} == {made[2].name, Path(found["out"]).name}
    assert "give 1 or more" in home.problem("backup", "--keep-days", 0)


def test_a_killed_removal_leaves_no_partial_backup_under_its_name(settings, tmp_path):
    settings.FOILWORKS_HOME = tmp_path
    for day in (1, 2, 3):
        copy = tmp_path / "backups" / f"backup-{day}"
        copy.mkdir(parents=True)
        made = {"kind": "foilworks-backup", "database": "other", "migrations": [], "files": {}, "media": False}
        (copy / "manifest.json").write_text(json.dumps({**made, "created_at": f"2026-01-0{day}T00:00:00+00:00"}))
        (copy / "database.sqlite3").write_bytes(b"x")
    killed_at(shutil, "rmtree", lambda: remove_older("backup", 30))
    names = {path.name for path in (tmp_path / "backups").iterdir() if not path.name.startswith(".")}
    assert names == {"backup-2", "backup-3"}
    # The newest one stays, however old it is; the next backup removes what the killed removal left.
    assert [path.name for path in remove_older("backup", 30)] == ["backup-2"]
    with work_folder(tmp_path / "backups" / "next"):
        pass
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["backup-3"]


@pytest.mark.skipif(find_binaries() is None, reason="no PostgreSQL here")
def test_a_killed_backup_leaves_no_password(monkeypatch, tmp_path):
    given = {"NAME": "work", "USER": "u", "HOST": "h", "PORT": "", "PASSWORD": "a secret", "OPTIONS": {}}
    monkeypatch.setattr(database, "connection", SimpleNamespace(vendor="postgresql", settings_dict=given))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    killed_at(subprocess, "run", lambda: database.dump(tmp_path / "dump"))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


KILLED_RESTORE = """
import os, signal, sys
import django
django.setup()
from django.core.management import call_command
from foilworks.site.backup import folder
folder.copy_in = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
call_command("restore", sys.argv[1])
"""


@pytest.mark.machines
def test_a_killed_restore_can_be_repeated(home, tmp_path):
    """The database and the key are there, the videos are not."""
    home.json("backup", "--out", tmp_path / "copy")
    home.fill("second")
    shutil.rmtree(home.folder / "media")
    environment = {**home.environment, "DJANGO_SETTINGS_MODULE": "foilworks.site.settings"}
    killed = subprocess.run([sys.executable, "-c", KILLED_RESTORE, tmp_path / "copy"], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not list((home.folder / "media").rglob("*.mp4"))
    home.json("restore", tmp_path / "copy")
    assert home.projects() == {"first"}
    assert (home.folder / "media" / "videos" / "ab" / "abc.mp4").read_bytes() == b"a film"
    asides = [path for path in (home.folder / "backups").iterdir() if not path.name.startswith(".")]
    assert len(asides) == 2


def test_a_restore_is_refused_while_the_home_is_served(home, tmp_path):
    from foilworks.site.supervisor.lock import FolderLock

    home.json("backup", "--out", tmp_path / "copy")
    lock = FolderLock(home.folder / "run" / "up.lock")
    assert lock.acquire("process 1, http://127.0.0.1:8000/")
    with lock:
        assert home.problem("restore", tmp_path / "copy") == (
            "Foilworks is running (process 1, http://127.0.0.1:8000/); stop it, then run the restore again"
        )


def test_a_restore_is_refused_while_others_use_the_database(home, tmp_path):
    home.json("backup", "--out", tmp_path / "copy", "--no-media")
    home.fill("second")
    path = home.folder / "foilworks.sqlite3"
    words = "others use this database; stop the pages and workers that run on it, then restore"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("SELECT count(*) FROM projects_project").fetchone()
        assert home.problem("restore", tmp_path / "copy") == words
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM projects_project").fetchone()
        assert home.problem("restore", tmp_path / "copy") == words
    assert home.projects() == {"first", "second"}
    assert not (home.folder / "backups").exists()
    home.json("restore", tmp_path / "copy")
    assert home.projects() == {"first"}
    with closing(sqlite3.connect(path)) as after:
        assert after.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.full
def test_the_database_is_copied_before_migrations_change_it(home):
    copies = home.folder / "backups"
    assert home.json("migrate") == {"backup": None}
    assert not copies.exists()
    # An older state of the tables, as an update finds it, by what Django takes back fastest; going back copies as well.
    assert home.json("migrate", "sessions", "zero")["backup"]
    done = home.run("migrate")
    assert done.returncode == 0
    # Two copies of one second differ by a suffix alone: the command says which is its own.
    made = max((path for path in copies.iterdir() if str(path) in done.stderr), key=lambda path: len(path.name))
    assert made.name.startswith("before-migrate-")
    with closing(sqlite3.connect(made / "database.sqlite3")) as copy:
        assert not copy.execute("SELECT 1 FROM django_migrations WHERE app = 'sessions'").fetchall()
    home.json("restore", made)
    assert home.projects() == {"first"}
    for _ in range(4):
        home.json("migrate", "sessions", "zero")
    assert len([path for path in copies.iterdir() if path.name.startswith("before-migrate-")]) == 5
    count = len(list(copies.iterdir()))
    home.json("migrate", "--no-backup")
    assert len(list(copies.iterdir())) == count


@pytest.mark.full
def test_postgresql_is_backed_up_and_restored(tmp_path):
    with running_postgres() as server:
        home = Home(tmp_path / "home", server.make("work"))
        home.json("migrate")
        home.fill("first")
        assert home.json("backup", "--out", tmp_path / "copy")["database"] == "postgresql"
        home.fill("second")
        with psycopg.connect(host=str(server.folder), user="postgres", dbname="work"):
            assert home.problem("restore", tmp_path / "copy").startswith("others use this database; stop the pages")
        assert home.projects() == {"first", "second"}
        result = home.json("restore", tmp_path / "copy")
        assert home.projects() == {"first"}
        home.fill("third")
        home.json("restore", result["aside"])
        assert home.projects() == {"first", "second"}
        assert home.json("check")["ok"]
        (tmp_path / "copy" / "database.dump").write_bytes(b"damaged")
        assert "differs from the manifest" in home.problem("restore", tmp_path / "copy")
