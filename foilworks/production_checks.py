"""What an installation that others reach must not be: one rule a setting, each with what to do about it.

`foilworks doctor --production` ends with status 1 where a rule is broken.
"""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError

from foilworks.private_files import open_to_others
from projects.demo_accounts import published_accounts

MIN_KEY_LENGTH, MIN_KEY_CHARACTERS = 50, 10
YEAR = 365 * 24 * 3600
KNOWN_KEYS = ("django-insecure-", "changeme", "change-me", "secret", "insecure", "example")
NEAR = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]", "testserver"})
ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})


@dataclass(frozen=True)
class ProductionFinding:
    """A setting that is not fit for production: what it is, what to do."""

    name: str
    found: str
    todo: str


def findings() -> list[ProductionFinding]:
    """Everything that is wrong, in the order of the rules."""
    return [ProductionFinding(*found) for rule in RULES for found in rule()]


Found = Iterator[tuple[str, str, str]]


def _debug() -> Found:
    if settings.DEBUG:
        yield "FOILWORKS_DEBUG", "errors are shown with their code and variables", "unset it"


def _key() -> Found:
    key = settings.SECRET_KEY
    known = any(key.lower().startswith(word) for word in KNOWN_KEYS)
    if known or len(key) < MIN_KEY_LENGTH or len(set(key)) < MIN_KEY_CHARACTERS:
        todo = "unset it, and the home's own is used, or give 50 characters of chance"
        yield "SECRET_KEY", "is short, simple or a known one: whoever guesses it signs in as anybody", todo


def _files() -> Found:
    for path in open_to_others(settings.FOILWORKS_HOME):
        yield "FOILWORKS_HOME", f"{path} is open to other users of this machine", f"chmod go= {path}"


def _hosts() -> Found:
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts:
        yield "ALLOWED_HOSTS", "is *: links in mails carry whatever name a visitor sends", "list the site's names"
    elif hosts <= NEAR:
        yield "ALLOWED_HOSTS", "names this machine alone", "list the site's names: ALLOWED_HOSTS=foils.example.org"
    plain = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if not origin.startswith("https://")]
    if plain:
        yield "CSRF_TRUSTED_ORIGINS", f"{plain[0]} is no https address", "write it as https://host"


def _tls() -> Found:
    if not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE):
        yield "SECURE_COOKIES", "sign-ins are sent without TLS, too", "serve over TLS, then set SECURE_COOKIES=1"
    if not settings.SECURE_SSL_REDIRECT:
        yield "SECURE_REDIRECT", "pages are shown without TLS, too", "set SECURE_REDIRECT=1"
    if settings.SECURE_HSTS_SECONDS < YEAR:
        found = f"is {settings.SECURE_HSTS_SECONDS}: browsers may come without TLS"
        yield "HSTS_SECONDS", found, "set HSTS_SECONDS=31536000"
    if not settings.TRUSTED_PROXIES:
        found = "is 0: nobody's TLS is believed, and all visitors share one limit of wrong passwords"
        yield "TRUSTED_PROXIES", found, "set it to the number of your own proxies before the pages, which end TLS"


def _database() -> Found:
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        if _is_shared():
            found = "is SQLite, and the queue or the videos are those of several hosts"
            yield "DATABASE_URL", found, "use PostgreSQL: a file cannot be shared"
        return
    host = database["HOST"]
    if host in NEAR or host.startswith("/"):
        return
    if not _is_inside(host) and database["OPTIONS"].get("sslmode") not in ENCRYPTED:
        yield "DATABASE_URL", f"what is asked of {host} can be read on the way", "end it in ?sslmode=require"
    if not database["PASSWORD"]:
        yield "DATABASE_URL", f"{host} asks for no password", "give the user one"


def _is_inside(host: str) -> bool:
    """Whether nobody else is on the way: this machine, or a name without a dot, as containers of one network have."""
    return host in NEAR or not ({".", ":"} & set(host))


def _is_shared() -> bool:
    queue = urlsplit(settings.REDIS_URL)
    return (bool(settings.REDIS_URL) and queue.hostname not in NEAR) or settings.STORAGE_URL.startswith("s3:")


def _queue() -> Found:
    parts = urlsplit(settings.REDIS_URL)
    if parts.scheme in {"redis", "rediss"} and parts.hostname not in NEAR and not parts.password:
        found = f"{parts.hostname} takes jobs from whoever reaches it"
        yield "REDIS_URL", found, "set requirepass there and write rediss://:password@host:6379/0"


def _storage() -> Found:
    options = settings.STORAGES["default"].get("OPTIONS", {})
    for name in ("endpoint_url", "public_url"):
        address = urlsplit(options.get(name) or "")
        if address.scheme == "http" and not _is_inside(address.hostname or ""):
            yield "STORAGE_URL", f"videos of {address.netloc} can be read on the way", "give it an https address"


def _ways_in() -> Found:
    if settings.OIDC_URL and settings.OIDC_SIGN_UP:
        yield "OIDC_SIGN_UP", "whoever the provider knows makes an account", "unset it, and invite people"
    if settings.OIDC_URL and not settings.OIDC_URL.startswith("https://"):
        yield "OIDC_URL", "who signs in can be forged on the way", "give its https address"
    if not settings.AUTH_PASSWORD_VALIDATORS:
        yield "AUTH_PASSWORD_VALIDATORS", "any password is taken", "put them back"
    try:
        demos = published_accounts()
    except DatabaseError:
        demos = []
    for demo in demos:
        todo = "delete this project, or run the demo in a home of its own"
        yield "demo accounts", f"the passwords of {demo['name']} stand on the sign-in page", todo


def _others() -> Found:
    for name, endpoint in settings.CHAT_ENDPOINTS.items():
        address = urlsplit(endpoint["url"])
        if address.scheme == "http" and not _is_inside(address.hostname or ""):
            variable = f"CHAT_{name.upper()}_URL"
            yield variable, f"key and texts to {address.hostname} can be read on the way", "give its https address"
    if settings.MAIL_IS_SET and not _is_private_mail():
        yield "EMAIL_URL", "links to new passwords can be read on the way", "write smtp://…?tls=1, or smtps://…"
    for each in settings.WEBHOOK_NETWORKS:
        network = ipaddress.ip_network(each)
        if network.is_loopback or network.is_link_local or network.prefixlen == 0:
            yield "WEBHOOK_NETWORKS", f"{each} lets owners reach this machine itself", "name the network that is meant"
    for each in settings.METRICS_NETWORKS:
        if ipaddress.ip_network(each).prefixlen == 0:
            yield "METRICS_NETWORKS", f"{each} is everybody", "name the network of who reads them, or set METRICS_TOKEN"


def _is_private_mail() -> bool:
    return settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL or settings.EMAIL_HOST in NEAR


def _limits() -> Found:
    if not settings.API_RATE_LIMIT_PER_MINUTE:
        yield "API_RATE_LIMIT_PER_MINUTE", "a token asks as often as it likes", "unset it (600), or give a number"
    if not settings.MAX_OPEN_JOBS_PER_PROJECT:
        yield "MAX_OPEN_JOBS_PER_PROJECT", "one project may fill the queue", "unset it (200), or give a number"
    if settings.LOGGING["root"]["level"] == "DEBUG":
        yield "LOG_LEVEL", "is DEBUG: texts and queries stand in the log", "set it to INFO or WARNING"


RULES: tuple[Callable[[], Found], ...] = (
    _debug,
    _key,
    _files,
    _hosts,
    _tls,
    _database,
    _queue,
    _storage,
    _ways_in,
    _others,
    _limits,
)
