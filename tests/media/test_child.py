import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from foilworks.core.media import child
from foilworks.core.media.child import ChildLimits, LimitError, end_children, run, stream
from foilworks.core.media.errors import MediaError
from tests.media import child_calls as calls
from tests.waiting import wait_until

MB = 1024**2
ROOT = Path(__file__).resolve().parents[2]
AMPLE = ChildLimits(memory=512 * MB, seconds=60)


@pytest.fixture(autouse=True, scope="module")
def _no_child_stays():
    yield
    end_children()


def test_a_child_serves_one_call_after_the_other(monkeypatch):
    # However long this machine pauses between two calls.
    monkeypatch.setattr(child, "REUSE_SECONDS", float("inf"))
    monkeypatch.setattr(child, "IDLE_SECONDS", 86_400.0)
    end_children()
    first = run(AMPLE, os.getpid)
    assert first != os.getpid()
    assert run(AMPLE, calls.fill, 3) == 3
    with pytest.raises(MediaError, match="is damaged; copy it again"):
        run(AMPLE, calls.refuse)
    assert run(AMPLE, calls.variable, "no such variable") is None
    assert run(AMPLE, os.getpid) == first


def test_a_child_is_replaced_after_some_calls(monkeypatch):
    monkeypatch.setattr(child, "CALLS_PER_CHILD", 1)
    assert run(AMPLE, os.getpid) != run(AMPLE, os.getpid)


def test_memory_has_a_limit_of_its_own_in_each_call():
    with pytest.raises(LimitError, match=r"the limit of 64 MB of memory; .* raise the setting MAX_DECODE_MEMORY_MB"):
        run(ChildLimits(memory=64 * MB), calls.fill, 100 * MB)
    assert run(AMPLE, calls.fill, 100 * MB) == 100 * MB
    assert run(ChildLimits(), calls.fill, 100 * MB) == 100 * MB


def test_a_decoder_that_gets_no_memory_has_damaged_no_file():
    with pytest.raises(LimitError, match="more than the limit of 512 MB of memory"):
        run(AMPLE, calls.decoder_without_memory)


def test_computing_has_an_end(monkeypatch):
    monkeypatch.setattr(child, "CLOCK_SECONDS_PER_SECOND", 1000)
    with pytest.raises(LimitError, match=r"takes more than the limit of 1 seconds; .* the setting MAX_DECODE_SECONDS"):
        run(ChildLimits(seconds=1), calls.compute_for_ever)


def test_waiting_has_an_end(monkeypatch):
    monkeypatch.setattr(child, "CLOCK_SECONDS_PER_SECOND", 0.1)
    with pytest.raises(LimitError, match="takes more than the limit of 1 seconds"):
        run(ChildLimits(seconds=1), calls.sleep_for_ever)


def test_a_crash_is_the_files_and_a_fault_is_ours():
    with pytest.raises(LimitError, match="its decoder crashed \\(SIGSEGV\\)"):
        run(AMPLE, calls.crash)
    with pytest.raises(RuntimeError, match="ended with status 1"):
        run(AMPLE, calls.fail)
    assert run(AMPLE, calls.fill, 1) == 1


def test_a_full_disk_stays_one():
    with pytest.raises(OSError, match="No space left") as caught:
        run(AMPLE, calls.meet_a_full_disk)
    assert caught.value.errno == 28


def test_a_stream_comes_item_by_item_and_its_error_last():
    assert [number for number, _ in stream(AMPLE, calls.count, 3)] == [0, 1, 2]
    numbers = stream(AMPLE, calls.refuse_after_two)
    assert [next(numbers), next(numbers)] == [1, 2]
    with pytest.raises(MediaError, match="is damaged"):
        next(numbers)


def test_a_stream_that_nobody_reads_to_its_end_ends_its_child():
    numbers = stream(AMPLE, calls.count, 10**9)
    _, pid = next(numbers)
    numbers.close()
    assert not is_alive(pid)


def test_a_child_ends_with_its_parent():
    """Killed, the parent ends nothing itself."""
    code = "from foilworks.core.media.child import *; from tests.media import child_calls as calls\n"
    code += "print(run(ChildLimits(), os.getpid), flush=True); run(ChildLimits(), calls.sleep_for_ever)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    wait_until(lambda: not is_alive(pid))


def is_alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_child_sees_no_secret(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "of the installation")
    assert run(AMPLE, calls.variable, "SECRET_KEY") is None
    assert run(AMPLE, calls.variable, "PATH") == os.environ["PATH"]
