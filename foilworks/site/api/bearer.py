"""Authenticate a request: the token of the Authorization header, its scope and its rate limit."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja.security import HttpBearer

from foilworks.core.projects.errors import AccessDenied
from foilworks.core.projects.models import ApiToken
from foilworks.core.projects.tokens import allows, token_of
from foilworks.site.api.answers import RateLimited
from foilworks.site.api.limits import count_request

SAFE = frozenset({"GET", "HEAD"})


def count(request: HttpRequest, token: ApiToken) -> None:
    """Count a request once. Raises RateLimited if the token has used up this minute."""
    if getattr(request, "is_counted", False):
        return
    request.is_counted = True
    quota = request.quota = count_request(token.pk)
    if quota is not None and quota.remaining < 0:
        raise RateLimited(quota.seconds)


class Bearer(HttpBearer):
    """Authentication by token.

    `scope`: the scope that the operation needs; None: read for reads, manage for writes.
    """

    def __init__(self, scope: str | None = None) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Any:
        token = token_of(request)
        if token is None:
            return None
        count(request, token)
        scope = self.scope or (ApiToken.Scope.READ if request.method in SAFE else ApiToken.Scope.MANAGE)
        if not allows(token, scope):
            raise AccessDenied(_("The token lacks the scope “%(scope)s”. Use a token that has it.") % {"scope": scope})
        return token

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Satisfy the base class; `__call__` does the work."""
        return token_of(request)


WORK = Bearer(ApiToken.Scope.WORK)
