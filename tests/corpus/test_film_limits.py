"""Limits of length count the clip that is cut out of a film, not the film."""

import pytest

from foilworks.core.corpus.actions.add_videos import add_videos
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.models import Video
from foilworks.core.media.encode import write_mp4
from tests.factories import make_member, make_project, make_video
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db


@pytest.fixture
def film(tmp_path, settings):
    """A film of four seconds, where a clip may have one second."""
    settings.MAX_VIDEO_SECONDS, settings.MAX_VIDEO_FRAMES = 1, 0
    write_mp4(tmp_path / "film.mp4", [painted_clip(1)[0]] * 32, 8.0)
    return tmp_path


@pytest.mark.parametrize(
    ("start", "end", "seconds", "frames", "state"),
    [
        (2.0, 3.0, 1, 0, "ready"),
        (2.0, 3.0, 1, 4, "broken"),
        (2.0, 3.0, 0, 8, "ready"),
        (1.0, 3.0, 1, 0, "broken"),
        (1.0, None, 1, 0, "broken"),
        (3.0, None, 1, 8, "ready"),
        (3.0, None, 0, 7, "broken"),
        (None, 1.0, 1, 0, "ready"),
        (None, None, 1, 0, "broken"),
        (None, None, 5, 0, "ready"),
    ],
)
def test_the_clip_is_limited_not_the_film(film, settings, start, end, seconds, frames, state):
    settings.MAX_VIDEO_SECONDS, settings.MAX_VIDEO_FRAMES = seconds, frames
    project = make_project()
    fields = {"media_state": "missing", "file": "", "source_id": "film", "duration": None}
    make_video(project, start_time=start, end_time=end, **fields)
    attach_folder(None, project, film)
    video = Video.objects.get()
    assert (video.media_state, "MAX_VIDEO" in video.media_error) == (state, state == "broken")


def test_a_clip_of_a_film_is_attached_although_another_clip_is_the_whole_film(film):
    project = make_project()
    fields = {"media_state": "missing", "file": "", "source_id": "film", "duration": None}
    trims = {None: "broken", 3.0: "ready"}
    for start in trims:
        make_video(project, start_time=start, **fields)
    add_videos(make_member(project, "researcher"), project, film, dry_run=False, progress=lambda rows, *_: rows)
    assert dict(Video.objects.values_list("start_time", "media_state")) == trims


def test_a_film_that_is_far_too_long_is_refused_before_it_is_decoded(film, settings):
    settings.MAX_VIDEO_SECONDS = 0.1
    project = make_project()
    make_video(project, start_time=2.0, end_time=2.05, media_state="missing", file="", source_id="film", duration=None)
    attach_folder(None, project, film)
    assert "more than the limit" in Video.objects.get().media_error
