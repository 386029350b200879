"""Names of addresses with their namespace, for tests that go through many of them."""

from functools import cache

from django.urls import URLResolver, get_resolver


@cache
def _namespaces() -> dict[str, str]:
    found = {}
    for part in get_resolver().url_patterns:
        if isinstance(part, URLResolver) and part.namespace and part.namespace != "api":
            found |= {pattern.name: part.namespace for pattern in part.url_patterns if getattr(pattern, "name", None)}
    return found


def named(name: str) -> str:
    """Return "board:leaderboard" for "leaderboard". KeyError: no page has this name."""
    return f"{_namespaces()[name]}:{name}"
