"""Messages of webhooks in the form of Standard Webhooks 1.0 (https://www.standardwebhooks.com).

The headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`.
"""

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta

from django.conf import settings

from foilworks.core.projects.keys import valid_keys
from foilworks.core.projects.models import Delivery, Webhook

# How long a receiver has to change to the new secret after a rotation.
ROTATION_OVERLAP = timedelta(hours=24)
DATA_FIELDS = ("project", "target", "from", "to", "details")


def secret_of(hook: Webhook) -> str:
    """Return the secret with which the receiver checks signatures: `whsec_` and 32 bytes in base64."""
    return "whsec_" + base64.b64encode(_key(hook, hook.salt, settings.SECRET_KEY)).decode()


def message_id(delivery: Delivery) -> str:
    """Return the id of the message, the same for every attempt.

    Includes the time, because a database restored from a backup assigns the numbers of lost rows again.
    """
    return (
        "msg_" + _mac(f"delivery:{delivery.pk}:{delivery.created_at.isoformat()}", settings.DERIVATION_KEY).hex()[:24]
    )


def message(delivery: Delivery, now: datetime) -> tuple[dict[str, str], bytes]:
    """Return (headers, body) of one attempt, signed with every secret that is valid now."""
    hook, payload = delivery.webhook, delivery.payload
    content = {
        "type": delivery.event,
        "timestamp": payload.get("at"),
        "data": {name: payload.get(name) for name in DATA_FIELDS},
    }
    body = json.dumps(content, ensure_ascii=False).encode()
    timestamp, number = str(int(now.timestamp())), message_id(delivery)
    secrets = [_key(hook, salt, key) for salt in _valid_salts(hook, now) for key in valid_keys()]
    signatures = [signature(secret, number, timestamp, body) for secret in secrets]
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Foilworks",
        "webhook-id": number,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }
    return headers, body


def signature(key: bytes, number: str, timestamp: str, body: bytes) -> str:
    """Return `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64 (Standard Webhooks, Signature scheme)."""
    signed = hmac.new(key, f"{number}.{timestamp}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(signed.digest()).decode()


def _valid_salts(hook: Webhook, now: datetime) -> list[str]:
    """Return the salts of the secrets that are valid now, the newest first."""
    has_old = hook.old_salt_until is not None and now < hook.old_salt_until
    return [hook.salt, *([hook.old_salt] if has_old else [])]


def _key(hook: Webhook, salt: str, secret_key: str) -> bytes:
    return _mac(f"webhook:{hook.pk}:{salt}", secret_key)


def _mac(text: str, key: str) -> bytes:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).digest()
