"""SIGKILL at a named step: the process that reaches it is gone, and nothing of it runs any more."""

import os
import signal
from collections.abc import Callable
from typing import Any

NOT_REACHED = 3


def killed_at(owner: Any, step: str, work: Callable[[], object], *, call: int = 1) -> None:
    """Do the work in a forked process that is killed when it calls `owner.step` for the `call`-th time.

    The work must not use the database or the threads of this process.
    """
    child = os.fork()
    if child == 0:
        _work_until_killed(owner, step, work, call)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"{step} was not reached"
    assert os.WTERMSIG(status) == signal.SIGKILL


def _work_until_killed(owner: Any, step: str, work: Callable[[], object], call: int) -> None:
    real, calls = getattr(owner, step), 0

    def kill(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **options)

    setattr(owner, step, kill)
    try:
        work()
    finally:
        os._exit(NOT_REACHED)
