"""Messages between two pages, in a cookie whose name browsers take by TLS alone where cookies are secure."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage
from django.contrib.messages.storage.fallback import FallbackStorage
from django.contrib.messages.storage.session import SessionStorage


class _Cookie(CookieStorage):
    cookie_name = f"{settings.COOKIE_PREFIX}messages"


class Messages(FallbackStorage):
    """`MESSAGE_STORAGE` of the settings."""

    storage_classes = (_Cookie, SessionStorage)
