"""The keys that are valid beside each other while SECRET_KEY is replaced."""

from django.conf import settings


def valid_keys() -> list[str]:
    """Return the keys whose signatures, tokens and codes count, the newest first."""
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
