"""Tell a browser in which somebody signed in before from a stranger's, by a signed cookie for each account.

Wrong passwords from elsewhere never keep the owner of an account out of a browser that they use (device cookies, as
OWASP describes them). The cookie opens nothing: it gives its browser a count of wrong tries of its own.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from foilworks.core.projects.keys import valid_keys

SALT = "projects.known_browsers"
YEAR = 365 * 24 * 3600
MARK_BYTES = 12


def mark_of(request: HttpRequest, username: str) -> str:
    """Return what identifies this browser for the account, or "" where nobody signed in to it here."""
    cookies = (request.COOKIES.get(_cookie(username, key), "") for key in valid_keys())
    try:
        name, mark = signing.loads(next(filter(None, cookies), ""), salt=SALT, max_age=YEAR)
    except (signing.BadSignature, ValueError, TypeError):
        return ""
    return str(mark) if name == username.lower() else ""


def remember(request: HttpRequest, response: HttpResponse, username: str) -> None:
    """Set the cookie; a browser that is known already keeps its mark."""
    mark = mark_of(request, username) or secrets.token_urlsafe(MARK_BYTES)
    value = signing.dumps([username.lower(), mark], salt=SALT)
    security = {"secure": settings.SESSION_COOKIE_SECURE, "httponly": True, "samesite": "Lax"}
    response.set_cookie(_cookie(username, settings.SECRET_KEY), value, max_age=YEAR, path="/sign-in/", **security)


def _cookie(username: str, secret_key: str) -> str:
    # Its path is narrower than what __Host- stands for.
    prefix = "__Secure-" if settings.SESSION_COOKIE_SECURE else ""
    return (
        f"{prefix}known-" + salted_hmac(SALT, username.lower(), secret=secret_key, algorithm="sha256").hexdigest()[:12]
    )
