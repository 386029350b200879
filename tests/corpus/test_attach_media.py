import errno
import hashlib
import os
import resource

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from foilworks.core.corpus.actions.add_videos import add_videos
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import MediaState, Video
from foilworks.core.corpus.video_files.ingest import store_media
from foilworks.core.media.child import end_children
from foilworks.core.media.encode import write_mp4
from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import AuditEvent
from foilworks.site.invariants.media import trims_are_in_order
from tests.corpus.attaching import attach_media
from tests.factories import make_member, make_project, make_video
from tests.media.painted import painted_clip
from tests.media.test_probe import encode
from tests.media.test_sampling import at_times

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


@pytest.fixture
def film(tmp_path):
    folder = tmp_path / "films"
    folder.mkdir()
    write_mp4(folder / "film.mp4", painted_clip(16), fps=8)
    return folder / "film.mp4"


def missing(project, **fields):
    empty = {"media_state": MediaState.MISSING, "duration": None, "fps": None}
    return make_video(project, **{**empty, **fields})


def test_a_file_is_given_to_the_clip_and_the_write_is_on_record(project, researcher, film):
    video = attach_media(researcher, missing(project, start_time=0.5, end_time=1.0), film)
    assert (video.media_state, video.duration, video.n_frames) == ("ready", 2.0, 16)
    with video.file.open() as file:
        assert file.read() == film.read_bytes()
    event = AuditEvent.objects.get()
    assert (event.action, event.actor, event.from_state, event.to_state) == (
        "corpus.attach_media",
        researcher,
        "missing",
        "ready",
    )


def test_only_a_researcher_may(project, film):
    with pytest.raises(AccessDenied):
        attach_folder(make_member(project, "annotator"), project, film.parent)


def test_a_clip_that_has_its_file_keeps_it(project, researcher, film):
    video = missing(project)
    stale = Video.objects.get(pk=video.pk)
    attach_media(researcher, video, film)
    with pytest.raises(CorpusError, match="already has a file"):
        attach_media(researcher, stale, film)


def test_a_file_that_cannot_be_used_leaves_the_clip_broken_until_a_better_one_comes(project, researcher, film):
    bad = film.with_name("bad.mp4")
    bad.write_bytes(b"")
    video = attach_media(researcher, missing(project), bad)
    assert (video.media_state, video.file.name) == ("broken", "")
    assert video.media_error == "bad.mp4: is empty (0 bytes); copy it again from its source"
    video = attach_media(researcher, video, film)
    assert (video.media_state, video.media_error) == ("ready", "")


def test_all_clips_of_a_source_share_its_file(project, researcher, film):
    missing(project, key="d/film@0-1", source_id="film", start_time=0, end_time=1)
    missing(project, key="d/film@1-2", source_id="film", start_time=1, end_time=2)
    missing(project, key="d/film@9-", source_id="film", start_time=9)
    missing(project, key="other")
    ready = make_video(project, source_id="film")
    assert attach_folder(researcher, project, film.parent) == {"ready": 2, "missing": 1, "broken": 1, "differing": 0}
    names = Video.objects.filter(media_state=MediaState.READY).exclude(pk=ready.pk).values_list("file", flat=True)
    assert len(set(names)) == 1


def test_one_source_can_be_attached_alone(project, researcher, film):
    missing(project, source_id="film")
    missing(project, source_id="another")
    assert attach_folder(researcher, project, film.parent, "film") == {
        "ready": 1,
        "missing": 0,
        "broken": 0,
        "differing": 0,
    }


def test_links_out_of_the_folder_are_refused(project, researcher, film, tmp_path):
    (tmp_path / "secret.mp4").write_bytes(film.read_bytes())
    (film.parent / "linked.mp4").symlink_to(tmp_path / "secret.mp4")
    missing(project, source_id="linked")
    with pytest.raises(CorpusError, match="is a link out of the media folder"):
        attach_folder(researcher, project, film.parent)
    missing_up = missing(project, source_id="../secret")
    assert attach_folder(researcher, project, film.parent, "../secret")["missing"] == 1
    missing_up.refresh_from_db()
    assert missing_up.media_state == MediaState.MISSING


def test_a_folder_that_is_not_there_is_named(project, researcher, tmp_path):
    with pytest.raises(CorpusError, match="not a folder"):
        attach_folder(researcher, project, tmp_path / "gone")


def test_unplayable_videos_are_stored_as_a_playable_copy(project, researcher, tmp_path):
    path = encode(tmp_path / "film.avi", "mpeg4", n=8, rate=8)
    video = attach_media(researcher, missing(project), path)
    assert (video.media_state, video.n_frames, video.fps) == ("ready", 8, 8.0)
    with video.file.open() as file:
        content = file.read()
    assert hashlib.sha256(content).hexdigest() == video.sha256
    made_from = AuditEvent.objects.get().details["made_from"]
    assert made_from == hashlib.sha256(path.read_bytes()).hexdigest() != video.sha256


def stored_files(settings):
    return [path for path in sorted(settings.MEDIA_ROOT.rglob("*")) if path.is_file()]


def test_an_incomplete_copy_is_replaced(settings, film):
    whole = film.read_bytes()
    kept = store_media(film)
    (stored,) = stored_files(settings)
    assert (stored.relative_to(settings.MEDIA_ROOT).as_posix(), stored.stat().st_mode & 0o777) == (kept.name, 0o644)
    stored.write_bytes(whole[: len(whole) // 2])
    assert store_media(film) == kept
    assert stored.read_bytes() == whole
    assert stored_files(settings) == [stored]


def test_a_copy_that_does_not_fit_leaves_nothing_and_fits_later(settings, film):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (film.stat().st_size // 2, before[1]))
    try:
        with pytest.raises(CorpusError, match=os.strerror(errno.EFBIG)):
            store_media(film)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        # One that started meanwhile keeps the limit.
        end_children()
    assert stored_files(settings) == []
    assert (settings.MEDIA_ROOT / store_media(film).name).read_bytes() == film.read_bytes()


def test_a_trim_in_pts_counts_the_ticks_of_the_file_as_it_came_and_not_of_its_copy(project, researcher, tmp_path):
    path = encode(tmp_path / "film.avi", "mpeg4", n=60, rate=10)
    video = attach_media(researcher, missing(project, start_time=20, end_time=40, time_unit="pts"), path)
    assert (video.media_state, video.time_unit, video.start_time, video.end_time) == ("ready", "sec", 2.0, 4.0)


def test_a_refused_file_leaves_a_trim_in_pts_to_the_right_one(project, researcher, film):
    wrong = encode(film.with_name("short.mp4"), "libx264", n=2, rate=10)
    # It counts 10,240 ticks a second, the film 16,384.
    video = attach_media(researcher, missing(project, start_time=8192, end_time=16384, time_unit="pts"), wrong)
    assert (video.media_state, video.time_unit, video.start_time, video.end_time) == ("broken", "pts", 8192, 16384)
    video = attach_media(researcher, video, film)
    assert (video.media_state, video.time_unit, video.start_time, video.end_time) == ("ready", "sec", 0.5, 1.0)


def test_a_trim_before_the_first_frame_starts_there_or_is_broken(project, researcher, tmp_path):
    late = at_times(tmp_path / "late.webm", [n / 8 for n in range(16)], "libvpx", origin=3.0)
    # A webm's clock ticks a thousand times a second.
    video = attach_media(researcher, missing(project, start_time=0, end_time=4000, time_unit="pts"), late)
    assert (video.media_state, video.start_time, video.end_time) == ("ready", 0.0, 1.0)
    video = attach_media(researcher, missing(project, start_time=1000, end_time=2000, time_unit="pts"), late)
    assert (video.media_state, video.media_error) == (
        "broken",
        "the clip ends at -1 s, not after its start at 0 s; attach the uncut video",
    )
    assert list(trims_are_in_order()) == []


def test_an_end_beyond_the_file_is_the_files_end(project, researcher, film):
    assert attach_media(researcher, missing(project, start_time=1, end_time=60), film).media_state == "ready"


def test_a_full_disk_is_said_in_one_line(project, researcher, film, monkeypatch):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("foilworks.core.corpus.video_files.ingest.default_storage.save", full)
    with pytest.raises(CorpusError, match=r"cannot be stored \(No space left on device\); free space"):
        attach_media(researcher, missing(project), film)
    assert Video.objects.get().media_state == MediaState.MISSING


def test_clips_without_a_file_are_read_once_for_all_files_of_other_names(tmp_path):
    project = make_project()
    make_video(project, media_state="missing", file="", source_id="Ä", duration=None)
    person = make_member(project, "researcher")
    lists = []
    for n in (2, 6):
        folder = tmp_path / str(n)
        folder.mkdir()
        for number in range(n):
            (folder / f"other {number}.mp4").write_bytes(b"no video")
        with CaptureQueriesContext(connection) as queries:
            add_videos(person, project, folder, dry_run=True, progress=lambda rows, *_: rows)
        lists.append(sum('"media_state" IN' in row["sql"] for row in queries))
    assert lists == [1, 1]
