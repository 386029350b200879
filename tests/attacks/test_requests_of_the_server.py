"""Requests that the server is made to send: to its own network, by media, webhooks, redirects and names that turn."""

import ast
import http.client
import socket
import urllib.request
from contextlib import nullcontext
from pathlib import Path

import pytest
from django.core.management import call_command

from foilworks.core.corpus.models import Video
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.errors import MediaError
from foilworks.core.media.probe import probe
from foilworks.core.projects.errors import ProjectError
from foilworks.core.projects.webhooks.events import post
from foilworks.core.projects.webhooks.outbound_addresses import checked_target
from tests.attacks.guards import Guard, guarded_by, replaced
from tests.attacks.receivers import dripping, receiving
from tests.media.painted import painted_clip
from tests.test_architecture import PACKAGES, ROOT

PUBLIC = replaced(
    "foilworks.core.projects.webhooks.outbound_addresses._is_public",
    "the server connects to public addresses only",
    lambda address: True,
)


def _wherever_the_name_leads(target):
    return http.client.HTTPConnection(target.host, target.port, timeout=2)


PINNED = replaced(
    "foilworks.core.projects.webhooks.events._connection",
    "the connection uses the checked address, even if the name resolves differently later",
    _wherever_the_name_leads,
)


def _following(url, headers, body):
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=2) as answer:
        return answer.status, ""


REDIRECTS = Guard(
    "foilworks.core.projects.webhooks.events.post",
    "redirects are not followed",
    lambda patch: patch.setattr("tests.attacks.test_requests_of_the_server.post", _following),
)
DEADLINE = replaced(
    "foilworks.core.projects.webhooks.events._deadline",
    "a delivery has a deadline, however slowly the response arrives",
    lambda connection: nullcontext(),
)
CONTAINERS = replaced(
    "foilworks.core.media.container.OPEN_OPTIONS", "only video containers are opened, and only as files", {}
)
# Who opens connections at all, and what checks where to.
CONNECTS = {
    "foilworks/core/projects/webhooks/outbound_addresses.py": "looks names up, and checks what it finds",
    "foilworks/core/projects/webhooks/events.py": "webhooks, to addresses that were checked",
    "foilworks/core/corpus/video_files/address_check.py": "HEAD requests to MEDIA_HOSTS, by a command only",
    "foilworks/core/hub/adapters/chat_endpoint.py": "the operator's instruction models; no redirect is followed",
    **dict.fromkeys(
        (
            f"foilworks/client/foilworks_client/{name}.py"
            for name in ("client", "async_client", "transport", "async_transport")
        ),
        "the client, which runs with its user",
    ),
    "foilworks/site/supervisor/services.py": "our own web server",
    "foilworks/site/server/web_worker.py": "ends connections that come too slowly; it opens none",
    "foilworks/site/server/arriving.py": "stores what arrives on connections; it opens none",
    "foilworks/core/media/child.py": "a pair of sockets, to its own child process",
    "foilworks/core/jobs/lease.py": "the name of this host",
    "foilworks/core/jobs/ray/reach.py": "the operator's Ray cluster, to see whether it answers",
    "foilworks/core/jobs/stray_workers.py": "the name of this host",
}
LIBRARIES = {"httpx", "requests", "urllib3", "urllib.request", "http.client", "socket", "aiohttp", "ftplib", "smtplib"}


def connecting(files: list[Path]) -> set[str]:
    """The files that import something to connect with."""
    found = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()
            if isinstance(node, ast.ImportFrom) and node.module:
                names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            if names & LIBRARIES:
                found.add(path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name)
    return found


@guarded_by(PUBLIC)
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.0.0.1",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[fec0::1]",
        "[5f00::1]",
        "[3fff::1]",
        "192.88.99.1",
        "192.0.0.8",
        "2130706433",
        "127.1",
        "224.0.0.1",
    ],
)
def test_no_address_of_our_own_network_is_taken(host):
    with pytest.raises(ProjectError):
        checked_target(f"https://{host}/")


@pytest.mark.parametrize(("port", "is_taken"), [(443, True), (8443, True), (80, False), (22, False), (25, False)])
def test_no_port_of_another_service_is_taken(port, is_taken, settings):
    settings.WEBHOOK_NETWORKS = ()
    with nullcontext() if is_taken else pytest.raises(ProjectError, match="443"):
        assert checked_target(f"https://8.8.8.8:{port}/").port == port


def test_port_0_is_refused():
    with pytest.raises(ProjectError):
        checked_target("https://8.8.8.8:0/")


def resolve(monkeypatch, answers: list[str]) -> None:
    """turning.example has the first address, then the next one …"""
    real, left = socket.getaddrinfo, list(answers)

    def lookup(host, port, *args, **kwargs):
        if host != "turning.example":
            return real(host, port, *args, **kwargs)
        ip = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)


@guarded_by(PINNED)
def test_a_name_that_turns_between_look_and_connection_leads_nowhere(settings, monkeypatch):
    # An allowed address at which nobody listens stands for the public one.
    settings.WEBHOOK_NETWORKS = ("127.0.0.2/32",)
    resolve(monkeypatch, ["127.0.0.2", "127.0.0.1"])
    with receiving() as inside:
        post(f"http://turning.example:{inside.server_port}/hook", {}, b"{}")
    assert inside.came == []


@guarded_by(PUBLIC)
def test_a_name_that_turned_since_it_was_stored_leads_nowhere(settings, monkeypatch):
    settings.WEBHOOK_NETWORKS = ()
    resolve(monkeypatch, ["127.0.0.1"])
    _status, problem = post("https://turning.example:9/hook", {}, b"{}")
    assert "private" in problem


@guarded_by(REDIRECTS)
def test_a_redirect_leads_nowhere(settings):
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    with receiving() as inside, receiving(location=inside.url) as outside:
        post(outside.url, {}, b"{}")
        assert outside.came == ["/hook"]
    assert inside.came == []


@guarded_by(DEADLINE)
def test_an_answer_that_drips_holds_no_worker(settings, monkeypatch):
    settings.WEBHOOK_NETWORKS = ("127.0.0.0/8",)
    monkeypatch.setattr("foilworks.core.projects.webhooks.events.ATTEMPT_SECONDS", 0.3)
    with dripping(b"") as port:
        _status, problem = post(f"http://127.0.0.1:{port}/hook", {}, b"{}")
    assert "The URL took longer than" in problem


def facts_of(path: Path) -> object:
    try:
        return probe(path)
    except MediaError:
        return None


@guarded_by(CONTAINERS)
def test_a_list_of_other_files_is_not_a_video(tmp_path):
    """It would show whoever sends it the videos of others, or make the server fetch what it names."""
    write_mp4(tmp_path / "secret.mp4", painted_clip(4), fps=4)
    (tmp_path / "sent.mp4").write_text("ffconcat version 1.0\nfile secret.mp4\n")
    assert facts_of(tmp_path / "sent.mp4") is None


def test_a_playlist_of_addresses_is_not_fetched(tmp_path):
    with receiving() as inside:
        path = tmp_path / "sent.mp4"
        path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n{inside.url}.ts\n#EXT-X-ENDLIST\n")
        assert facts_of(path) is None
    assert inside.came == []


@pytest.mark.django_db
def test_the_address_of_a_video_is_for_browsers(tmp_path, capsys):
    with receiving() as inside:
        line = f'{{"id": "a", "video": "a.mp4", "url": "{inside.url}", "caption": "a", "foil": "b"}}\n'
        (tmp_path / "a.jsonl").write_text(line)
        call_command("import", "jsonl", str(tmp_path / "a.jsonl"), "--project", "p", "--create", "--json")
    assert Video.objects.exists()
    assert inside.came == []


def test_nobody_else_opens_connections(tmp_path):
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert connecting(files) == set(CONNECTS)
    (tmp_path / "fetch.py").write_text("from urllib import request\nrequest.urlopen('http://x')\n")
    assert connecting([tmp_path / "fetch.py"]) == {"fetch.py"}
