"""Sessions and accounts in the database, as Django stores them, read by queries compiled once per process.

A session ends after days without a visit, and after days in total (docs/how-to/people.md#accounts). It gets its times
when its key changes, at each sign-in.
"""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, logout
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from foilworks.core.projects.models import User
from foilworks.core.projects.notifications.queries import with_unread
from foilworks.core.projects.sql.prepared_queries import Prepared


def _unexpired(key: str, now: datetime) -> "QuerySet[Session, Session]":
    return Session.objects.filter(session_key=key, expire_date__gt=now)


_SESSION = Prepared(_unexpired)
_PERSON = Prepared(lambda pk: with_unread(User.objects.filter(pk=pk)))


# When a session began and when it was used last, in seconds: `SessionTimes` ends it by them.
BEGAN, SEEN = "signed_in_at", "seen_at"
DAY = 24 * 3600
# A visit is stored this often at most: most requests write nothing.
SEEN_EVERY_SECONDS = 3600


# The name of `OwnAccounts` in sessions that 0.3 opened, until 0.5; decision 65.
BACKEND_BEFORE_0_4 = "projects.sessions.OwnAccounts"


class SessionStore(DatabaseStore):
    """`SESSION_ENGINE` of the settings."""

    def decode(self, session_data: str) -> dict[str, Any]:
        """Return the values of a stored session; a session of 0.3 stays signed in."""
        values = super().decode(session_data)
        if values.get(BACKEND_SESSION_KEY) == BACKEND_BEFORE_0_4:
            values[BACKEND_SESSION_KEY] = f"{OwnAccounts.__module__}.{OwnAccounts.__qualname__}"
        return values

    def cycle_key(self) -> None:
        self[BEGAN] = self[SEEN] = int(time.time())
        super().cycle_key()

    def _get_session_from_db(self) -> Session | None:
        session = _SESSION.first(key=self.session_key, now=timezone.now()) if self.session_key else None
        if session is None:
            self._session_key = None
        return session


class OwnAccounts(ModelBackend):
    """`AUTHENTICATION_BACKENDS` of the settings: accounts with a password here."""

    def get_user(self, user_id: int) -> User | None:
        person = _PERSON.first(pk=user_id)
        return person if person is not None and self.user_can_authenticate(person) else None


class SessionTimes:
    """Sign out anyone who was away for SESSION_IDLE_DAYS or signed in SESSION_MAX_DAYS ago. After authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Only of requests whose view asks who is there: health and static files touch no session."""
        if request.COOKIES.get(settings.SESSION_COOKIE_NAME) and request.user.is_authenticated:
            _check(request)


def _check(request: HttpRequest) -> None:
    now, session = int(time.time()), request.session
    # Sessions of 0.1 have neither.
    began, last_seen = session.setdefault(BEGAN, now), session.setdefault(SEEN, now)
    if now - began > settings.SESSION_MAX_DAYS * DAY or now - last_seen > settings.SESSION_IDLE_DAYS * DAY:
        logout(request)
    elif now - last_seen > SEEN_EVERY_SECONDS:
        session[SEEN] = now
