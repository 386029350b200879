"""Make, edit, validate and score foils for videos, and audit benchmarks: see `foilworks.library` for each name."""

from typing import TYPE_CHECKING, Any

from foilworks.version import __version__ as __version__

if TYPE_CHECKING:
    from foilworks import library
    from foilworks.library import *  # noqa: F403

    __all__ = ["__version__"]
    __all__ += library.__all__


def __getattr__(name: str) -> Any:
    """Import a public name on request: `import foilworks` itself imports nothing."""
    # Machinery of Python asks for other names that start so.
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'foilworks' has no attribute '{name}'")
    # Not `from foilworks import`, which asks this function for the name.
    import foilworks.library as public

    if name == "__all__":
        return ["__version__", *public.__all__]
    if name not in public.__all__:
        raise AttributeError(f"module 'foilworks' has no attribute '{name}'")
    value = globals()[name] = getattr(public, name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__getattr__("__all__")])
