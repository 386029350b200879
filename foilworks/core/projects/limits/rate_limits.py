"""Rate limits, counted in the database, so that all web processes count together."""

import hashlib
import hmac
import ipaddress
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from foilworks.core.projects.models import RateLimitCounter


@dataclass(frozen=True)
class Limit:
    """At most `most` attempts in `seconds`, per `name` and key."""

    name: str
    most: int
    seconds: int


QUARTER, HOUR = 15 * 60, 3600
# Wrong passwords. A stranger cannot lock anybody out: a known browser has its own count, a right second factor always
# works, and many wrong attempts for a name only leave other networks fewer of them.
SIGN_IN_HERE = Limit("sign-in of a name from an address", 10, QUARTER)
SIGN_IN_FEW = Limit("sign-in of a name from an address", 3, QUARTER)
SIGN_IN_NAME = Limit("sign-in of a name", 100, QUARTER)
SIGN_IN_ADDRESS = Limit("sign-in from an address", 100, QUARTER)
SECOND_FACTOR = Limit("codes of a second factor from an address", 8, QUARTER)
SECOND_FACTOR_ALL = Limit("codes of a second factor", 100, QUARTER)
RESET = Limit("password resets from an address", 10, HOUR)
RESET_ACCOUNT = Limit("password resets of an account", 3, HOUR)
ENTRY = Limit("refused entries from an address", 60, HOUR)
COMPLETION_CODE = Limit("wrong completion codes", 10, HOUR)
# Public pages: scores from an address, scores to one release, archives to an address.
SCORES_HERE = Limit("scores sent from an address", 10, HOUR)
SCORES_RELEASE = Limit("scores sent to a release", 100, HOUR)
# Reports about items of public releases.
REPORTS_HERE = Limit("reports sent from an address", 20, HOUR)
REPORTS_RELEASE = Limit("reports sent to a release", 200, HOUR)
ARCHIVES = Limit("archives to an address", 30, HOUR)
AUDITS = Limit("audits of files from an address", 20, HOUR)
REFUSAL_ROWS = Limit("audit rows of refusals", 200, HOUR)


def hit(limit: Limit, *key_parts: object) -> bool:
    """Count one more; return whether it is within the limit."""
    now, key = timezone.now(), _key(limit, key_parts)
    with transaction.atomic():
        RateLimitCounter.objects.filter(ends_at__lte=now).delete()
        ends_at = now + timedelta(seconds=limit.seconds)
        RateLimitCounter.objects.get_or_create(key=key, defaults={"ends_at": ends_at})
        RateLimitCounter.objects.filter(key=key).update(count=F("count") + 1)
    return not is_exceeded(limit, *key_parts, n_attempts=0)


def is_exceeded(limit: Limit, *key_parts: object, n_attempts: int = 1) -> bool:
    """Return whether `n_attempts` attempts exceed the limit."""
    live = RateLimitCounter.objects.filter(key=_key(limit, key_parts), ends_at__gt=timezone.now())
    return (live.values_list("count", flat=True).first() or 0) + n_attempts > limit.most


def reset(limit: Limit, *key_parts: object) -> None:
    """Reset the count after the right password."""
    RateLimitCounter.objects.filter(key=_key(limit, key_parts)).delete()


def address_of(request: HttpRequest) -> str:
    """Return the request's address; behind `TRUSTED_PROXIES` proxies, what the outermost one saw."""
    hops = [hop.strip() for hop in request.headers.get("X-Forwarded-For", "").split(",") if hop.strip()]
    trusted = settings.TRUSTED_PROXIES
    if trusted and len(hops) >= trusted:
        return hops[-trusted]
    return request.META.get("REMOTE_ADDR", "")


def network_of(request: HttpRequest) -> str:
    """Return the key to count together: the address, or for IPv6 the /64, which is one customer's."""
    address = address_of(request)
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def _key(limit: Limit, key_parts: tuple[object, ...]) -> str:
    message = "\0".join([limit.name, *map(str, key_parts)]).encode()
    return hmac.new(settings.SECRET_KEY.encode(), message, hashlib.sha256).hexdigest()
