"""Seeds that need the installation's secret, even with the source and all row numbers."""

from django.utils.crypto import salted_hmac


def secret_seed(purpose: str, *parts: object) -> str:
    """Return 64 hex digits, the same for the same purpose and parts as long as SECRET_KEY stays the same."""
    message = "\x1f".join(map(str, parts))
    return salted_hmac(f"foilworks.{purpose}", message, algorithm="sha256").hexdigest()
