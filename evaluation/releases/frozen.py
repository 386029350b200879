"""Call other rooms when a release was frozen."""

from collections.abc import Callable

from foilworks.core.corpus.models import Release

_CALLBACKS: list[Callable[[Release], object]] = []


def on_frozen(callback: Callable[[Release], object]) -> None:
    """Call `callback` in the transaction of each freeze; register it in the room's `hooks`."""
    _CALLBACKS.append(callback)


def report_frozen(release: Release) -> None:
    for callback in _CALLBACKS:
        callback(release)
