"""`foilworks sources check`: lost and changed files, dead addresses, similar names, licences."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from evaluation.releases.actions.freeze_release import freeze_release
from foilworks.core.corpus.actions.attach_media import attach_folder
from foilworks.core.corpus.models import MediaState, ReleaseItem, Video
from foilworks.core.corpus.rules.states import ItemState
from foilworks.core.media.encode import write_mp4
from foilworks.site.documents.models import SourceLicence
from tests.factories import make_caption, make_item, make_project, make_subtest, make_video
from tests.media.painted import painted_clip

pytestmark = pytest.mark.django_db


@pytest.fixture
def clips(tmp_path):
    """A project with the clips film and other, each with a file of the folder."""
    project = make_project(slug="p")
    for length, name in ((4, "film"), (5, "other")):
        lacking = {"media_state": MediaState.MISSING, "duration": None, "fps": None}
        make_video(project, key=name, source_id=name, source_dataset="shapes", **lacking)
        write_mp4(tmp_path / f"{name}.mp4", painted_clip(length), fps=8)
    attach_folder(None, project, tmp_path)
    return tmp_path


def check(capsys, *given: str) -> tuple[int, dict]:
    try:
        call_command("sources", "check", "--project", "p", "--json", *given)
        status = 0
    except SystemExit as leaving:
        status = leaving.code
    return status, json.loads(capsys.readouterr().out)


def kinds(found: dict) -> dict[str, str]:
    return {one["clip"]: one["kind"] for one in found["problems"]}


def stored(name: str) -> Path:
    return Path(default_storage.path(Video.objects.get(key=name).file.name))


def test_intact_clips_and_their_licences(clips, capsys):
    project = Video.objects.first().project
    SourceLicence.objects.create(project=project, source_dataset="shapes", licence="CC BY 4.0")
    make_video(project, key="lone", media_state=MediaState.MISSING)
    status, found = check(capsys)
    assert (status, found["ok"], found["counts"]) == (0, True, {})
    assert (found["clips"], found["states"]["ready"], found["states"]["missing"]) == (3, 2, 1)
    assert [(row["dataset"], row["clips"], row["licence"]) for row in found["licences"]] == [
        ("", 1, ""),
        ("shapes", 2, "CC BY 4.0"),
    ]
    call_command("sources", "check", "--project", "p")
    shown = capsys.readouterr().out
    assert "shapes           2   CC BY 4.0\n" in shown
    assert shown.endswith("\nno problems\n")


def test_lost_and_changed_files_are_found(clips, capsys):
    write_mp4(stored("film"), painted_clip(8), fps=8)
    stored("other").unlink()
    status, found = check(capsys)
    assert (status, kinds(found)) == (1, {"film": "file_changed", "other": "file_missing"})
    (changed,) = [one["problem"] for one in found["problems"] if one["clip"] == "film"]
    assert changed.endswith("; it has 1.00 s, not 0.50 s")
    stored("film").write_bytes(b"no video")
    _status, found = check(capsys)
    (changed,) = [one["problem"] for one in found["problems"] if one["clip"] == "film"]
    assert "; it is no longer a readable video (" in changed


def test_similar_names_and_other_copies_are_found_in_a_folder(clips, capsys):
    project = Video.objects.first().project
    for name in ("v_QOlSCBRmfWY", "Late", "gone"):
        make_video(project, key=name, source_id=name, media_state=MediaState.MISSING)
    for name in ("QOlSCBRmfWY.mkv", "late.mp4"):
        (clips / name).write_bytes(b"x")
    (clips / "film.mp4").write_bytes(b"another")
    status, found = check(capsys, "--media", str(clips))
    assert status == 1
    assert kinds(found) == {
        "film": "source_changed",
        "v_QOlSCBRmfWY": "near_name",
        "Late": "not_attached",
        "gone": "no_file",
    }
    said = {one["clip"]: one["problem"] for one in found["problems"]}
    assert "QOlSCBRmfWY" in said["v_QOlSCBRmfWY"].removeprefix("no file has its name v_QOlSCBRmfWY")
    assert "whose name differs in letter case" in said["Late"]


def test_a_release_is_compared_with_what_it_froze(clips, capsys):
    project = Video.objects.first().project
    caption = make_caption(Video.objects.get(key="film"), "a ball moves")
    make_item(make_subtest(project), caption, ("a ball rests",), state=ItemState.VALID)
    release = freeze_release(None, project)
    status, found = check(capsys, "--release", release.name)
    assert (status, found["clips"]) == (0, 1)
    member = ReleaseItem.objects.get()
    member.record["video"]["sha256"] = "0" * 64
    member.save()
    status, found = check(capsys, "--release", release.name)
    assert (status, found["counts"]) == (1, {"changed_since_release": 1})


class _Films(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.server.asked.append(self.path)
        self.send_response({"/gone.mp4": 404, "/moved.mp4": 302, "/round.mp4": 302, "/no.mp4": 405}.get(self.path, 200))
        if self.path in {"/moved.mp4", "/round.mp4"}:
            self.send_header("Location", "https://elsewhere.example/a" if self.path == "/moved.mp4" else self.path)
        self.end_headers()

    def log_message(self, *_arguments) -> None:
        pass


@pytest.fixture
def films(settings):
    server = HTTPServer(("127.0.0.1", 0), _Films)
    server.asked = []
    Thread(target=server.serve_forever, daemon=True).start()
    settings.MEDIA_HOSTS = (f"http://127.0.0.1:{server.server_port}",)
    yield server
    server.shutdown()
    server.server_close()


def test_addresses_are_requested_only_on_media_hosts_and_only_if_asked_for(films, capsys):
    project = make_project(slug="p")
    (host,) = (f"http://127.0.0.1:{films.server_port}",)
    for name in ("there", "gone", "moved", "round", "no"):
        make_video(project, key=name, url=f"{host}/{name}.mp4", media_state=MediaState.ELSEWHERE)
    make_video(project, key="foreign", url="http://127.0.0.1:1/x.mp4", media_state=MediaState.ELSEWHERE)
    status, found = check(capsys)
    assert (status, films.asked) == (0, [])
    status, found = check(capsys, "--urls")
    assert (status, found["addresses"]) == (1, {"checked": True, "unanswered": 1})
    said = {one["clip"]: one["problem"].partition(".mp4: ")[2] for one in found["problems"]}
    assert said == {
        "gone": "the host answers 404",
        "moved": "its host is not in MEDIA_HOSTS",
        "round": "more than 3 redirects",
        "foreign": "its host is not in MEDIA_HOSTS",
    }
    assert set(films.asked) == {"/there.mp4", "/gone.mp4", "/moved.mp4", "/round.mp4", "/no.mp4"}


def test_an_unknown_folder_is_one_line(clips, capsys):
    with pytest.raises(SystemExit) as leaving:
        call_command("sources", "check", "--project", "p", "--media", str(clips / "none"))
    assert leaving.value.code == 1
    assert capsys.readouterr().err.endswith("none: not a folder; give the path of the folder with the media files\n")
