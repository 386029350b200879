"""Session lifetime: days without a visit, and days in total (docs/how-to/people.md#accounts).

A session gets its times when its key changes, at each sign-in (foilworks.core.projects.sign_in.sessions).
"""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

from foilworks.core.projects.sign_in.sessions import BEGAN, SEEN

DAY = 24 * 3600
# A visit is stored this often at most: most requests write nothing.
SEEN_EVERY_SECONDS = 3600


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
