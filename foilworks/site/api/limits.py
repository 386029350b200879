"""Limit the requests per minute of a token: counted in Redis, or in the database without one."""

import time
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


def seconds_to_wait(token_id: int) -> int:
    """Count the request; return 0 if the token may proceed, else the seconds until the next minute."""
    most = settings.API_RATE_LIMIT_PER_MINUTE
    if not most:
        return 0
    now = time.time()
    window = int(now // WINDOW_SECONDS)
    return 0 if _count(token_id, window) <= most else max(1, int((window + 1) * WINDOW_SECONDS - now) + 1)


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
