"""A clip that lies with somebody else: people watch it there and judge it, and no process of ours ever asks for it."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from csp.constants import SELF
from django.core.management import call_command

from annotation.models import Vote
from foilworks.core.corpus.models import Item, MediaState, Video
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.ranges import parse_range
from foilworks.site.monitoring.requests import content_policy
from tests.e2e.conftest import SignIn, moving_dot
from tests.e2e.test_annotation_walk import validate
from tests.factories import make_member, make_project, make_subtest

pytestmark = pytest.mark.django_db(transaction=True)


class Elsewhere:
    """A server of films, and what it was asked."""

    def __init__(self, film: bytes) -> None:
        self.asked: list[str] = []
        owner = self

        class Films(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                owner.asked.append(self.headers.get("User-Agent", ""))
                wanted = parse_range(self.headers.get("Range"), len(film))
                body = film[wanted.start : wanted.end + 1] if wanted else film
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Type", "video/mp4")
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("Content-Length", str(len(body)))
                if wanted:
                    self.send_header("Content-Range", wanted.content_range(len(film)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Films)
        self.server.daemon_threads = True
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def elsewhere(tmp_path: Path, settings) -> Iterator[Elsewhere]:
    write_mp4(tmp_path / "dot.mp4", moving_dot(), 12.0)
    found = Elsewhere((tmp_path / "dot.mp4").read_bytes())
    settings.MEDIA_HOSTS = (found.origin,)
    directives = {**settings.CONTENT_SECURITY_POLICY["DIRECTIVES"], "media-src": [SELF, found.origin]}
    settings.CONTENT_SECURITY_POLICY = {"DIRECTIVES": directives}
    content_policy.cache_clear()
    yield found
    content_policy.cache_clear()
    found.server.shutdown()
    found.server.server_close()


def import_record(folder: Path, name: str, url: str) -> None:
    texts = {"caption": "a red dot moves to the right.", "foils": ["a red dot moves to the left."]}
    records = folder / f"{name}.jsonl"
    records.write_text(json.dumps({"id": name, "url": url, "subtest": "direction", **texts}), encoding="utf-8")
    call_command("import", "jsonl", str(records), "--project", "dots")


@pytest.mark.full
def test_people_watch_it_at_its_address_and_nobody_else_asks(elsewhere: Elsewhere, sign_in: SignIn, tmp_path: Path):
    project = make_project(slug="dots", name="Dots")
    make_subtest(project, name="direction")
    import_record(tmp_path, "there", f"{elsewhere.origin}/dot.mp4")
    assert Video.objects.get().media_state == MediaState.ELSEWHERE
    assert elsewhere.asked == []

    page = sign_in(make_member(project, "validator", name="vera"))
    validate(page)
    vote = Vote.objects.get()
    assert vote.item == Item.objects.get(video__media_state=MediaState.ELSEWHERE)
    assert vote.watch["covered"] > 0
    assert elsewhere.asked
    assert all("Mozilla" in program for program in elsewhere.asked)

    import_record(tmp_path, "nowhere", "https://films.example.org/dot.mp4")
    assert Video.objects.get(url__contains="example.org").media_state == MediaState.MISSING
    owner = sign_in(make_member(project, "researcher", name="owner"))
    for video in Video.objects.all():
        owner.goto(f"/projects/dots/videos/{video.pk}/")
        played = owner.locator("video").count()
        assert played == (video.media_state == MediaState.ELSEWHERE)
        if not played:
            assert "Videos from the host of this URL are not allowed here" in owner.inner_text("main")
