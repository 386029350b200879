"""Idempotency-Key: answer a repeated write as the first time, and do it once.

The response is stored in the transaction of the write. Values that are shown once (passwords, tokens, secrets) are not
stored, and are null in a repeated response. A rejected write leaves nothing behind, so its key may be used again. It
still counts towards the token's limit, and its row in the audit trail is stored after the rollback.
"""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja.decorators import decorate_view

from foilworks.core.projects.audit_trail.recording import record_refusal
from foilworks.core.projects.models import ApiToken, IdempotentAnswer, User
from foilworks.core.projects.tokens import token_of
from foilworks.site.api.answers import InvalidIdempotencyKey, RateLimited
from foilworks.site.api.bearer import count
from foilworks.site.api.versions import ROOT, UNVERSIONED

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
MAX_KEY_LENGTH = 64
SHOWN_ONCE = ("password", "token", "secret")
Run = Callable[..., HttpResponse]


def _make_idempotent(run: Run) -> Run:
    @wraps(run)
    def answered(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        token, key = token_of(request), request.headers.get(HEADER)
        if token is None or key is None:
            return run(request, **kwargs)
        operation = run.__self__
        request.refusal = None
        try:
            count(request, token)
            response = _respond_once(request, token, checked_key(key), lambda: run(request, **kwargs))
        except (InvalidIdempotencyKey, RateLimited) as error:
            return operation.api.on_exception(request, error)
        if request.refusal is not None:
            record_refusal(request, request.refusal)
        return response

    return answered


# Use it below the route decorator of an operation.
once = decorate_view(_make_idempotent)


def checked_key(key: str) -> str:
    """Return the key of 1 to 64 printable characters. Raises InvalidIdempotencyKey if it has other characters."""
    if not 0 < len(key) <= MAX_KEY_LENGTH or not key.isprintable():
        raise InvalidIdempotencyKey(_("An Idempotency-Key has 1 to 64 printable characters. Send a different one."))
    return key


def _respond_once(request: HttpRequest, token: ApiToken, key: str, run: Callable[[], HttpResponse]) -> HttpResponse:
    with transaction.atomic():
        person, fingerprint = token.person, _fingerprint(request, token)
        before = _find_or_reserve(person, key, fingerprint)
        if before is not None:
            if before.request != fingerprint:
                raise InvalidIdempotencyKey(
                    _("This Idempotency-Key was used for a different request. Send a new one with each write.")
                )
            return HttpResponse(
                before.body, status=before.status, content_type="application/json", headers={REPLAYED: "true"}
            )
        response = run()
        if response.status_code >= 400:
            transaction.set_rollback(True)
        else:
            reserved = IdempotentAnswer.objects.filter(person=person, key=key)
            reserved.update(status=response.status_code, body=_without_secrets(response))
        return response


def _find_or_reserve(person: User, key: str, fingerprint: str) -> IdempotentAnswer | None:
    """Return the response stored under the key; None if the key is new. A second request waits for the first."""
    rows = IdempotentAnswer.objects.filter(person=person, key=key)
    stored = rows.first()
    if stored is not None:
        return stored
    try:
        with transaction.atomic():
            IdempotentAnswer.objects.create(person=person, key=key, request=fingerprint)
    except IntegrityError:
        return rows.get()
    return None


def _fingerprint(request: HttpRequest, token: ApiToken) -> str:
    """Hash token (another may have a narrower scope), method, address and body; files count by size only."""
    files = request.content_type.startswith("multipart/")
    body = request.headers.get("Content-Length", "").encode() if files else request.body
    # Addresses with and without the version are one: a write may be repeated across an update.
    line = f"{token.pk} {request.method} {request.get_full_path().replace(ROOT, UNVERSIONED, 1)}"
    return hashlib.sha256(b"\0".join([line.encode(), body])).hexdigest()


def _without_secrets(response: HttpResponse) -> str:
    words = response.content.decode()
    body = json.loads(words) if words else None
    rows = body if isinstance(body, list) else [body]
    if not any(isinstance(row, dict) and row.get(name) for row in rows for name in SHOWN_ONCE):
        return words
    safe = [{name: None if name in SHOWN_ONCE else value for name, value in row.items()} for row in rows]
    return json.dumps(safe if isinstance(body, list) else safe[0])
