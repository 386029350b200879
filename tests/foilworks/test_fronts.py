"""The real web servers in front log no token, and lead from HTTP to HTTPS."""

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.ports import free_port
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SECRET = "s3cr3t-t0ken"
PATHS = (
    f"/join/{SECRET}/",
    f"/password/reset/MQ/{SECRET}/",
    f"/notifications/unsubscribe/{SECRET}/",
    f"/projects/a/work/edit/{SECRET}/",
    f"/enter/{SECRET}?PROLIFIC_PID={SECRET}",
    f"/%2Fjoin/{SECRET}",
)
pytestmark = pytest.mark.machines


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed")
def test_nginx_logs_no_token_and_redirects_to_tls(tmp_path):
    port, plain = free_port(), free_port()
    text = (ROOT / "deploy/nginx.conf").read_text().replace("/var/log/nginx", str(tmp_path))
    # No TLS here, and nobody behind: each request is an error of the upstream, too.
    text = text.replace("listen 443 ssl http2", f"listen 127.0.0.1:{port}").replace("127.0.0.1:8000", "127.0.0.1:1")
    text = text.replace("listen 80 reuseport", f"listen 127.0.0.1:{plain}")
    text = "\n".join(line for line in text.splitlines() if "ssl_certificate" not in line)
    head = f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}"
    (tmp_path / "nginx.conf").write_text(f"{head}\nhttp {{\n{text}\n}}\n")
    server = subprocess.Popen(["nginx", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)])
    log = tmp_path / "foilworks.log"
    try:
        wait_until(lambda: (tmp_path / "pid").exists(), processes=[])
        with httpx.Client(headers={"Host": "foils.example.org"}) as client:
            assert {client.get(f"http://127.0.0.1:{port}{path}").status_code for path in PATHS} == {502}
            moved = client.get(f"http://127.0.0.1:{plain}{PATHS[0]}?a=1")
        assert (moved.status_code, moved.headers["Location"]) == (308, f"https://foils.example.org{PATHS[0]}?a=1")
        wait_until(lambda: len(log.read_text().splitlines()) == len(PATHS), processes=[])
    finally:
        server.terminate()
        server.wait(30)
    logged = "".join(path.read_text() for path in tmp_path.glob("*.log"))
    assert SECRET not in logged
    assert "GET /join 502" in logged


@pytest.mark.skipif(not shutil.which("caddy"), reason="Caddy is not installed")
def test_caddy_logs_errors_without_addresses(tmp_path):
    port = free_port()
    text = (ROOT / "deploy/Caddyfile").read_text()
    log = text[text.index("\tlog {") : text.index("\tservers {")]
    (tmp_path / "Caddyfile").write_text(
        f"{{\n\tadmin off\n{log}}}\nhttp://127.0.0.1:{port} {{\n\treverse_proxy 127.0.0.1:1\n}}\n"
    )
    command = ["caddy", "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    with (tmp_path / "log").open("w") as file:
        server = subprocess.Popen(command, stderr=file, env={"HOME": str(tmp_path), "PATH": "/usr/bin"})
    try:
        wait_until(lambda: "serving initial configuration" in (tmp_path / "log").read_text(), processes=[])
        for path in PATHS:
            sent = {"Cookie": SECRET}
            assert httpx.get(f"http://127.0.0.1:{port}{path}", headers=sent).status_code == 502
    finally:
        server.terminate()
        server.wait(30)
    logged = (tmp_path / "log").read_text()
    assert "http.log.error" in logged
    assert SECRET not in logged
