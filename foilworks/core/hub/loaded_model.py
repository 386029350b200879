"""Keep one adapter loaded between jobs, so a worker that scores shard after shard of one model loads it once. Another
model replaces it; a folder whose files changed is loaded again."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from foilworks.core.hub.catalogue.number_formats import AUTO
from foilworks.core.hub.interfaces import Trust

# Messages of torch, numpy and CUDA's libraries if they cannot allocate memory.
SIGNS = ("out of memory", "can't allocate memory", "not enough memory", "cublas_status_alloc_failed")


def ran_out_of_memory(error: BaseException) -> bool:
    """Whether a smaller batch may succeed after this error: torch raises several kinds of RuntimeError."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in SIGNS)


def release_memory() -> None:
    """Return unused memory to the device: call it after the error's own variables are gone."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        # Only if it helps: a collection of a whole process takes a second.
        gc.collect()
        torch.cuda.empty_cache()


@dataclass
class _Loaded:
    key: tuple[Any, ...] = ()
    adapter: Any = None


_loaded = _Loaded()


@contextmanager
def loaded_adapter(
    load: Callable[..., Any], spec: str, *, device: str, dtype: str = AUTO, trust: Trust | None = None
) -> Iterator[Any]:
    """Return `load(spec, device=…, dtype=…, trust=…)`, or the adapter that this process loaded last.

    If an error occurs while the adapter is used, it is unloaded: its state is unknown. HubError: it does not load.
    """
    key = (load, spec, device, dtype, trust, _stamps(spec))
    if _loaded.key != key:
        unload()
        _loaded.adapter = load(spec, device=device, dtype=dtype, trust=trust)
        _loaded.key = key
    is_intact = False
    try:
        yield _loaded.adapter
        is_intact = True
    finally:
        if not is_intact:
            unload()


def unload() -> None:
    """Unload the adapter and free its memory."""
    adapter, _loaded.key, _loaded.adapter = _loaded.adapter, (), None
    if adapter is None:
        return
    del adapter
    release_memory()


def _stamps(spec: str) -> tuple[tuple[str, int, int], ...]:
    """Return what changes with a folder's files; empty for a hub id, whose revision is fixed."""
    folder = Path(spec.partition(":")[2].partition("?")[0])
    if not folder.is_absolute() or not folder.is_dir():
        return ()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple((path.name, (stat := path.stat()).st_mtime_ns, stat.st_size) for path in files)
