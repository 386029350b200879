"""Verify webhook messages: signed by us, and recent."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
# Of a server before 0.3.
OLD_TIMESTAMP, OLD_SIGNATURE = "x-foilworks-timestamp", "x-foilworks-signature"
PREFIX = "whsec_"


def is_signed(
    secret: str, headers: Mapping[str, str], body: bytes, *, seconds: float = 300.0, now: float | None = None
) -> bool:
    """Return whether `body` was signed with `secret` recently enough, as Standard Webhooks defines it.

    `headers` in any case. A secret from before 0.3 (64 hexadecimal digits) works as well; until 0.4 also with the
    headers of that time.
    """
    given = {name.lower(): value for name, value in headers.items()}
    key = _key(secret)
    if SIGNATURE in given and key:
        sent, number = given.get(TIMESTAMP, ""), given.get(ID, "")
        signed = hmac.new(key, f"{number}.{sent}.".encode() + body, hashlib.sha256).digest()
        right, signatures = f"v1,{base64.b64encode(signed).decode()}", given[SIGNATURE].split()
    else:
        sent = given.get(OLD_TIMESTAMP, "")
        old_key = b"" if secret.startswith(PREFIX) else secret.encode()
        right = "sha256=" + hmac.new(old_key, f"{sent}.".encode() + body, hashlib.sha256).hexdigest()
        signatures = [given.get(OLD_SIGNATURE, "")] if old_key else []
    if not sent.isdecimal() or abs((time.time() if now is None else now) - int(sent)) > seconds:
        return False
    return any(hmac.compare_digest(right.encode(), one.encode()) for one in signatures)


def _key(secret: str) -> bytes:
    try:
        if secret.startswith(PREFIX):
            return base64.b64decode(secret.removeprefix(PREFIX) + "==")
        return bytes.fromhex(secret)
    except (binascii.Error, ValueError):
        return b""
