"""Sessions and accounts in the database, as Django stores them, read by queries compiled once per process."""

import time
from datetime import datetime

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from projects.models import User
from projects.notifications.queries import with_unread
from projects.sql.prepared import Prepared


def _unexpired(key: str, now: datetime) -> "QuerySet[Session, Session]":
    return Session.objects.filter(session_key=key, expire_date__gt=now)


_SESSION = Prepared(_unexpired)
_PERSON = Prepared(lambda pk: with_unread(User.objects.filter(pk=pk)))


# When a session began and when it was used last, in seconds; projects.session_times ends it by them.
BEGAN, SEEN = "signed_in_at", "seen_at"


class SessionStore(DatabaseStore):
    """`SESSION_ENGINE` of the settings."""

    def cycle_key(self) -> None:
        self[BEGAN] = self[SEEN] = int(time.time())
        super().cycle_key()

    def _get_session_from_db(self) -> Session | None:
        found = _SESSION.first(key=self.session_key, now=timezone.now()) if self.session_key else None
        if found is None:
            self._session_key = None
        return found


class OwnAccounts(ModelBackend):
    """`AUTHENTICATION_BACKENDS` of the settings: accounts with a password here."""

    def get_user(self, user_id: int) -> User | None:
        person = _PERSON.first(pk=user_id)
        return person if person is not None and self.user_can_authenticate(person) else None
