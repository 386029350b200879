"""A contrast set from its file to boards, analyses and reports: only hard foils count as edits."""

import json

import pytest
from django.urls import reverse

from evaluation.analyses.questions import released_texts
from evaluation.audit.audit import Options, audit
from evaluation.audit.file_reader import Problems, read_all
from evaluation.board.latex import as_csv, markdown
from evaluation.board.leaderboard import board
from evaluation.facts.edits import edit_facts
from evaluation.proximity.stored_proximity import cases_of
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.releases.gate import inspect
from evaluation.reports.reports import project_report, release_analysis
from evaluation.score_files.items import read_items
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.queries import records_of
from evaluation.scoring.run_request import RunRequest
from foilworks.core.corpus.import_formats.parsing.text_files import Source
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from foilworks.site.exports.recomputed import Evidence, recomputed
from foilworks.site.imports.store import import_records
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db

# clip, the caption, the hard foil; the other endings are the captions of the other clips.
CLIPS = [
    ("video1", "a man folds a shirt", "a man tears a shirt"),
    ("video2", "a girl climbs a rope", "a girl cuts a rope"),
    ("video3", "two dogs run in a park", "two dogs are not sleeping in a park"),
    ("video4", "a chef slices an onion", "a chef drops an onion"),
]
# Caption minus hard foil; the other foils are .2 below the caption.
GAPS = (0.1, -0.3, 0.1, 0.1)
ONE = {"verdict": "valid", "position": 0}


def rows(with_mark):
    for at, (clip, caption, hard) in enumerate(CLIPS):
        others = [one for _clip, one, _hard in CLIPS if one != caption]
        endings = [others[0], hard, *others[1:], caption]
        yield [clip, *endings, "4", *(["1"] if with_mark else [])], at


@pytest.fixture(params=[True, False], ids=["marked", "nearest"])
def path(request, tmp_path):
    header = ["clip", *(f"ending{k}" for k in range(5)), "label", *(["c_label"] if request.param else [])]
    path = tmp_path / "verb.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *(row for row, _ in rows(request.param))]))
    return path


@pytest.fixture
def source(path):
    return "c_label" if "c_label" in path.read_text() else "nearest"


@pytest.fixture
def project(path):
    project = make_project(slug="mc")
    import_records(project, None, "contrast", path, as_published=True, params={"dataset": "MSR-VTT"})
    return project


@pytest.fixture
def release(project, tmp_path):
    release = freeze_release(None, project)
    scores = tmp_path / "m.jsonl"
    lines = [
        {"id": f"verb:{clip}", "caption": 0.5, "foils": [0.3, 0.5 - GAPS[at], 0.3, 0.3]}
        for at, (clip, *_texts) in enumerate(CLIPS)
    ]
    scores.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run_now(start_run(None, release, RunRequest(f"file:{scores}")).job)
    return release


def test_boards_and_analyses_use_the_hard_foil(release, source):
    found = board(release)
    (row,) = found.rows
    assert (row.group["T"], row.group["Hard"], row.group["n_hard"]) == (0.75, 0.75, 4)
    assert (row.group["chance"]["T"], row.group["chance"]["Hard"]) == (0.2, 0.5)
    assert found.hard_sources == {source: 4}
    assert found.columns == ["T", "Hard"]
    assert "| T | Hard | n |" in markdown(found)
    assert "Hard,Hard_low,Hard_high,chance_Hard" in as_csv(found).splitlines()[0]
    delta = release_analysis(release, "delta")
    (change,) = delta["rows"]
    assert (change["n"], change["mean"], change["above_zero"]) == (4, pytest.approx(0.0), 0.25)
    assert delta["hard_foils"] == {source: 4}
    cases = cases_of(records_of(release))
    assert [[case.foil for case in each] for each in cases] == [[hard] for _clip, _caption, hard in CLIPS]


def test_the_blind_audit_and_the_gate_use_the_hard_foil(project, path, source):
    row = project_report(project, "blind")["overall"]
    assert (row["n_items"], row["n_pairs"], row["hard_foils"]) == (4, 4, {source: 4})
    items, _warnings = read_items([path], "contrast")
    assert [item.foils[item.hard_foil] for item in items] == [hard for _clip, _caption, hard in CLIPS]
    records = records_of(freeze_release(None, project))
    assert {text.wrongs for text in released_texts(records)} == {(hard,) for _clip, _caption, hard in CLIPS}
    assert inspect(project, records).rows[0]["n_items"] == 4


def test_the_audit_of_a_file_agrees_with_the_blind_report(project, path, source):
    report = project_report(project, "blind")["overall"]
    result = audit([Source(path)], Options())
    assert result["files"][0]["format"] == "contrast"
    assert (result["items"], result["pairs"], result["hard_foils"]) == (4, 16, {source: 4})
    found = {finding["check"]: finding for finding in result["findings"]}
    cues, edits, position = (found[name] for name in ("cues", "edits", "position"))
    assert (result["without_video"]["n"], result["without_video"]["chance"]) == (report["n_items"], 0.5)
    assert (cues["n"], edits["n"]) == (4, 4)
    assert max(int(size) for size in edits["details"]["changed"]) <= 3
    assert (position["chance"], position["n"]) == (0.2, 4)


def test_the_audit_reads_the_hard_foil_that_a_record_states(tmp_path):
    foils = ["a cat runs", "a man tears a shirt", "a boat sinks"]
    rows = [
        {"id": str(at), "caption": "a man folds a shirt", "foils": foils, "facts": {"hard_foil": at}} for at in range(3)
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = list(read_all([Source(path)], Problems()))
    assert [record.probed().wrongs for record in read] == [(foil,) for foil in foils]
    assert {record.hard_source for record in read} == {"fact"}
    denied = [{**row, "facts": {"hard_foil": None}, "label": 0} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in denied))
    assert [record.hard for record in read_all([Source(path)], Problems())] == [None] * 3


@pytest.mark.parametrize("made_by", ["", "machine", "person"])
def test_the_import_says_who_wrote_the_hard_foils(path, made_by):
    project = make_project()
    import_records(project, None, "contrast", path, as_published=True, params={"made_by": made_by})
    assert {edit.source for edit in edit_facts(project)} == {made_by}


def test_older_exports_are_verified_with_all_their_foils(project):
    items = [
        {**record, "state": "valid", "unanimous": None, "verdicts": verdicts}
        for record in records_of(freeze_release(None, project))
        for verdicts in [
            [{"text": foil, "verdict": "valid", "position": at} for at, foil in enumerate(record["foils"])]
        ]
    ]
    assert recomputed("blind", Evidence(items, []))["overall"]["n_pairs"] == 4
    assert recomputed("blind", Evidence(items, []), {"overall": {"n_pairs": 16}})["overall"]["n_pairs"] == 16


def test_imported_sets_of_machines_and_people_are_compared(client, project, tmp_path):
    other = tmp_path / "human.tsv"
    other.write_text((tmp_path / "verb.tsv").read_text().replace("tears", "burns"))
    import_records(project, None, "contrast", other, as_published=True, params={"dataset": "MSR-VTT"})
    found = project_report(project, "verbs", params={"people": "human"})
    assert (found["n"], found["total"]) == ({"machine": 4, "person": 4}, {"machine": 4, "person": 4})
    assert {row["verb"]: (row["machine"], row["person"]) for row in found["rows"]} == {
        "cut": (0.25, 0.25),
        "sleep": (0.25, 0.25),
        "drop": (0.25, 0.25),
        "tear": (0.25, 0.0),
        "burn": (0.0, 0.25),
    }
    assert found["negations"] == {"machine": 1, "person": 1}
    client.force_login(make_member(project, Role.RESEARCHER))
    page = client.get(reverse("reports:report", args=["mc", "verbs"]), {"people": "human"})
    assert page.context["data"] == found
