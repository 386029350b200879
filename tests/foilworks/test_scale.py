"""Plans of the hot queries over many rows, on a real PostgreSQL.

The file named here runs in a process of its own on a server started for it.
"""

import pytest

from tests.foilworks.test_postgresql import run_on
from tests.postgres import running_postgres


@pytest.mark.full
@pytest.mark.slow
def test_frequent_queries_use_indexes():
    with running_postgres() as server:
        done = run_on(server, "tests/foilworks/plans_on_postgresql.py")
    assert done.returncode == 0, done.stdout[-6000:]
    assert "skipped" not in done.stdout
