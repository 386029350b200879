"""From the published lists of a classification set, which have no captions, to a debiased split."""

import pytest

from corpus.models import Caption, Video
from evaluation.imports.store import import_records
from evaluation.utd.actions.biases import measure_bias
from evaluation.utd.actions.descriptions import describe_videos
from evaluation.utd.recipes import DEMO
from foilworks.demo.world import FPS, draw
from jobs.runner import run_now
from media.encode import write_mp4
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


@pytest.mark.django_db
def test_lists_without_captions_become_a_debiased_split(lists):
    project = make_project(slug="ucf")
    for name in FOLDERS.values():
        import_records(project, None, "ucf101", lists / name, media_dir=lists / "clips", strict=True)
    assert Video.objects.filter(project=project, media_state="ready").count() == 24
    assert not Caption.objects.exists()
    told = describe_videos(None, project, recipe=DEMO, frames=2)
    assert run_now(told.job).state == "done"
    run = measure_bias(None, told)
    assert run_now(run.job).state == "done"
    run.refresh_from_db()
    assert (run.result["n"], run.result["n_train"], run.result["without"]) == (12, 12, [])
    objects = next(row for row in run.result["common"] if row["concept"] == "objects")
    assert objects["cells"][0]["value"] > 0.9
    assert len(run.result["split"]["removed_balanced"]) == len(run.result["split"]["removed"])
