"""Make, edit, validate and score foils for videos, and audit benchmarks: see `foilworks.library` for each name."""

from typing import TYPE_CHECKING, Any

from foilworks.version import __version__

if TYPE_CHECKING:
    from foilworks.library import (
        ActionableError,
        Agreement,
        Audit,
        Bar,
        Benchmark,
        Data,
        Foils,
        Ladder,
        Pruning,
        ReadOptions,
        Result,
        Scores,
        agreement,
        audit,
        foils,
        ladder,
        metrics,
        prune,
        read,
    )

__all__ = [
    "ActionableError",
    "Agreement",
    "Audit",
    "Bar",
    "Benchmark",
    "Data",
    "Foils",
    "Ladder",
    "Pruning",
    "ReadOptions",
    "Result",
    "Scores",
    "__version__",
    "agreement",
    "audit",
    "foils",
    "ladder",
    "metrics",
    "prune",
    "read",
]


def __getattr__(name: str) -> Any:
    """Import a public name on request: `import foilworks` itself imports nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'foilworks' has no attribute '{name}'")
    from foilworks import library

    value = globals()[name] = getattr(library, name)
    return value
