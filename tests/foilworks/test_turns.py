"""Writers of an SQLite file: one at a time, as they came; whoever is killed gives their turn back by it."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest
from django.db import connection, transaction

from foilworks.core.projects.models import Project
from foilworks.site.databases.sqlite import base
from foilworks.site.databases.sqlite.base import WriteQueue, queue_of

HOLDER = """
import sys, time
from pathlib import Path
from foilworks.site.databases.sqlite.base import WriteQueue
line = WriteQueue(Path(sys.argv[1]))
print(line.acquire(), flush=True)
time.sleep(float(sys.argv[2]))
line.release()
print("given back", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def another(tmp_path):
    """Starts a process that has the turn for so many seconds; it is there when this returns."""
    started = []

    def start(seconds: float) -> subprocess.Popen:
        command = [sys.executable, "-c", HOLDER, str(tmp_path / "turns"), str(seconds)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "True\n"
        return process

    yield start
    for process in started:
        process.communicate()


def test_a_process_waits_for_the_turn_of_another_process(another, tmp_path):
    process = another(0.5)
    line = WriteQueue(tmp_path / "turns")
    assert line.acquire()
    assert process.stdout.readline() == "given back\n"
    line.release()


def test_a_killed_process_releases_its_turn(another, tmp_path):
    process = another(600)
    process.send_signal(signal.SIGKILL)
    line = WriteQueue(tmp_path / "turns")
    assert line.acquire()
    line.release()


def test_a_writer_that_waits_too_long_continues_without_a_turn(another, tmp_path, monkeypatch):
    monkeypatch.setattr(base, "MAX_WAIT_S", 0.05)
    process = another(600)
    line = WriteQueue(tmp_path / "turns")
    assert not line.acquire()
    process.kill()
    process.wait()
    monkeypatch.setattr(base, "MAX_WAIT_S", 10.0)
    assert line.acquire()
    line.release()


def test_threads_take_turns(tmp_path):
    line, at_work, most = WriteQueue(tmp_path / "turns"), [], []

    def work() -> None:
        for _ in range(20):
            assert line.acquire()
            at_work.append(1)
            most.append(len(at_work))
            time.sleep(0.0005)
            at_work.pop()
            line.release()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(most), max(most)) == (120, 1)


def test_no_turn_on_disks_without_file_locks(tmp_path):
    line = WriteQueue(tmp_path / "no such folder" / "turns")
    assert not line.acquire()
    assert not line.acquire()


def test_a_child_of_a_fork_waits_for_its_parents_turn(tmp_path):
    line = queue_of(tmp_path / "database")
    assert line.acquire()
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            own = queue_of(tmp_path / "database")
            os.write(writes, b"waits" if not own._lock(0) else b"has it")
        finally:
            # Nothing of the tests goes on in the child, whatever comes.
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reads, 10) == b"waits"
    os.close(reads)
    os.close(writes)
    line.release()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL's writers wait for rows")
@pytest.mark.django_db(transaction=True)
def test_a_transaction_holds_its_turn_until_it_ends_in_any_way():
    assert connection._turn is None
    with transaction.atomic():
        assert connection._turn is not None
        with transaction.atomic():
            Project.objects.create(slug="inner", name="Inner")
        assert connection._turn is not None
    assert connection._turn is None
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        Project.objects.create(slug="outer", name="Outer")
        _ = 1 / 0
    assert connection._turn is None

    def in_a_thread() -> None:
        with closing(connection):
            connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)
            taken.append(connection._turn is not None)
            connection.close()
            taken.append(connection._turn is None)

    taken: list[bool] = []
    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    assert taken == [True, True]
