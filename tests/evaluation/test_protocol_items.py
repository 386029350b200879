"""Reports and score files over the items that a run's protocol counts; ViLMA's two files by one command."""

import json

import pytest
from django.core.management import call_command

from evaluation.errors import EvaluationError
from evaluation.releases.actions.freeze_release import freeze_release
from evaluation.reports.reports import release_analysis
from evaluation.score_files.score_writers import WRITERS
from evaluation.scoring.actions.start_run import start_run
from evaluation.scoring.models import Run
from evaluation.scoring.queries import records_of, release_scores
from evaluation.scoring.run_request import RunRequest
from evaluation.scoring.run_results import results_of
from foilworks.core.corpus.models import Item
from foilworks.core.jobs.models import JobState
from foilworks.core.jobs.runner import run_now
from tests import factories
from tests.evaluation.ranked import make_release, number_of, score

CODE = "vilma-2024-code"


@pytest.fixture
def release(db):
    """The release of `ranked` with a count and a length of every item."""
    project = factories.make_project(slug="ranked")
    make_release(project)
    for item in Item.objects.filter(subtest__kind="main").select_related("caption", "video"):
        number = int(item.caption.text.split()[-1])
        item.facts = {"count": 1 + number % 3}
        item.save()
        item.video.start_time, item.video.end_time = 0.0, 1.0 + number
        item.video.save()
    return freeze_release(None, project, name="with facts")


@pytest.mark.parametrize("kind", ["counts", "length"])
def test_a_report_covers_the_items_of_the_protocol(release, tmp_path, kind):
    score(release, tmp_path, "paired", lambda k: k % 2 == 0, protocol=CODE)
    score(release, tmp_path, "all", lambda k: k % 2 == 0)
    rows = release_analysis(release, kind)["rows"]
    n = {model: sum(row["n"] for row in rows if row["model"] == model) for model in ("paired", "all")}
    overall = {run.label: results_of(run)["overall"] for run in Run.objects.all()}
    assert n == {"paired": overall["paired"]["n"], "all": overall["all"]["n_all"]} == {"paired": 12, "all": 24}


def test_failed_runs_and_runs_without_such_items_have_no_rows(release, tmp_path):
    score(release, tmp_path, "good", lambda k: True)
    records = [record for record in records_of(release) if number_of(record) >= 12]
    alone = tmp_path / "alone.jsonl"
    alone.write_text("\n".join(json.dumps({"id": r["id"], "caption": 1, "foils": [0]}) for r in records))
    failed = start_run(None, release, RunRequest(f"file:{alone}", label="failed", protocol=CODE))
    with pytest.raises(EvaluationError, match="has no scores of proficiency items"):
        run_now(failed.job)
    failed.job.refresh_from_db()
    assert failed.job.state == JobState.FAILED
    assert {row["model"] for row in release_analysis(release, "counts")["rows"]} == {"good"}


def written(run, folder):
    """ViLMA's two files of a run's scores, as its models write them."""
    paths = []
    for form in ("vilma", "vilma-proficiency"):
        path = folder / f"{form}.json"
        path.write_bytes(WRITERS[form][2](release_scores(run)[0]))
        paths.append(path)
    return paths


def test_one_command_imports_vilmas_two_score_files(release, tmp_path, capsys):
    run = score(release, tmp_path, "m", lambda k: k % 3 == 0, lambda k: k % 2 == 0, protocol=CODE)
    main, able = written(run, tmp_path)
    told = {"release": str(release.pk), "protocol": CODE, "json": True, "sync": True}
    capsys.readouterr()
    call_command("evaluate", "file", str(main), **told, proficiency=able)
    found = json.loads(capsys.readouterr().out)
    expected = results_of(run)["overall"]
    names = ("T", "P", "P+T", "n")
    assert {name: found["overall"][name] for name in names} == {name: expected[name] for name in names}
    # Without the second file the reason is said.
    with pytest.raises(SystemExit):
        call_command("evaluate", "file", str(main), **told)
    assert "has no scores of proficiency items" in str(Run.objects.order_by("pk").last().job.error)


def test_an_invalid_second_file_is_refused(release, tmp_path, capsys):
    path = tmp_path / "able.json"
    path.write_text("{}")
    with pytest.raises(SystemExit):
        call_command("evaluate", "file", str(path), release=str(release.pk), proficiency=tmp_path / "none.json")
    assert "no such score file" in capsys.readouterr().err
    with pytest.raises(EvaluationError, match="a model scores the proficiency items itself"):
        start_run(None, release, RunRequest("fake:", proficiency=path))


@pytest.mark.parametrize("slug", ["endpoint", "file"])
def test_the_command_names_the_subcommand_of_a_spec(release, capsys, slug):
    with pytest.raises(SystemExit):
        call_command("evaluate", "model", f"{slug}:x", release=str(release.pk))
    assert capsys.readouterr().err == f"foilworks: {slug}:x: write `foilworks evaluate {slug} x`\n"


ITEMS = {
    "1": ({"caption": 3, "foil": 0, "other": 0}, {"caption": 1, "foil": 0, "other": 0}),
    "2": ({"caption": 2, "foil": 1, "other": 0}, {"caption": 0, "foil": 1, "other": 0}),
    "3": ({"caption": 1, "foil": 2, "other": 0}, {"caption": 1, "foil": 0, "other": 0}),
}


@pytest.fixture
def vilma(tmp_path):
    """ViLMA's file of three items, the last of them refused, and a model's two files of scores."""
    records = {
        key: {
            "video_file": key,
            "caption": "a",
            "foils": ["b"],
            "mturk": votes,
            "proficiency": {"caption": "c", "foil": "d", "human": human},
        }
        for key, (votes, human) in ITEMS.items()
    }
    files = {"items": records, "main": {}, "able": {}}
    for key, (right, able) in {"1": (1, 1), "2": (1, 0), "3": (0, 1), "9": (0, 0)}.items():
        files["main"][key], files["able"][key] = {"scores": [right, 0.5]}, {"scores": [able, 0.5]}
    paths = {name: tmp_path / f"{name}.json" for name in files}
    for name, content in files.items():
        paths[name].write_text(json.dumps(content))
    return paths


def test_score_files_are_restricted_to_valid_items(vilma, capsys):
    scores = {"files": [vilma["main"]], "proficiency": [vilma["able"]]}
    call_command("metrics", "pairwise", **scores, items=[vilma["items"]], json=True)
    found = json.loads(capsys.readouterr().out)
    # 1 and 2 are valid, 1 alone with a valid pair: T, P and P+T stand over it, T_all over both.
    overall = found["overall"]
    assert (overall["n"], overall["n_all"], overall["T"], overall["P+T"], overall["T_all"]) == (1, 2, 1, 1, 1)
    assert (found["unmatched"]["not_valid"], found["unmatched"]["not_in_items"]) == (["3"], ["9"])
    call_command("metrics", "pairwise", **scores, json=True)
    assert json.loads(capsys.readouterr().out)["overall"]["n"] == 4


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("items", {"1": {"video_file": "1", "caption": "a", "foil": "b"}}, "so its validity is unknown"),
        ("main", {"x": {"scores": [1, 0]}}, "no scored item is a valid item of this file"),
    ],
)
def test_items_unrelated_to_the_scores_are_refused(vilma, capsys, file, content, words):
    vilma[file].write_text(json.dumps(content))
    with pytest.raises(SystemExit):
        call_command("metrics", "pairwise", files=[vilma["main"]], items=[vilma["items"]])
    assert words in capsys.readouterr().err


def test_intervals_without_video_clusters_are_marked(tmp_path, capsys):
    path = tmp_path / "scores.jsonl"
    lines = [{"id": str(k), "caption": 1, "foils": [k % 2 * 2], "cluster": f"v{k // 2}"} for k in range(4)]
    for clusters, expected in ((True, []), (False, ["not clustered by video"])):
        shown = [line if clusters else {**line, "cluster": ""} for line in lines]
        path.write_text("\n".join(map(json.dumps, shown)))
        call_command("metrics", "pairwise", files=[path], json=True)
        out, err = capsys.readouterr()
        warnings = json.loads(out)["warnings"]
        assert [words in warning for warning, words in zip(warnings, expected, strict=True)] == [True] * len(expected)
        assert ("warning: no two records share a cluster" in err) == bool(expected)
