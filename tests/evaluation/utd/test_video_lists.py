"""From the published lists of a classification set, which have no captions, to a debiased split."""

import csv
import json

import pytest
from django.core.management import call_command

from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import describe_videos
from evaluation.utd.recipes import DEMO
from evaluation.utd.requests import BiasRequest, DescriptionRequest
from foilworks.core.corpus.models import Caption, Video
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.encode import write_mp4
from foilworks.site.demo.shape_videos import FPS, draw
from foilworks.site.imports.store import import_records
from tests.evaluation.utd import worlds
from tests.factories import make_project

FOLDERS = {"train": "trainlist01.txt", "test": "testlist01.txt"}


@pytest.fixture
def lists(tmp_path, settings):
    """The lists of UCF101 with twelve short clips each; a class is a shape, which objects name."""
    for name in ("MEDIA_ROOT", "CACHE_ROOT"):
        setattr(settings, name, tmp_path / name.lower())
    for seed, (split, name) in enumerate(FOLDERS.items(), start=5):
        lines = []
        for scene in worlds.scenes(1, seed)[::2]:
            folder = worlds.shape(scene).title()
            path = tmp_path / "clips" / folder / f"v_{folder}_{scene.key}.mp4"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_mp4(path, draw(scene, worlds.SIDE)[::6], FPS)
            lines.append(f"{folder}/{path.name}{' 1' if split == 'train' else ''}\n")
        (tmp_path / name).write_text("".join(lines))
    return tmp_path


@pytest.mark.full
@pytest.mark.django_db
def test_lists_without_captions_become_a_debiased_split(lists):
    project = make_project(slug="ucf")
    for name in FOLDERS.values():
        import_records(project, None, "ucf101", lists / name, media_dir=lists / "clips", strict=True)
    assert Video.objects.filter(project=project, media_state="ready").count() == 24
    assert not Caption.objects.exists()
    told = describe_videos(None, project, DescriptionRequest(recipe=DEMO, frames=2))
    assert run_now(told.job).state == "done"
    run = measure_bias(None, told, BiasRequest())
    assert run_now(run.job).state == "done"
    run.refresh_from_db()
    assert (run.result["n"], run.result["n_train"], run.result["without"]) == (12, 12, [])
    objects = next(row for row in run.result["common"] if row["concept"] == "objects")
    assert objects["cells"][0]["value"] > 0.9
    assert len(run.result["split"]["removed_balanced"]) == len(run.result["split"]["removed"])


CLASSES = {"abseiling": ("rope", "rock"), "playing music": ("guitar", "stage")}
# Objects of the first class are seen in videos of both classes, so one of six is not told by objects.
PER_CLASS, FRAMES = 6, 2


def clips(split):
    """The clips of a split: YouTube id, start, class, and the class whose things they show."""
    names = list(CLASSES)
    return [
        (f"{split}-{at:06d}", at, names[at % 2], names[at % 2 if at != 1 else 0])
        for at in range(PER_CLASS * len(names))
    ]


def kinetics(folder, split):
    path = folder / f"kinetics-400_{split}.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["label", "youtube_id", "time_start", "time_end", "split"])
        rows.writerows([name, clip, start, start + 10, split] for clip, start, name, _ in clips(split))
    return path, {clip: f"{clip}_{start:06d}_{start + 10:06d}" for clip, start, *_ in clips(split)}


def moments(folder, split):
    path = folder / f"{split}Set.csv"
    rows = [f"{name.replace(' ', '+')}/{clip}.mp4, {name.replace(' ', '+')}, 3, 0" for clip, _, name, _ in clips(split)]
    path.write_text("\n".join(rows) + "\n")
    return path, {clip: f"{name.replace(' ', '+')}/{clip}" for clip, _, name, _ in clips(split)}


def described(folder, split, ids):
    """The published form: no summaries in the train split, an empty string where nothing is done."""
    told = {}
    for clip, _, name, seen in clips(split):
        things = [f"{thing}, person" for thing in CLASSES[seen]]
        told[ids[clip]] = {
            "objects+composition+activities": [f"There is a {text}." for text in things],
            "objects": things,
            "activities": [f"A person is {name}.", ""],
            "verbs": ["Someone is doing something.", ""],
        }
        if split != "train":
            told[ids[clip]]["objects+composition+activities_15_words"] = [f"a {text}" for text in things]
    path = folder / f"annotations_{split}.json"
    path.write_text(json.dumps(told))
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("lists_of", [kinetics, moments])
def test_lists_and_published_descriptions_become_a_debiased_split(lists_of, tmp_path, capsys):
    def foilworks(*arguments):
        call_command(*map(str, arguments), "--json")
        return json.loads(capsys.readouterr().out)

    files = []
    for split in ("train", "val"):
        path, ids = lists_of(tmp_path, split)
        foilworks("import", lists_of.__name__, path, "--project", "lists", "--create", "--set", f"split={split}")
        files += ["--file", described(tmp_path, split, ids)]
    assert Video.objects.exclude(class_label="").count() == 24
    assert not Caption.objects.exists()
    told = foilworks("utd", "import", "--project", "lists", *files)
    assert "12 of 12 train videos have no 15-word summaries" in str(told["problems"])
    options = ("--encoder", "fake-words:", "--set", "bootstrap=stratified", "--set", "c=100", "--sync")
    run = foilworks("utd", "bias", "--descriptions", told["descriptions"], *options)
    split = run["result"]["split"]
    assert (split["n"], split["n_biased"], split["nine"]["certified"]) == (12, 11, True)
    out = tmp_path / "out"
    foilworks("utd", "export", "--run", run["run"], "--out", out)
    found = json.loads((out / "splits.json").read_text())
    assert {name: len(ids) for name, ids in found.items()} == {"full": 12, "debiased": 1, "debiased-balanced": 1}
    # The clip that shows the things of the other class remains.
    (left,) = found["debiased"]
    assert "val-000001" in left
