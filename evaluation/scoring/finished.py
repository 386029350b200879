"""Let other rooms react when a scoring run has stored its last score, without importing them."""

from collections.abc import Callable

from evaluation.scoring.models import Run

_CALLBACKS: list[Callable[[Run], object]] = []


def on_finished(callback: Callable[[Run], object]) -> None:
    """Call `callback` at the end of every scoring job, in the worker; register it in the room's `hooks`."""
    _CALLBACKS.append(callback)


def notify(run: Run) -> None:
    for callback in _CALLBACKS:
        callback(run)
