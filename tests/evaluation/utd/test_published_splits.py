"""Splits and descriptions in the published form: read as what they are, matched to videos, and answered by models."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.errors import EvaluationError
from evaluation.utd.actions.biases import measure_bias, predict_samples
from evaluation.utd.actions.import_benchmark import import_benchmark
from evaluation.utd.actions.import_splits import import_splits
from evaluation.utd.class_texts import read_class_texts
from evaluation.utd.matching import stem_of
from evaluation.utd.pages import benchmark_of
from evaluation.utd.requests import BiasRequest, PredictionRequest
from foilworks.core.corpus.models import Caption
from foilworks.core.jobs.runner import run_now
from foilworks.core.projects.models import Role
from tests.evaluation.utd import texts, worlds
from tests.factories import make_member
from tests.hub import video_folders

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path):
    """Six described videos to train on and six to judge, and splits that name the latter and a video elsewhere."""
    project, told = texts.described("things", tmp_path, rounds=1)
    ids = list(project.videos.filter(split="test").order_by("pk").values_list("key", flat=True))
    for video in project.videos.all():
        video.key = f"clips/{video.key}.avi"
        video.save(update_fields=["key"])
    splits = {"full": [*ids, "elsewhere"], "debiased": ids[:4], "debiased-balanced": ids[1:5]}
    path = tmp_path / "splits_things_test.json"
    path.write_text(json.dumps(splits))
    return project, told, path, ids


def test_published_splits_are_a_classification_of_the_project_s_videos(world):
    project, _, path, ids = world
    run = import_splits(None, project, path)
    assert run.task == "classification"
    assert run.result["n_classes"] == 2
    assert run.result["matched"] == {"n": 6, "n_missing": 1, "missing": ["elsewhere"]}
    assert run.predictions["videos"] == [*(f"clips/{one}.avi" for one in ids), None]
    rows = run.result["split"]["classes"]
    assert {row["class"] for row in rows} == {"moves from left to right", "moves from right to left"}
    assert [sum(row[form] for row in rows) for form in ("n", "split", "balanced")] == [6, 4, 4]
    assert import_splits(None, project, path, task="retrieval").task == "retrieval"
    with pytest.raises(EvaluationError, match="'detection' is not a task"):
        import_splits(None, project, path, task="detection")


def test_pages_of_published_splits_show_samples_and_the_form_of_models(world, client):
    project, _, path, ids = world
    client.force_login(make_member(project, Role.RESEARCHER))
    run = import_splits(None, project, path)
    queries = import_splits(None, project, path, task="retrieval", name="queries")
    for each in (run, queries):
        html = client.get(reverse("utd:bias_models", args=["things", each.pk])).content.decode()
        assert reverse("utd:bias_train", args=["things", each.pk]) in html
        html = client.get(reverse("utd:bias_samples", args=["things", each.pk])).content.decode()
        removed = project.videos.filter(key__in=[f"clips/{one}.avi" for one in ids[4:]])
        assert [reverse("corpus:video", args=["things", video.pk]) in html for video in removed] == [True, True]
        assert "elsewhere" in html


def test_models_are_trained_probed_zero_shot_and_benchmarked_on_published_splits(world, tmp_path):
    project, _, path, ids = world
    for video, scene in zip(project.videos.order_by("pk"), worlds.scenes(1), strict=False):
        worlds.attach(video, tmp_path, scene)
    run = import_splits(None, project, path)
    folder = str(video_folders.videomae(tmp_path / "b"))
    for label, model, options in (
        ("probe", f"backbone:{folder}", {"epochs": 1}),
        ("looks", "fake:", {"zero_shot": True}),
    ):
        row = predict_samples(None, run, PredictionRequest(model, label=label, **options))
        assert run_now(row.job).state == "done"
        row.refresh_from_db()
        assert set(row.right) == set(ids)
    answers = tmp_path / "valid_49ep.csv"
    answers.write_text("video_id,acc_top1\n" + "".join(f"{one},{at % 2}\n" for at, one in enumerate(ids)))
    import_benchmark(None, run, answers)
    found = benchmark_of(run)
    assert {row["model"] for row in found["models"]} == {"probe", "looks", "valid_49ep"}
    assert found["n"] == {"full": 7, "split": 4, "balanced": 4}
    by_file = next(row for row in found["models"] if row["model"] == "valid_49ep")
    assert by_file["cells"]["balanced"]["value"] == 0.5
    retrieval = import_splits(None, project, path, task="retrieval", name="queries")
    row = predict_samples(None, retrieval, PredictionRequest("fake:", zero_shot=True))
    assert run_now(row.job).state == "done"


def test_splits_of_other_videos_cannot_be_answered(world, tmp_path):
    project, _, _, _ = world
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"full": ["a", "b"], "debiased": ["a"]}))
    run = import_splits(None, project, path)
    with pytest.raises(EvaluationError, match="no sample of these splits is a video of this project"):
        predict_samples(None, run, PredictionRequest("fake:", zero_shot=True))


def test_splits_and_descriptions_are_exported_in_the_published_form(world, tmp_path, capsys):
    project, told, _, _ = world
    frame = told.frames.order_by("video", "place").first()
    frame.raw = {**frame.raw, "objects": "1. Cup\n2. Mirror (old)\n3. Cup", "activities": "No activity is visible."}
    frame.save(update_fields=["raw"])
    run = measure_bias(None, told, BiasRequest(task="retrieval", encoder="fake-words:", options={"captions": "first"}))
    assert run_now(run.job).state == "done"
    run.refresh_from_db()
    call_command("utd", "export", "--run", str(run.pk), "--out", str(tmp_path / "out"), "--json")
    files = json.loads(capsys.readouterr().out)["files"]
    assert {"annotations_things_train.json", "annotations_things_test.json"} <= set(files)
    train = json.loads((tmp_path / "out" / "annotations_things_train.json").read_text())
    first = train[frame.video.key]
    assert (first["objects"][0], first["activities"][0]) == ("cup, mirror, cup", "")
    assert len(train) == 6
    # Samples of retrieval are captions; the published form names their videos.
    splits = json.loads((tmp_path / "out" / "splits.json").read_text())
    assert set(splits["full"]) == set(project.videos.filter(split="test").values_list("key", flat=True))
    again = import_splits(None, project, tmp_path / "out" / "splits.json")
    assert (again.task, again.result["matched"]["n"]) == ("retrieval", 6)
    assert Caption.objects.filter(key=run.predictions["ids"][0]).exists()


def test_class_texts_are_read_from_the_published_columns(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_text("class_name,class_text\nApplyEyeMakeup,apply eye makeup\nYoYo,yo yo\n")
    assert read_class_texts(path) == {"ApplyEyeMakeup": "apply eye makeup", "YoYo": "yo yo"}
    for text, problem in (
        ("class_name,class_text\na,b\na,c\n", "appears twice"),
        ("class_name,class_text\na,\n", "has no text"),
        ("class_name,name\na,b\n", "class_text: there is no such column"),
    ):
        path.write_text(text)
        with pytest.raises(EvaluationError, match=problem):
            read_class_texts(path)


@pytest.mark.parametrize(
    ("name", "stem"), [("a/b/v_Run_g01.avi", "v_Run_g01"), ("1017_Movie_00.01.02.003", "1017_Movie_00.01.02.003")]
)
def test_an_id_is_the_file_name_without_its_extension(name, stem):
    assert stem_of(str(Path(name))) == stem
