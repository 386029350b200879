"""The export of results in the form of Every Eval Ever, read back, and held to its schemas and its validator."""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest
from django.core.management import call_command

from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.model_cards import card_of
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_scores, run_results
from evaluation.scoring.run_request import RunRequest
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from tests import factories
from tests.evaluation.ranked import make_release, score
from tests.pythons import python_of

pytestmark = pytest.mark.django_db
VALIDATOR = "every-eval-ever==0.3.0"


@pytest.fixture
def release():
    return make_release(factories.make_project(slug="ranked"))


def export(release, out: Path, **params: str) -> dict[str, tuple[dict, list[dict]]]:
    """Every aggregate with its samples, by the folder DEVELOPER/MODEL."""
    options = [option for name, value in params.items() for option in ("--set", f"{name}={value}")]
    call_command(
        "export", "every-eval-ever", "--project", "ranked", "--release", str(release.pk), "--out", str(out), *options
    )
    records = {}
    for path in out.glob("data/ranked/*/*/*.json"):
        aggregate = json.loads(path.read_text(encoding="utf-8"))
        samples = out / aggregate["detailed_evaluation_results"]["file_path"]
        assert samples == path.with_name(f"{path.stem}_samples.jsonl")
        assert hashlib.sha256(samples.read_bytes()).hexdigest() == aggregate["detailed_evaluation_results"]["checksum"]
        lines = [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
        records[f"{path.parent.parent.name}/{path.parent.name}"] = aggregate, lines
    return records


@pytest.fixture
def lab(tmp_path):
    """The folder of the score file of a model `lab/...`."""
    (tmp_path / "lab").mkdir()
    return tmp_path


def score_file(release, path: Path, label: str = "") -> Run:
    run = start_run(None, release, RunRequest(f"file:{path}", label=label))
    assert run_now(run.job).state == JobState.DONE
    run.refresh_from_db()
    return run


def test_an_export_has_each_model_with_its_results_and_answers(release, lab, tmp_path):
    run = score(release, lab, "lab/m-1", lambda k: k % 3 == 0, lambda k: k % 2 == 0)
    card = card_of(run)
    card.size = "151 M"
    card.save()
    score(release, tmp_path, "a model", lambda k: True)
    records = export(release, tmp_path / "out", organization="Video lab", relationship="third_party")
    assert set(records) == {"lab/m-1", "local/a-model"}
    aggregate, samples = records["lab/m-1"]
    assert aggregate["source_metadata"]["source_organization_name"] == "Video lab"
    assert aggregate["model_info"]["additional_details"]["size"] == "151 M"
    results = {row["evaluation_name"]: row["score_details"] for row in aggregate["evaluation_results"]}
    assert results["ranked"] == {"score": 1 / 3, "uncertainty": {"num_samples": 24}}
    overall = run_results(run)["overall"]
    assert {name: results[f"ranked.{name}"]["score"] for name in ("with_proficiency", "item_and_proficiency")} == {
        "with_proficiency": overall["T"],
        "item_and_proficiency": overall["P+T"],
    }
    lower, upper = overall["P_ci"]
    interval = results["ranked.proficiency"]["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"]) == (lower, upper)
    assert sum(line["evaluation"]["score"] for line in samples) == 8
    links = {row["evaluation_result_id"] for row in aggregate["evaluation_results"]}
    assert {line["evaluation_result_id"] for line in samples} <= links
    (line,) = [line for line in samples if line["input"]["reference"] == ["a ball moves 3"]]
    assert line["output"]["raw"] == ["a ball moves 3"]
    assert sorted(line["input"]["choices"]) == ["a ball moves 3", "a ball rests 3"]
    assert export(release, tmp_path / "again", organization="Video lab", relationship="third_party") == records


def test_samples_of_an_export_are_imported_with_equal_scores(release, tmp_path):
    run = score(release, tmp_path, "m", lambda k: k % 3 == 0)
    export(release, tmp_path / "out")
    (path,) = tmp_path.glob("out/data/*/*/*/*_samples.jsonl")
    again = score_file(release, path)
    rows, expected = ({row.id: (row.caption, row.foils) for row in release_scores(each)[0]} for each in (again, run))
    assert rows == expected
    assert again.params["harness"]["harness"] == "foilworks"
    # The run of the log is one of the harness that it names, with its version.
    aggregate, _samples = export(release, tmp_path / "both")[f"local/{again.label}"]
    assert aggregate["eval_library"]["version"] == again.params["harness"]["version"]


def test_winners_stay_winners(release, tmp_path):
    path = tmp_path / "w.csv"
    names = list(release.members.values_list("record__id", flat=True))
    path.write_text("".join(["id,prediction\n", *(f"{name},{n % 2}\n" for n, name in enumerate(names))]))
    run = score_file(release, path, label="w")
    export(release, tmp_path / "out")
    (samples,) = tmp_path.glob("out/data/*/local/w/*_samples.jsonl")
    again = score_file(release, samples, label="v")
    results = [run_results(each) for each in (run, again)]
    assert [result["only_winners"] for result in results] == [True, True]
    assert results[0]["overall"]["T_all"] == results[1]["overall"]["T_all"] == 0.5


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.full
def test_the_files_have_the_form_of_the_published_schemas(release, lab, tmp_path):
    """The package needs Python 3.12, but its schemas are files in it."""
    score(release, lab, "lab/m-1", lambda k: k % 3 == 0, lambda k: k % 2 == 0)
    ((aggregate, samples),) = export(release, tmp_path / "out").values()
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--python-version", "3.12"]
    run(*pip, "--dest", tmp_path / "wheel", VALIDATOR, folder=tmp_path)
    (wheel,) = (tmp_path / "wheel").iterdir()
    with zipfile.ZipFile(wheel) as archive:
        names = [f"every_eval_ever/schemas/{name}.schema.json" for name in ("eval", "instance_level_eval")]
        schemas = [json.loads(archive.read(name)) for name in names]
    jsonschema.validate(aggregate, schemas[0])
    assert len(samples) == 24
    for line in samples:
        jsonschema.validate(line, schemas[1])


@pytest.mark.full
def test_the_validator_of_every_eval_ever_takes_the_export_as_it_is(release, lab, tmp_path):
    """With its checks of paths, links, checksums and bounds: no error and no warning."""
    python = python_of("3.12") or python_of("3.13")
    if python is None:
        pytest.skip("the validator needs Python 3.12, which is not installed")
    score(release, lab, "lab/m-1", lambda k: k % 3 == 0, lambda k: k % 2 == 0)
    score(release, tmp_path, "unknown", lambda k: k % 3 == 0)
    assert len(export(release, tmp_path / "out")) == 2
    run(python, "-m", "venv", tmp_path / "venv", folder=tmp_path)
    program = tmp_path / "venv" / "bin" / "python"
    # Without the libraries of its converters, which the validator does not load.
    run(program, "-m", "pip", "install", "--quiet", "--no-deps", VALIDATOR, folder=tmp_path)
    run(program, "-m", "pip", "install", "--quiet", "pydantic", "rich<15", "requests", folder=tmp_path)
    files = [path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.glob("out/data/*/*/*/*.json*")]
    report = run(program, "-m", "every_eval_ever.validate", "--format", "json", *files, folder=tmp_path / "out")
    assert [(row["valid"], row["warnings"]) for row in json.loads(report)] == [(True, [])] * 4
