"""Run a function in a child process with a limit on memory and time, so that no file harms the process that reads it.

A child serves one call after the other and ends when nobody needs it. The operating system enforces the limits (memory
on Linux only). A child that exceeds one ends, and the next call starts another. The child sees no secret of the
environment.
"""

import atexit
import math
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from foilworks.core.text.errors import ActionableError

Given = ParamSpec("Given")
Found = TypeVar("Found")
# The variables that a child sees. The limit counts address space, which a second arena of malloc reserves in advance.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
FEW_THREADS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
START = "import sys; from foilworks.core.media.child import serve; serve(int(sys.argv[1]), float(sys.argv[2]))"
# A parent reuses a child only well before the child gives up.
REUSE_SECONDS, IDLE_SECONDS = 30.0, 60.0
# What libraries leave behind in memory is freed with the child.
CALLS_PER_CHILD = 100
# A busy machine gives a child less than one processor: the clock may take so many times the processor's seconds.
CLOCK_SECONDS_PER_SECOND = 4


class LimitError(ActionableError):
    """The function exceeded a limit; reads `what is wrong; what to do`, without a subject."""


@dataclass(frozen=True)
class ChildLimits:
    """`memory`: bytes beyond what the child needs by itself; `seconds`: of a processor. 0 means no limit."""

    memory: int = 0
    seconds: int = 0


class _Kind(Enum):
    ITEM = "item"
    RESULT = "result"
    ERROR = "error"
    MEMORY = "memory"


def run(limits: ChildLimits, function: Callable[Given, Found], *args: Given.args, **kwargs: Given.kwargs) -> Found:
    """Return `function(*args, **kwargs)` from a child. Function, arguments and result are pickled.

    LimitError: a limit was exceeded, or the child crashed. ActionableError and OSError of the function are raised here.
    """
    *_, (_, answer) = _call(limits, function, args, kwargs)
    return answer


def stream(
    limits: ChildLimits, function: Callable[Given, Iterator[Found]], *args: Given.args, **kwargs: Given.kwargs
) -> Iterator[Found]:
    """Yield what the generator `function(*args, **kwargs)` yields in a child; errors as `run`."""
    for kind, value in _call(limits, function, args, kwargs):
        if kind is _Kind.ITEM:
            yield value


def _call(limits: ChildLimits, function: Callable[..., Any], args: Any, kwargs: Any) -> Iterator[tuple[_Kind, Any]]:
    """Yield the messages of the child, a result last."""
    child, kind = _take_child(), _Kind.ITEM
    try:
        child.ask(limits, function, args, kwargs)
        while kind is _Kind.ITEM:
            kind, value = child.receive(limits)
            if kind is _Kind.ITEM:
                yield kind, value
    finally:
        if kind in (_Kind.RESULT, _Kind.ERROR):
            _keep(child)
        else:
            child.end()
    if kind is _Kind.MEMORY:
        raise _too_much_memory(limits)
    if kind is _Kind.ERROR:
        raise value
    yield kind, value


class _Child:
    def __init__(self) -> None:
        parent_socket, child_socket = socket.socketpair()
        with child_socket:
            inherited = {key: os.environ[key] for key in INHERITED if key in os.environ}
            path = os.pathsep.join(str(Path(folder).resolve()) for folder in sys.path)
            self.process = subprocess.Popen(
                [sys.executable, "-c", START, str(child_socket.fileno()), str(IDLE_SECONDS)],
                env={**inherited, **FEW_THREADS, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[child_socket.fileno()],
                start_new_session=True,
            )
        self.connection = Connection(parent_socket.detach())
        self.calls, self.used = 0, time.monotonic()

    def ask(self, *call: Any) -> None:
        """Send a call. LimitError or RuntimeError: the child ended."""
        try:
            self.connection.send(call)
        except ConnectionError as error:
            raise self._reason(ChildLimits()) from error

    def receive(self, limits: ChildLimits) -> tuple[_Kind, Any]:
        """The next message. LimitError: no message in time, or the child ended. RuntimeError: a fault of our own."""
        seconds = limits.seconds * CLOCK_SECONDS_PER_SECOND or None
        try:
            if not self.connection.poll(seconds):
                raise _too_slow(limits)
            kind, value = self.connection.recv()
        except (EOFError, ConnectionError) as error:
            raise self._reason(limits) from error
        return kind, value

    def _reason(self, limits: ChildLimits) -> Exception:
        code = self.process.wait()
        if code == -signal.SIGXCPU:
            return _too_slow(limits)
        if code >= 0:
            return RuntimeError(f"a child process ended with status {code}; its error output has the reason")
        name = signal.Signals(-code).name
        return LimitError(
            f"its decoder crashed ({name}), often for lack of memory; give a converted copy, or raise the "
            "setting MAX_DECODE_MEMORY_MB"
        )

    def end(self) -> None:
        """Stop the child, whatever it does."""
        self.connection.close()
        self.process.kill()
        self.process.wait()


_idle: list[_Child] = []
# A forked process shares the connections, and must not use them.
os.register_at_fork(after_in_child=_idle.clear)


def _take_child() -> _Child:
    while _idle:
        child = _idle.pop()
        is_fresh = time.monotonic() - child.used < REUSE_SECONDS and child.calls < CALLS_PER_CHILD
        if is_fresh and child.process.poll() is None:
            return child
        child.end()
    return _Child()


def _keep(child: _Child) -> None:
    child.calls, child.used = child.calls + 1, time.monotonic()
    _idle.append(child)


def end_children() -> None:
    """Stop the children that wait for a call."""
    while _idle:
        _idle.pop().end()


atexit.register(end_children)


def _too_slow(limits: ChildLimits) -> LimitError:
    return LimitError(
        f"takes more than the limit of {limits.seconds} seconds; give a shorter or smaller file, or raise the "
        "setting MAX_DECODE_SECONDS"
    )


def _too_much_memory(limits: ChildLimits) -> LimitError:
    return LimitError(
        f"needs more than the limit of {limits.memory // 1024**2} MB of memory; give a smaller file, or raise the "
        "setting MAX_DECODE_MEMORY_MB"
    )


def serve(descriptor: int, idle_seconds: float) -> None:
    """Be the child: answer calls until the parent is gone or silent for so long."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = Connection(descriptor)
    threading.Thread(target=_end_with_parent, args=(descriptor,), daemon=True).start()
    while connection.poll(idle_seconds):
        try:
            limits, function, args, kwargs = connection.recv()
        except EOFError:
            return
        _apply(limits)
        with _Reported(connection):
            answer = function(*args, **kwargs)
            if isinstance(answer, Iterator):
                for item in answer:
                    connection.send((_Kind.ITEM, item))
                answer = None
            connection.send((_Kind.RESULT, answer))


def _end_with_parent(descriptor: int) -> None:
    """A parent that was killed leaves no child that goes on decoding."""
    hang_up = select.poll()
    hang_up.register(descriptor, 0)
    hang_up.poll()
    os._exit(0)


def _apply(limits: ChildLimits) -> None:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _limit(resource.RLIMIT_AS, limits.memory, pages * resource.getpagesize())
    _limit(resource.RLIMIT_CPU, limits.seconds, math.ceil(time.process_time()))


def _limit(kind: int, allowed: int, used: int) -> None:
    hard = resource.getrlimit(kind)[1]
    soft = used + allowed if allowed else resource.RLIM_INFINITY
    if hard != resource.RLIM_INFINITY:
        soft = hard if soft == resource.RLIM_INFINITY else min(soft, hard)
    resource.setrlimit(kind, (soft, hard))


class _Reported:
    """Sends the parent those errors that it can act on. Others are our own faults, and end the child loudly."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        # A decoder that gets no memory says so in an error of its own, which ours has as its cause.
        if isinstance(error, MemoryError) or (error is not None and isinstance(error.__cause__, MemoryError)):
            message: tuple[_Kind, Any] = (_Kind.MEMORY, None)
        elif isinstance(error, ActionableError):
            message = (_Kind.ERROR, type(error)(str(error)))
        elif isinstance(error, OSError):
            # Without what a library added to it, which may not be picklable.
            message = (_Kind.ERROR, OSError(error.errno, error.strerror))
        else:
            return False
        _apply(ChildLimits())
        self._connection.send(message)
        return True
