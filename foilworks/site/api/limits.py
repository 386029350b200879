"""Limit the requests per minute of a token: counted in Redis, or in the database without one."""

import time
from dataclasses import dataclass
from functools import cache
from threading import Lock

from django.conf import settings
from django.db.models import F
from django_rq import get_connection
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from foilworks.core.projects.models import RequestCount

WINDOW_SECONDS = 60
_LOCK = Lock()


@dataclass(frozen=True)
class Quota:
    """What a token has left of the requests of this minute; `remaining` is negative beyond the limit."""

    limit: int
    remaining: int
    seconds: int

    @property
    def headers(self) -> dict[str, str]:
        """Return the RateLimit fields of draft-ietf-httpapi-ratelimit-headers."""
        return {
            "RateLimit-Policy": f'"minute";q={self.limit};w={WINDOW_SECONDS}',
            "RateLimit": f'"minute";r={max(0, self.remaining)};t={self.seconds}',
        }


def count_request(token_id: int) -> Quota | None:
    """Count the request; return what the token has left of this minute, or None without a limit."""
    limit = settings.API_RATE_LIMIT_PER_MINUTE
    if not limit:
        return None
    now = time.time()
    window = int(now // WINDOW_SECONDS)
    seconds = max(1, int((window + 1) * WINDOW_SECONDS - now) + 1)
    return Quota(limit, limit - _count(token_id, window), seconds)


def _count(token_id: int, window: int) -> int:
    key = f"api-requests:{token_id}:{window}"
    try:
        with _LOCK:
            client = _redis()
        with client.pipeline(transaction=False) as pipe:
            count, _expires = pipe.incr(key).expire(key, 2 * WINDOW_SECONDS).execute()
    except (RedisError, OSError):
        return _count_in_database(token_id, window)
    return int(count)


def _count_in_database(token_id: int, window: int) -> int:
    rows = RequestCount.objects.filter(token_id=token_id)
    if not rows.filter(window=window).update(requests=F("requests") + 1):
        RequestCount.objects.update_or_create(token_id=token_id, defaults={"window": window, "requests": 1})
    return rows.values_list("requests", flat=True).get()


@cache
def _redis() -> Redis:
    """Return the one client of this process: its pool serves the threads. A request waits for no second attempt.

    Call it under `_LOCK`: `cache` alone lets first callers make a client each. One that is dropped closes its pool.
    """
    connection = get_connection("default")
    connection.set_retry(Retry(NoBackoff(), 0))
    return connection
