"""Film strips and clocks: made once by a job, for each trim its own; those of older files are caught up on."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.urls import reverse
from PIL import Image

from annotation.actions.decisions.items import take_down_video
from foilworks.core.corpus.actions.prepare_videos import JOB, prepare_later
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.film_strips import prepare_video
from foilworks.core.corpus.video_files.player import player_clip
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.runner import run_now
from foilworks.core.media.clock import unpacked
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.strips import FRAMES, GAP
from foilworks.core.projects.models import Role
from tests.corpus.attaching import attach_media
from tests.factories import make_member, make_project, make_video
from tests.media.odd_files import BT709, SLIDES, OddFile, make
from tests.media.packet_edits import copied
from tests.media.painted import painted_clip, read_index

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def owner(project):
    return make_member(project, Role.RESEARCHER)


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """16 frames, 8 per second, of 64 x 32 pixels."""
    write_mp4(tmp_path / "clip.mp4", painted_clip(16), fps=8)
    return tmp_path / "clip.mp4"


def attached(owner, project, path: Path, **fields) -> Video:
    return attach_media(owner, make_video(project, media_state=MediaState.MISSING, **fields), path)


def stored(name: str) -> bytes:
    with default_storage.open(name) as file:
        return file.read()


def tiles(data: bytes) -> list[int]:
    """Numbers painted into the frames of a strip."""
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    width = (picture.shape[1] - (FRAMES - 1) * GAP) // FRAMES
    return [read_index(picture[:, at : at + width]) for at in range(0, picture.shape[1], width + GAP)]


def test_a_file_that_is_attached_gets_its_strip_by_a_job(project, owner, clip):
    video = attached(owner, project, clip)
    assert video.film_strip.name == ""
    job = Job.objects.get(dotted=JOB)
    assert (job.target_id, job.project_id) == (project.pk, project.pk)
    prepare_later(project.pk)
    assert Job.objects.filter(dotted=JOB).count() == 1
    run_now(job)
    # Centres of four parts of 2 s: .25, .75, 1.25, 1.75 s.
    assert tiles(stored(Video.objects.get(pk=video.pk).film_strip.name)) == [2, 6, 10, 14]
    prepare_later(project.pk)
    assert Job.objects.filter(dotted=JOB).count() == 1


def test_each_trim_has_its_own_strip_and_equal_ones_share_it(project, owner, clip):
    trim = {"start_time": 1.0, "end_time": 1.5}
    videos = [attached(owner, project, clip, **fields) for fields in ({}, trim, trim)]
    for video in videos:
        prepare_video(video)
    whole, one, other = (Video.objects.get(pk=video.pk).film_strip.name for video in videos)
    assert whole != one == other
    assert tiles(stored(one)) == [8, 9, 10, 11]


def test_researchers_see_it_and_a_clip_without_one_says_so(client, project, owner, clip):
    video = attached(owner, project, clip)
    url = reverse("corpus:film_strip", args=[project.slug, video.pk])
    client.force_login(make_member(project, Role.VALIDATOR))
    assert client.get(url).status_code == 403
    client.force_login(owner)
    assert client.get(url).status_code == 404
    prepare_video(video)
    answer = client.get(url)
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/jpeg")
    assert tiles(b"".join(answer.streaming_content)) == [2, 6, 10, 14]
    assert url in client.get(reverse("corpus:video", args=[project.slug, video.pk])).content.decode()


def test_another_file_takes_the_old_strip_away(project, owner, clip, tmp_path):
    video = attached(owner, project, clip)
    prepare_video(video)
    Video.objects.filter(pk=video.pk).update(media_state=MediaState.BROKEN)
    write_mp4(tmp_path / "other.mp4", painted_clip(8), fps=8)
    video.refresh_from_db()
    assert attach_media(owner, video, tmp_path / "other.mp4").film_strip.name == ""


def test_a_takedown_takes_the_strip_along(project, owner, clip, django_capture_on_commit_callbacks):
    video = attached(owner, project, clip)
    prepare_video(video)
    name = Video.objects.get(pk=video.pk).film_strip.name
    with django_capture_on_commit_callbacks(execute=True):
        take_down_video(owner, project.slug, video.pk, "Its maker asked us to.")
    assert not default_storage.exists(name)
    assert Video.objects.get(pk=video.pk).film_strip.name == ""
    # A worker that was still at it leaves nothing behind.
    video.file.name = default_storage.save("videos/late.mp4", ContentFile(clip.read_bytes()))
    prepare_video(video)
    assert not default_storage.exists(name)


def test_the_command_reads_the_clock_of_a_file_that_was_stored_before(project, tmp_path, capsys):
    slides = make(OddFile("slides.mp4", times=SLIDES, last=18.0, edit=copied(last=18.0)), tmp_path)
    facts = {"duration": 3.0, "fps": 1.0, "n_frames": 3, "width": 128, "height": 64, "sha256": "5" * 64}
    video = make_video(project, **facts)
    video.file.save("old.mp4", ContentFile(slides.read_bytes()))
    broken = make_video(project, **facts)
    broken.file.save("broken.mp4", ContentFile(b"no video"))
    assert [player_clip(video)[name] for name in ("first", "last")] == [0, 2]
    assert unpacked(player_clip(video)["times"]).end == 3_000_000
    call_command("prepare-videos", "--project", project.slug, "--json")
    result = json.loads(capsys.readouterr().out)
    assert result["prepared"] == 1
    assert [row["video"] for row in result["failed"]] == [broken.key]
    video.refresh_from_db()
    assert unpacked(player_clip(video)["times"]).end == 20_000_000
    video.start_time, video.end_time = 5.0, 15.0
    assert [player_clip(video)[name] for name in ("first", "last")] == [2, 2]


def test_an_import_names_what_it_converted_and_the_page_says_why(client, owner, project, tmp_path, capsys):
    make(OddFile("phone.mov", "libx265", sound="aac"), tmp_path)
    make(OddFile("plain.mp4", colour=BT709), tmp_path)
    records = tmp_path / "records.jsonl"
    lines = [{"id": name, "video": name, "caption": f"{name} plays."} for name in ("phone.mov", "plain.mp4")]
    records.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    words = "Encoded again as H.264: browsers do not play hevc with yuv420p pixels"
    call_command("import", "jsonl", str(records), "--project", project.slug, "--media", str(tmp_path))
    told = capsys.readouterr().err
    assert f"converted: phone.mov: {words}" in told
    assert "plain.mp4" not in told
    video = Video.objects.get(project=project, conversion__startswith=words)
    client.force_login(owner)
    assert words in client.get(reverse("corpus:video", args=[project.slug, video.pk])).content.decode()
    assert Job.objects.filter(dotted=JOB, target_id=project.pk).count() == 1
    call_command("prepare-videos", "--project", project.slug)
    assert not Video.objects.filter(project=project, film_strip="").exists()


def test_a_trim_within_the_last_slide_is_taken(project, owner, tmp_path):
    """Its file lasts 20 s, of which the last slide has 18: no advice to attach an uncut video."""
    slides = make(OddFile("slides.mp4", times=SLIDES, last=18.0, edit=copied(last=18.0)), tmp_path)
    video = attached(owner, project, slides, start_time=5.0, end_time=15.0)
    assert (video.media_state, video.media_error, video.duration) == (MediaState.READY, "", 20.0)
    late = attached(owner, project, slides, start_time=1, end_time=3, time_unit="frames")
    assert (late.start_time, late.end_time) == (1.0, 20.0)
