"""Verify webhook messages: signed by us, and recent."""

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"


def is_signed(
    secret: str, headers: Mapping[str, str], body: bytes, *, seconds: float = 300.0, now: float | None = None
) -> bool:
    """Return whether `body` was signed with `secret` recently enough, as Standard Webhooks defines it.

    `headers` in any case.
    """
    lower_headers = {name.lower(): value for name, value in headers.items()}
    key, timestamp = _key(secret), lower_headers.get(TIMESTAMP, "")
    moment = time.time() if now is None else now
    if not key or not timestamp.isdecimal() or abs(moment - int(timestamp)) > seconds:
        return False
    signed = f"{lower_headers.get(ID, '')}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = lower_headers.get(SIGNATURE, "").split()
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures)


def _key(secret: str) -> bytes:
    if not secret.startswith(PREFIX):
        return b""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX) + "==")
    except ValueError:
        return b""
