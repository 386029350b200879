"""An identity provider: an identity opens the account that it was tied to, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

VISIT = Path(__file__).with_name("oidc_visit.py")


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict:
    home = tmp_path_factory.mktemp("home")
    environment = {**os.environ, "FOILWORKS_HOME": str(home), "PYTHONPATH": str(VISIT.parents[2])}
    done = subprocess.run([sys.executable, str(VISIT)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_an_unlinked_identity_opens_nothing_and_leaves_a_row(found):
    assert found["page"]
    assert found["unknown"] == found["same address"] == [403, "", ""]
    assert found["refused"] == ["identity unknown"] * 2


def test_a_tied_identity_signs_in_and_asks_for_the_second_factor(found):
    assert found["tied"] == [302, "/account/"]
    assert found["known"] == [302, "/account/", "ann"]
    assert found["second factor"] == [302, "/sign-in/code/", ""]


def test_a_forged_answer_another_account_and_a_closed_one_are_refused(found):
    assert found["forged state"] == [302, "/sign-in/"]
    assert found["tied to another"] == found["tied by ids alone"] == [403, ""]
    assert found["closed"] == [403, "", ""]


def test_a_code_is_worth_nothing_without_the_verifier_of_its_visit(found):
    assert found["challenge"] == [["S256"], 43]
    assert found["verifiers"][0] == found["verifiers"][1] > 3


def test_accounts_are_made_only_where_that_is_switched_on_and_keep_the_subject_alone(found):
    assert found["sign-up"] == [302, "/account/", "nora", ""]


def test_without_a_provider_there_is_no_such_address(client):
    assert client.get("/sign-in/oidc/oidc/login/").status_code in {302, 404}
