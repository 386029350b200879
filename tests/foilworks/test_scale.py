"""Many rows on a real PostgreSQL: plans of the hot queries, and the tables that only grow in partitions.

The files named here run in a process of their own on a server started for them.
"""

from collections.abc import Iterator

import pytest

from tests.foilworks.test_postgresql import run_on
from tests.postgres import Postgres, running_postgres

MANY = ("tests/foilworks/plans_on_postgresql.py", "tests/foilworks/partitions_on_postgresql.py")
# What writes and reads the trail and scores: judgements and their undo, the audit door, scoring runs.
IN_PARTITIONS = (
    "tests/annotation/test_undo_vote.py",
    "tests/projects/test_audit.py",
    "tests/evaluation/test_scoring_runs.py",
)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.mark.slow
def test_hot_queries_go_by_indexes_and_growing_tables_can_be_partitioned(server):
    done = run_on(server, *MANY)
    assert done.returncode == 0, done.stdout[-6000:]
    assert "skipped" not in done.stdout


@pytest.mark.slow
def test_what_holds_on_whole_tables_holds_on_partitioned_ones(server):
    done = run_on(server, "-p", "tests.partitioned", *IN_PARTITIONS)
    assert done.returncode == 0, done.stdout[-6000:]
