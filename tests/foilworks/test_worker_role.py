"""The role of deploy/worker-role.sql runs the jobs of the gpu queue on a real PostgreSQL, and nothing else."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import getmembers, isfunction, signature
from pathlib import Path

import psycopg
import pytest
from django.apps import apps

from foilworks.core.rooms import declared
from tests.postgres import running_postgres

ROOT = Path(__file__).resolve().parent.parent.parent
OUR_APPS = {ROOT, ROOT / "foilworks", ROOT / "foilworks" / "core"}
ROLE = ROOT / "deploy" / "worker-role.sql"
KINDS = ("scoring", "describing", "generating")
# What no worker of the gpu queue may read.
CLOSED = (
    "projects_user", "projects_apitoken", "projects_secondfactor", "projects_recoverycode", "projects_invitation",
    "projects_webhook", "projects_consent", "projects_crowdworker", "projects_auditevent", "django_session",
    "annotation_lease", "annotation_paypolicy", "evaluation_submission",
)  # fmt: skip
# Names of columns that hold a secret.
SECRET = r"password|secret|digest|mail|session|recovery|(^|_)(token|code)$"
# An operator's word on a model: whether its code may run.
NO_SECRET = {("evaluation_modeltrust", "remote_code")}
# Packages of tables about people and what they judged.
OF_PEOPLE = ("annotation_", "auth_", "corpus_", "django_", "projects_")
COLUMNS = """
    SELECT table_name, column_name, has_column_privilege(quote_ident(table_name), column_name, 'SELECT'),
        has_column_privilege(quote_ident(table_name), column_name, 'INSERT')
        OR has_column_privilege(quote_ident(table_name), column_name, 'UPDATE')
        OR has_table_privilege(quote_ident(table_name), 'DELETE')
        OR has_table_privilege(quote_ident(table_name), 'TRUNCATE')
    FROM information_schema.columns WHERE table_schema = 'public'
"""
NEW_JOB = (
    "INSERT INTO jobs_job (id, target_id, title, number, payload, route, worker, measured, state, done, total, message,"
    " error, attempts, created_at, queue, dotted, parent_id) VALUES (gen_random_uuid(), 1, '', 1, '{}', '', '', '{}',"
    " 'waiting', 0, 0, '', '', 0, now(),"
)
# (table, verb, column) that the file grants; "*": all columns.
GRANTED = re.findall(r"^GRANT ([^;]*?) ON\s+([^;]*?)\s+TO foilworks_worker;", ROLE.read_text(), re.MULTILINE)
ALLOWED = {
    (table.strip(), verb, column.strip())
    for verbs, tables in GRANTED
    for verb, columns in re.findall(r"([A-Z]+)(?:\s+\(([^)]*)\))?", verbs)
    for table in tables.split(",")
    for column in (columns or "*").split(",")
}
# Every verb on every column or table, by what PostgreSQL checks before it looks at a row.
ON_COLUMN = {
    "SELECT": 'SELECT "{column}" FROM "{table}"',
    "INSERT": 'INSERT INTO "{table}" ("{column}") VALUES (DEFAULT)',
    "UPDATE": 'UPDATE "{table}" SET "{column}" = DEFAULT',
}
ON_TABLE = {
    "DELETE": 'DELETE FROM "{table}"',
    "TRUNCATE": 'TRUNCATE "{table}"',
    "TRIGGER": 'CREATE TRIGGER mine AFTER INSERT ON "{table}" EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    "ALTER": 'ALTER TABLE "{table}" ADD COLUMN mine int',
    "DROP": 'DROP TABLE "{table}"',
}
# No table may be referred to: a statement would fail for want of a schema to make its own table in.
REFERENCES = """
    SELECT DISTINCT table_name FROM information_schema.column_privileges
    WHERE grantee = current_user AND privilege_type = 'REFERENCES'
"""
# What the file must never grant.
NEVER = {
    *(
        ("jobs_job", "UPDATE", column)
        for column in ("*", "id", "dotted", "queue", "target_id", "project_id", "parent_id")
    ),
    ("jobs_job", "DELETE", "*"),
    ("evaluation_score", "DELETE", "*"),
    ("evaluation_run", "INSERT", "*"),
}
NAMES = """
    SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2
"""
# Jobs of the gpu queue, by their package: tests/foilworks/gpu_jobs.py runs each of them.
ON_GPU = {
    "evaluation.blind.jobs": {"run_blind_scoring"},
    "evaluation.proximity.jobs": {"measure_proximity"},
    "evaluation.scoring.jobs": {"run_scoring", "score_shard"},
    "foilworks.site.teacher.jobs": {"run_teacher", "ask_teacher", "read_release"},
    "evaluation.utd.jobs": {
        "describe_videos", "describe_shard", "measure_bias", "measure_shard", "check_shortcuts", "answer_samples",
        "answer_shard",
    },
    "generation.jobs": {"run_generation", "run_tuning"},
}  # fmt: skip
# Jobs of the default queue: they store captions, items, files or messages, and workers need the key of the web host.
ON_WEB_HOST = {
    "annotation.choices.jobs": {"compose_items"},
    "annotation.jobs": {"estimate_skill", "nouns_of_captions", "pictures_of_frames"},
    "annotation.pairs.jobs": {
        "add_natural_pairs",
        "add_orders",
        "add_repetitions",
        "add_reversals",
        "add_speeds",
    },
    "foilworks.core.corpus.jobs": {"prepare_videos"},
    "foilworks.site.dashboard.jobs": {"count_dashboard"},
    "foilworks.site.exports.jobs": {"compute_tables", "write_zip_file"},
    "foilworks.site.imports.jobs": {"preview_import", "run_import", "undo_import"},
    "foilworks.site.publishing.jobs": {"build_archive", "build_folder"},
    "evaluation.open_answers.jobs": {"judge_answers"},
    "evaluation.releases.jobs": {"freeze_by_job", "preview_release"},
    "evaluation.reports.jobs": {"compute_figures", "compute_report"},
    "foilworks.site.jobs": {"train_average", "train_temporal"},
    "generation.jobs": {"run_caption_preview", "run_captions", "work_out_selection"},
    "foilworks.core.projects.jobs": {"left_to_sender"},
}


def job_functions() -> dict[str, set[str]]:
    """The functions of each module of jobs that a row may name."""
    folders = [Path(app.path) for app in apps.get_app_configs() if Path(app.path).parent in OUR_APPS]
    found = {}
    for path in sorted(path for folder in folders for path in folder.rglob("jobs.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        module = import_module(name)
        found[name] = {
            one
            for one, function in getmembers(module, isfunction)
            if function.__module__ == name and one[0] != "_" and [*signature(function).parameters][1:] == ["job"]
        }
    return found


def queued_on_gpu() -> Iterator[str]:
    """What the product queues with another queue than the default one."""
    for app in apps.get_app_configs():
        for path in Path(app.path).rglob("*.py") if Path(app.path).parent in OUR_APPS else ():
            for call in ast.walk(ast.parse(path.read_text())):
                if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "enqueue":
                    continue
                queue = next((one.value for one in call.keywords if one.arg == "queue"), ast.Constant("default"))
                if isinstance(queue, ast.Constant) and queue.value == "default":
                    continue
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                assert isinstance(call.args[0], ast.Name), f"{path}: name the job by a constant"
                yield declared("JOBS")[getattr(module, call.args[0].id)].replace(":", ".")


def test_every_kind_of_job_is_known_to_run_with_the_role_or_on_the_web_host():
    kinds = job_functions()
    known = {name: ON_GPU.get(name, set()) | ON_WEB_HOST.get(name, set()) for name in {*ON_GPU, *ON_WEB_HOST}}
    assert kinds == known, "add the job to ON_GPU and to tests/foilworks/gpu_jobs.py, or to ON_WEB_HOST"
    assert not [name for name in ON_GPU if ON_GPU[name] & ON_WEB_HOST.get(name, set())]
    assert set(queued_on_gpu()) <= {f"{name}.{one}" for name, found in ON_GPU.items() for one in found}


def outside_the_task(names: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield (name, statement) of each verb on each table and column that the file does not grant."""
    for table, column in names:
        for verb, statement in ON_COLUMN.items():
            if not {(table, verb, "*"), (table, verb, column)} & ALLOWED:
                yield f"{verb} {table}.{column}", statement.format(table=table, column=column)
    for table in dict.fromkeys(table for table, _column in names):
        for verb, statement in ON_TABLE.items():
            if (table, verb, "*") not in ALLOWED:
                yield f"{verb} {table}", statement.format(table=table)


def is_refused(connection: psycopg.Connection, statement: str) -> bool:
    """Try the statement, and take back what it did."""
    try:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        return True
    return False


@pytest.mark.full
@pytest.mark.slow(seconds=12)
def test_the_role_runs_the_jobs_and_reads_no_account(tmp_path):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    with running_postgres() as server:
        owner, worker = server.make("role"), server.url("role").replace("//postgres@", "//foilworks_worker@")
        common = {**inherited, "PYTHONPATH": str(ROOT), "STORAGE_URL": f"file://{tmp_path}/media"}

        def run(url: str, *arguments: str) -> dict:
            given = {**common, "DATABASE_URL": url, "FOILWORKS_HOME": str(tmp_path / url.partition("@")[0][-8:])}
            command = [sys.executable, "-m", "tests.foilworks.shared_work", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-3000:]
            return json.loads(done.stdout.splitlines()[-1])

        run(owner, "make", str(tmp_path / "model"), *KINDS)
        with psycopg.connect(owner, autocommit=True) as connection:
            # Twice: it is run again after each update.
            connection.execute(ROLE.read_text())
            connection.execute(ROLE.read_text())
            names = connection.execute(NAMES).fetchall()
        assert set(run(worker, "alone").values()) == {"done"}

        with psycopg.connect(worker, autocommit=True) as connection:
            assert set(CLOSED) <= {table for table, _column in names}
            for table in CLOSED:
                assert is_refused(connection, f"SELECT * FROM {table}")
            allowed = [name for name, sql in outside_the_task(names) if not is_refused(connection, sql)]
            assert (allowed, connection.execute(REFERENCES).fetchall(), NEVER & ALLOWED) == ([], [], set())
            for statement in (
                "CREATE TABLE mine (id int)",
                # What workers of the web host would run, with its key.
                f"{NEW_JOB} 'default', 'imports.store', NULL)",
                f"{NEW_JOB} 'default', 'scoring.shard', (SELECT id FROM jobs_job LIMIT 1))",
                f"{NEW_JOB} 'gpu', 'imports.store', (SELECT id FROM jobs_job LIMIT 1))",
                f"{NEW_JOB} 'gpu', 'scoring.shard', NULL)",
                (
                    "INSERT INTO evaluation_report (project_id, kind, params, params_key, fingerprint, data,"
                    " created_at) SELECT id, 'freezing', '{}', 'x', '', '{}', now() FROM projects_project LIMIT 1"
                ),
            ):
                assert is_refused(connection, statement), statement
            connection.execute("UPDATE jobs_job SET message = 'mine'")
            assert connection.execute("SELECT count(*) FROM jobs_job WHERE queue <> 'gpu'").fetchone() == (0,)
            columns = connection.execute(COLUMNS).fetchall()
        with psycopg.connect(owner) as connection:
            foreign = "SELECT count(*) FROM jobs_job WHERE queue <> 'gpu' AND message = 'mine'"
            assert connection.execute(foreign).fetchone() == (0,)
            assert connection.execute("SELECT count(*) FROM jobs_job WHERE queue = 'default'").fetchone()[0] > 0
        # PostgreSQL shows a role only the tables that it may use.
        assert not {table for table, *_ in columns} & set(CLOSED) - {"projects_auditevent"}
        assert not {(t, c) for t, c, reads, _ in columns if reads and re.search(SECRET, c)} - NO_SECRET
        # It writes nothing of people, and nothing that they judged; of the record, only new lines.
        written = {table for table, _, _, writes in columns if writes}
        assert {t for t in written if t.startswith(OF_PEOPLE)} == {"projects_auditevent"}
        assert "evaluation_score" in written


@pytest.mark.full
@pytest.mark.slow(seconds=70)
def test_the_role_runs_every_kind_of_job_of_the_gpu_queue(tmp_path):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "FOILWORKS_"))}
    with running_postgres() as server:
        owner, worker = server.make("role"), server.url("role").replace("//postgres@", "//foilworks_worker@")
        # One folder, because trained models are shared.
        common = {"PYTHONPATH": str(ROOT), "FOILWORKS_HOME": str(tmp_path), "FOILWORKS_SHARD_ITEMS": "2"}

        def run(url: str, *arguments: str) -> dict[str, list[str]]:
            command = [sys.executable, "-m", "tests.foilworks.gpu_jobs", *arguments]
            given = {**inherited, **common, "DATABASE_URL": url}
            done = subprocess.run(command, cwd=ROOT, env=given, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr[-3000:]
            return json.loads(done.stdout.splitlines()[-1])

        run(owner, "first")
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(ROLE.read_text())
        run(worker, "run")
        run(owner, "second")
        states = run(worker, "run")
    functions = {f"{module}:{name}" for module, names in ON_GPU.items() for name in names}
    assert states == {name: ["done"] for name, function in declared("JOBS").items() if function in functions}
