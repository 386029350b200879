"""What is found has a reason or stops `make lint`; a reason of nothing does, too; no network stops nobody."""

import pytest

from scripts import audit

BANDIT = {
    "results": [{"filename": "./hub/x.py", "line_number": 3, "test_id": "B102", "issue_text": "Use of exec detected."}]
}
AUDIT = {
    "dependencies": [
        {"name": "good", "version": "1", "vulns": []},
        {"name": "bad", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}]},
        {"name": "own", "skip_reason": "not on the index"},
    ]
}


def test_what_has_no_reason_is_said_with_its_place():
    assert audit.judged(audit.code_findings(BANDIT), {}) == ["hub/x.py:3: B102: Use of exec detected."]
    found, looked_up, unknown = audit.package_findings(AUDIT)
    assert (looked_up, unknown) == (2, 1)
    assert audit.judged(found, {}) == ["bad 2: PYSEC-1: mended in 2.1"]


def test_what_has_one_stands():
    assert audit.judged(audit.code_findings(BANDIT), {"hub/x.py B102": "a test of ours"}) == []


def test_a_reason_of_nothing_or_without_words_is_refused():
    assert audit.judged({}, {"hub/y.py B102": "once"}) == [
        "hub/y.py B102: has a reason in pyproject.toml and is no longer found; remove it"
    ]
    assert "empty" in audit.judged(audit.code_findings(BANDIT), {"hub/x.py B102": " "})[0]


@pytest.mark.parametrize("report", [None, {"dependencies": [{"name": "x", "skip_reason": "not found"}]}])
def test_advisories_that_cannot_be_reached_are_said_and_stop_nobody_but_who_asks(monkeypatch, tmp_path, capsys, report):
    monkeypatch.setattr(audit, "STAMP", tmp_path / "audit")
    monkeypatch.setattr(audit, "_asked", lambda: report)
    assert audit.audit_packages({}, strict=False) == []
    assert "were not audited" in capsys.readouterr().err
    # Once a day.
    assert audit.audit_packages({}, strict=False) == []
    assert capsys.readouterr().err == ""
    assert "were not audited" in audit.audit_packages({}, strict=True)[0]


def test_every_reason_in_the_project_has_words():
    assert all(why.strip() for table in audit.reasons() for why in table.values())
