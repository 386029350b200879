"""Verify webhook messages: signed by us, and recent."""

import hashlib
import hmac
import time
from collections.abc import Mapping

TIMESTAMP, SIGNATURE = "X-Foilworks-Timestamp", "X-Foilworks-Signature"


def is_signed(
    secret: str, headers: Mapping[str, str], body: bytes, *, seconds: float = 300.0, now: float | None = None
) -> bool:
    """Return whether `body` was signed with `secret` recently enough; `headers` in any case."""
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = given.get(TIMESTAMP.lower(), ""), given.get(SIGNATURE.lower(), "")
    if not timestamp.isdecimal() or abs((time.time() if now is None else now) - int(timestamp)) > seconds:
        return False
    right = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"sha256={right}", signature)
