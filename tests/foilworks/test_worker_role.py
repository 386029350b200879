"""The role of deploy/worker-role.sql runs the jobs of the gpu queue on a real PostgreSQL, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.postgres import running_postgres

ROOT = Path(__file__).resolve().parent.parent.parent
ROLE = ROOT / "deploy" / "worker-role.sql"
KINDS = ("scoring", "describing", "generating")
# What no worker of the gpu queue may read.
CLOSED = (
    "projects_user", "projects_apitoken", "projects_secondfactor", "projects_recoverycode", "projects_invitation",
    "projects_webhook", "projects_consent", "projects_crowdworker", "projects_auditevent", "django_session",
    "annotation_lease", "annotation_paypolicy", "evaluation_submission",
)  # fmt: skip

pytestmark = pytest.mark.slow(seconds=12)


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
            tables = {name for (name,) in connection.execute("SELECT tablename FROM pg_tables")}
        assert set(run(worker, "alone").values()) == {"done"}

        with psycopg.connect(worker, autocommit=True) as connection:
            assert set(CLOSED) <= tables
            for table in CLOSED:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(f"SELECT * FROM {table}")
            for statement in (
                "UPDATE corpus_caption SET text = ''",
                "DELETE FROM evaluation_score",
                "DELETE FROM jobs_job",
                "INSERT INTO evaluation_run DEFAULT VALUES",
                "UPDATE annotation_vote SET choice = ''",
                "CREATE TABLE mine (id int)",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)
