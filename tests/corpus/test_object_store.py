"""Videos in an S3-compatible store, tried on a real server: kept once by content, seen by signed addresses alone."""

import hashlib
import pickle
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings as settings_of_django
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.urls import reverse
from django.utils import timezone

from annotation.jobs import _picture
from annotation.models import CheckedFrame, ObjectCheck
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.errors import CorpusError
from foilworks.core.corpus.models import MediaState
from foilworks.core.corpus.video_files.ingest import store_media
from foilworks.core.corpus.video_files.player import Piece, clip_token
from foilworks.core.corpus.video_files.stored_files import StoredFile, clip_file, opaque_name
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.file_cache import ClipCache, FileCache
from foilworks.core.media.frames import sample_frames
from foilworks.core.projects.models import Role
from foilworks.site.backup.media import back_up_files, copy_in
from foilworks.site.doctor import BROKEN, OK, Check, _storage
from foilworks.site.invariants.media import a_ready_clip_has_its_file, a_stored_file_is_its_hash
from tests.corpus.attaching import attach_media
from tests.factories import make_member, make_project, make_user, make_video
from tests.media.painted import painted_clip
from tests.media.test_probe import encode
from tests.object_store import Store, running_store

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Iterator[Store]:
    with running_store(tmp_path_factory.mktemp("store") / "buckets") as found:
        yield found


@pytest.fixture(autouse=True)
def stored(settings, store) -> None:
    use(settings, store)


def use(settings, store: Store, **changes) -> None:
    options = {**store.options, **changes}
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "foilworks.core.corpus.video_files.object_store.ObjectStore", "OPTIONS": options},
    }


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    write_mp4(folder / "a.mp4", painted_clip(4), fps=8)
    (folder / "b.mp4").write_bytes((folder / "a.mp4").read_bytes())
    return folder


@pytest.fixture
def video(films):
    project = make_project()
    researcher = make_member(project, Role.RESEARCHER)
    video = make_video(project, key="a", media_state=MediaState.MISSING, file="")
    return attach_media(researcher, video, films / "a.mp4")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_are_kept_once_by_their_content(films, store):
    project = make_project()
    for key in ("a", "b"):
        make_video(project, key=key, media_state=MediaState.MISSING, file="")
    assert attach_folder(None, project, films)["ready"] == 2
    sha256 = digest(films / "a.mp4")
    stem = opaque_name(sha256)
    name = f"videos/{stem[:2]}/{stem}.mp4"
    assert sha256 not in name
    assert set(project.videos.values_list("file", flat=True)) == {name}
    assert store.files() == [f"clips/{name}"]
    assert not list(a_ready_clip_has_its_file())


def test_a_file_that_the_store_refuses_is_named_by_the_check_of_files(settings, store, video):
    use(settings, store, secret_key="another")
    (found,) = a_stored_file_is_its_hash(lambda things, _total, _label: iter(things))
    assert f"its file {video.file.name} cannot be read (the object store rejected the request" in found.problem


def test_unplayable_videos_are_stored_as_a_playable_copy(tmp_path):
    path = encode(tmp_path / "film.avi", "mpeg4", n=8, rate=8)
    kept = store_media(path)
    assert kept.made_from == digest(path)
    with default_storage.open(kept.name) as file:
        assert hashlib.sha256(file.read()).hexdigest() == kept.facts.sha256


def test_researchers_are_led_to_the_file_and_nobody_else(client, video, films):
    url = reverse("corpus:media", args=[video.project.slug, video.pk])
    client.force_login(make_user())
    assert client.get(url).status_code == 404
    client.force_login(make_member(video.project, Role.RESEARCHER))
    answer = client.get(url)
    assert (answer.status_code, answer["Cache-Control"]) == (302, "private, max-age=600")
    whole = httpx.get(answer["Location"])
    assert whole.content == (films / "a.mp4").read_bytes()
    assert whole.headers["Content-Type"] == "video/mp4"
    part = httpx.get(answer["Location"], headers={"Range": "bytes=10-19"})
    assert part.content == whole.content[10:20]
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(whole.content)}"
    head = httpx.head(client.head(url)["Location"])
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(whole.content)))


def test_a_clip_of_work_comes_from_us_and_names_nothing_of_the_store(client, video, films):
    """The store's own answer says when the object was written, and its name is the same for everybody."""
    person = make_member(video.project, Role.VALIDATOR)
    client.force_login(person)
    url = reverse("corpus:clip", args=[video.project.slug, clip_token(video.pk, person.pk, Piece.SLOT, 1)])
    content = (films / "a.mp4").read_bytes()
    whole, part = client.get(url), client.get(url, headers={"Range": "bytes=10-19"})
    assert (whole.status_code, b"".join(whole.streaming_content)) == (200, content)
    assert (part.status_code, b"".join(part.streaming_content)) == (206, content[10:20])
    assert part["Content-Range"] == f"bytes 10-19/{len(content)}"
    said = " ".join(map(str, (*whole.items(), *part.items())))
    assert not [name for name in ("Last-Modified", "Location", video.sha256, video.file.name) if name in said]
    default_storage.delete(video.file.name)
    assert client.get(url).status_code == 404


def test_an_address_counts_for_one_file_and_ends(client, settings, store, video):
    url = reverse("corpus:media", args=[video.project.slug, video.pk])
    client.force_login(make_member(video.project, Role.RESEARCHER))
    found = client.get(url)["Location"]
    assert httpx.get(found).status_code == 200
    assert httpx.get(found.split("?")[0]).status_code in {400, 403}
    assert httpx.get(found.replace("Expires=3600&", "Expires=9999&")).status_code == 403
    default_storage.save("videos/other.mp4", ContentFile(b"other"))
    assert httpx.get(found.replace(video.file.name, "videos/other.mp4")).status_code == 403
    use(settings, store, querystring_expire=1)
    found = client.get(url)["Location"]
    time.sleep(1.1)
    assert httpx.get(found).status_code in {400, 403}


def test_an_unplayable_file_is_a_download(client, video):
    video.file.save("clip.html", ContentFile(b"<script>alert(1)</script>"))
    client.force_login(make_member(video.project, Role.RESEARCHER))
    found = client.get(reverse("corpus:media", args=[video.project.slug, video.pk]))["Location"]
    assert "response-content-disposition=attachment" in found
    assert "response-content-type=application%2Foctet-stream" in found


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/../../../etc/passwd"])
def test_a_stored_name_never_leaves_the_prefix(client, video, name):
    other = make_video(video.project, file=name)
    client.force_login(make_member(video.project, Role.RESEARCHER))
    assert client.get(reverse("corpus:media", args=[video.project.slug, other.pk])).status_code == 400


def test_a_worker_fetches_a_clip_once(settings, video, films):
    path = clip_file(video)
    assert not (settings.CACHE_ROOT / "clips").exists(), "nothing is fetched before it is opened"
    assert (sample_frames(path, 2).frames == sample_frames(films / "a.mp4", 2).frames).all()
    default_storage.delete(video.file.name)
    assert sample_frames(path, 2).frames.shape[0] == 2
    assert [path.name for path in (settings.CACHE_ROOT / "clips").glob("??/*")] == [video.sha256]


def test_other_processes_fetch_it_too(settings, video):
    """Decoders may be processes: what they are handed names the clip and holds no connection."""
    path = pickle.loads(pickle.dumps(clip_file(video)))
    assert path == clip_file(video)
    again = pickle.loads(pickle.dumps(default_storage._wrapped))
    assert again.exists(video.file.name)
    assert again.signed_url(video.file.name, {}).startswith(settings.STORAGES["default"]["OPTIONS"]["public_url"])


def test_no_code_uses_a_path_of_a_file_that_may_be_in_a_store():
    ours = [
        path
        for app in ("annotation", "evaluation", "foilworks", "generation")
        for path in (settings_of_django.BASE_DIR / app).rglob("*.py")
    ]
    direct = {path.name for path in ours if re.search(r"\.(file|image)\.path\b|storage\.path\(", path.read_text())}
    assert direct == {"stored_files.py"}


def test_causes_of_a_failed_download_are_distinguished(settings, store, video):
    with pytest.raises(MediaError, match="no longer in the object store"):
        StoredFile("videos/no.mp4", "0" * 64).__fspath__()
    with pytest.raises(MediaError, match="other bytes"):
        StoredFile(video.file.name, "0" * 64).__fspath__()
    assert not list((settings.CACHE_ROOT / "clips").glob("??/.*")), "nothing half-fetched stays"
    use(settings, store, secret_key="wrong")
    with pytest.raises(CorpusError, match="the object store rejected the request"):
        StoredFile(video.file.name, video.sha256).__fspath__()
    use(settings, store, endpoint_url="http://127.0.0.1:9", public_url="http://127.0.0.1:9")
    with pytest.raises(CorpusError, match="the object store is not reachable"):
        StoredFile(video.file.name, video.sha256).__fspath__()
    with pytest.raises(OSError, match="not reachable"):
        default_storage.exists(video.file.name)


def test_a_store_that_is_away_stops_an_import_with_one_line(settings, store, films):
    use(settings, store, endpoint_url="http://127.0.0.1:9", public_url="http://127.0.0.1:9")
    with pytest.raises(CorpusError, match="cannot be stored"):
        store_media(films / "a.mp4")


def test_fetched_clips_stay_below_their_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("foilworks.core.media.file_cache.JUST_USED_S", 0.0)
    clips = ClipCache(tmp_path, 1000)
    for number in range(20):
        clips.path(f"{number:02}" + "0" * 62, lambda file: file.write(b"x" * 100))
    assert FileCache(tmp_path, 1).size() <= 1000
    # The last one is there without being fetched again.
    assert clips.path("19" + "0" * 62, lambda file: pytest.fail("fetched again")).stat().st_size == 100
    monkeypatch.setattr("foilworks.core.media.file_cache.JUST_USED_S", 60.0)
    fresh = ClipCache(tmp_path / "busy", 150)
    found = [fresh.path(f"{n}" + "0" * 63, lambda file: file.write(b"x" * 100)) for n in range(3)]
    assert all(path.exists() for path in found), "what was asked for just now may be about to be opened"


def test_a_clip_whose_object_is_gone_is_found_by_check(video):
    default_storage.delete(video.file.name)
    assert [finding.problem for finding in a_ready_clip_has_its_file()] == [
        f"is ready, but its file {video.file.name} is missing"
    ]


def test_the_doctor_tries_the_store(settings, store):
    place = f"bucket media at {store.url}"
    assert _storage() == Check("storage", OK, place)
    assert not [name for name in store.files() if "doctor" in name]
    use(settings, store, secret_key="wrong")
    said = _storage()
    assert (said.state, said.todo) == (BROKEN, "check STORAGE_URL, the bucket and its keys")
    assert said.found.startswith(f"{place}: the object store rejected the request")


def test_videos_go_into_a_copy_and_back(settings, store, video, films, tmp_path):
    back_up_files(tmp_path / "copy", lambda things, *_: iter(things))
    copied = tmp_path / "copy" / video.file.name
    assert copied.read_bytes() == (films / "a.mp4").read_bytes()
    use(settings, store, location="another")
    assert not default_storage.exists(video.file.name)
    for _ in range(2):
        copy_in(tmp_path / "copy", lambda things, *_: iter(things))
    with default_storage.open(video.file.name) as file:
        assert file.read() == copied.read_bytes()


def test_a_picture_of_a_frame_lies_there_too(video):
    check = ObjectCheck.objects.create(project=video.project, source="test", opened_at=timezone.now())
    frame = CheckedFrame.objects.create(check_of=check, video=video, time=0.1, objects_named=["ball"])
    _picture(check, frame)
    frame.refresh_from_db()
    assert (frame.state, frame.error) == ("ready", "")
    with default_storage.open(frame.image.name) as file:
        assert file.read(2) == b"\xff\xd8"
