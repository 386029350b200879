"""`--set name=value`, given any number of times, for commands that run a method, filter or model."""

from collections.abc import Iterable

from text.registry import RegistryError


def parse_set_options(given: Iterable[str] | None) -> dict[str, str]:
    """{"name": "value"}; the value may hold further equals signs. RegistryError where there is no name or no sign."""
    found: dict[str, str] = {}
    for piece in given or ():
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise RegistryError(f"--set {piece!r} is no setting; write it as --set name=value")
        found[name.strip()] = value
    return found
