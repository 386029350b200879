"""Say where a module of 0.3 is today, to plug-ins that were written for 0.3. Deleted in 0.5."""

# Top-level package of 0.3 -> where it is.
MOVED = {name: f"foilworks.core.{name}" for name in ("corpus", "hub", "jobs", "media", "projects", "text")}


def moved_hint(error: BaseException) -> str:
    """Return what to change in an import of a package that 0.4 moved; "" for any other error."""
    name = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
    old, _, submodule = name.partition(".")
    if old not in MOVED:
        return ""
    new = ".".join(filter(None, [MOVED[old], submodule]))
    return f"{name} is {new} since 0.4; import the names of plug-ins from foilworks.plugins"
