"""The adapter that a process keeps loaded from one job to the next: a worker that scores shard after shard of one model
loads it once. Another model takes its place; a folder whose files changed is loaded again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hub.interfaces import Trust
from hub.memory import give_back


@dataclass
class _Warm:
    key: tuple[Any, ...] = ()
    adapter: Any = None


_warm = _Warm()


@contextmanager
def warm_adapter(
    load: Callable[..., Any], spec: str, *, device: str, dtype: str = "float32", trust: Trust | None = None
) -> Iterator[Any]:
    """`load(spec, device=…, dtype=…, trust=…)`, or what it gave this process last.

    An adapter under whose use an error came is let go: its state is unknown. HubError: it does not load.
    """
    key = (load, spec, device, dtype, trust, _stamps(spec))
    if _warm.key != key:
        let_go()
        _warm.adapter = load(spec, device=device, dtype=dtype, trust=trust)
        _warm.key = key
    whole = False
    try:
        yield _warm.adapter
        whole = True
    finally:
        if not whole:
            let_go()


def let_go() -> None:
    """Forget the adapter, and give the memory back that it held."""
    held, _warm.key, _warm.adapter = _warm.adapter, (), None
    if held is None:
        return
    del held
    give_back()


def _stamps(spec: str) -> tuple[tuple[str, int, int], ...]:
    """What tells that a folder's files are others; empty for a hub id, whose revision does not change under us."""
    folder = Path(spec.partition(":")[2].partition("?")[0])
    if not folder.is_absolute() or not folder.is_dir():
        return ()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((path.name, (found := path.stat()).st_mtime_ns, found.st_size) for path in files)
