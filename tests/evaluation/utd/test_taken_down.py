"""What was said of a video that was taken down is measured, asked about and published no more."""

import json

import pytest

from evaluation.utd import samples
from evaluation.utd.actions.descriptions import import_descriptions
from evaluation.utd.instructions import RETRIEVAL, TASKS
from evaluation.utd.models import FrameText
from evaluation.utd.utd_files import described_videos_of, objects_lines
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.jobs.runner import run_now
from tests.evaluation.utd import texts

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(tmp_path):
    project, told = texts.described("things", tmp_path)
    gone = Video.objects.filter(project=project, split="test").first()
    Video.objects.filter(pk=gone.pk).update(media_state=MediaState.TAKEN_DOWN)
    return project, told, gone


@pytest.mark.parametrize("task", TASKS)
def test_a_taken_down_video_is_not_a_sample(world, task):
    _project, told, gone = world
    run = texts.measured(told, task=task)
    name = f"c-{gone.key}" if task == RETRIEVAL else gone.key
    assert run.result["n"] == 11
    assert name not in run.predictions["ids"]
    # Nobody is to describe it either.
    assert samples.samples_of(run)[1] == []


def test_a_taken_down_video_is_in_no_file(world):
    _project, told, gone = world
    others = set(Video.objects.exclude(pk=gone.pk).values_list("key", flat=True))
    assert set(described_videos_of(told)) == others
    assert {json.loads(line)["video"] for line in objects_lines(told)} == others


def test_no_model_scores_a_taken_down_video(world, tmp_path):
    """No video has a file: what came as a file of descriptions needs none."""
    project, _told, gone = world
    description = "There is a red circle in the center."
    told = {video.key: {"objects+composition+activities": [description]} for video in Video.objects.all()}
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    made = import_descriptions(None, project, [path], extractor="fake-reader:")
    assert run_now(made.job).state == "done"
    asked = FrameText.objects.filter(descriptions=made, raw__has_key="objects")
    assert asked.exists()
    assert not asked.filter(video=gone).exists()
