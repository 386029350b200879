"""API tokens: their form, their owner and their scope."""

import hashlib
import secrets
from datetime import timedelta

from django.http import HttpRequest
from django.utils import timezone

from foilworks.core.projects.access import Limits
from foilworks.core.projects.models import ApiToken, IdempotentAnswer, User
from foilworks.core.projects.sql.prepared_queries import Prepared

PREFIX = "fw_"
HINT_LENGTH, MAX_LENGTH = 10, 100
MAX_DAYS, USUAL_DAYS = 365, 90
ORDER = (ApiToken.Scope.READ, ApiToken.Scope.WORK, ApiToken.Scope.MANAGE)
# `last_used_at` tells a forgotten token from one in use; it need not cost a write a request.
NOTED_EVERY = timedelta(hours=1)
# Who sends a write again does so within this.
ANSWERS_KEPT = timedelta(days=2)
_GOOD = Prepared(
    lambda digest, now: ApiToken.objects.select_related("person").filter(
        digest=digest,
        revoked_at=None,
        expires_at__gt=now,
        person__is_active=True,
        # True for a token without a project.
        project__deleted_at=None,
    )
)


def new_secret() -> str:
    """Return 256 random bits with a prefix that secret scanners know."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def find_token(secret: str) -> ApiToken | None:
    """The token with its person, who carries its limits; None where it is unknown, revoked or over, or nobody's.

    A closed account is nobody. A token of a deleted project is unknown. One query; a second one, once per hour, notes
    that the token is in use.
    """
    now = timezone.now()
    token = _GOOD.first(digest=digest_of(secret), now=now)
    if token is None:
        return None
    token.person.limits = Limits(token.project_id, token.role)
    if token.last_used_at is None or token.last_used_at < now - NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def token_of(request: HttpRequest) -> ApiToken | None:
    """Return the valid token of the request, looked up once per request.

    `request.user` is its person from then on.
    """
    if not hasattr(request, "api_token"):
        scheme, _blank, secret = request.headers.get("Authorization", "").partition(" ")
        is_api_token = scheme.lower() == "bearer" and secret.startswith(PREFIX) and len(secret) <= MAX_LENGTH
        request.api_token = find_token(secret) if is_api_token else None
        if request.api_token is not None:
            request.user = request.api_token.person
    return request.api_token


def allows(token: ApiToken, scope: str) -> bool:
    """Return whether the token's scope includes `scope`."""
    return ORDER.index(token.scope) >= ORDER.index(scope)


def forget_old_answers() -> int:
    """Delete stored first answers that no program will request again; return how many."""
    return IdempotentAnswer.objects.filter(created_at__lt=timezone.now() - ANSWERS_KEPT).delete()[0]


def live_tokens(person: User) -> list[ApiToken]:
    """Return the person's valid tokens, newest first."""
    rows = ApiToken.objects.filter(person=person, revoked_at=None, expires_at__gt=timezone.now())
    rows = rows.filter(project__deleted_at=None)
    return list(rows.select_related("project", "made_by"))
