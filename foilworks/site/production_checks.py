"""Check the settings of an installation that others can reach: one rule per setting, each with a fix.

`foilworks doctor --production` exits with status 1 if a rule is broken.
"""

import ipaddress
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError

from foilworks.core.projects.demo_accounts import published_accounts
from foilworks.core.projects.keys import valid_keys
from foilworks.site.private_files import open_to_others

MIN_KEY_LENGTH, MIN_KEY_CHARACTERS = 50, 10
YEAR = 365 * 24 * 3600
KNOWN_KEYS = ("django-insecure-", "changeme", "change-me", "secret", "insecure", "example")
NEAR = frozenset({"", "localhost", "127.0.0.1", "::1", "[::1]", "testserver"})
ENCRYPTED = frozenset({"require", "verify-ca", "verify-full"})


@dataclass(frozen=True)
class ProductionFinding:
    """A setting that is not fit for production: what is wrong and what to do."""

    name: str
    found: str
    todo: str


def findings() -> list[ProductionFinding]:
    """Return every problem, in the order of the rules."""
    return [ProductionFinding(*finding) for rule in RULES for finding in rule()]


Problems = Iterator[tuple[str, str, str]]


def _debug() -> Problems:
    if settings.DEBUG:
        yield "FOILWORKS_DEBUG", "is on: error pages show code and variables", "unset it"


def _key() -> Problems:
    todo = "unset it to use the home's own key, or set 50 random characters"
    for place, key in enumerate(valid_keys()):
        is_known = any(key.lower().startswith(word) for word in KNOWN_KEYS)
        if is_known or len(key) < MIN_KEY_LENGTH or len(set(key)) < MIN_KEY_CHARACTERS:
            name = "SECRET_KEY_FALLBACKS" if place else "SECRET_KEY"
            yield name, "is short, simple or well known: anyone who guesses it can sign in as anybody", todo


def _files() -> Problems:
    for path in open_to_others(settings.FOILWORKS_HOME):
        yield "FOILWORKS_HOME", f"{path} is open to other users of this machine", f"chmod go= {path}"


def _hosts() -> Problems:
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts:
        yield "ALLOWED_HOSTS", "is *: links in mails contain any name that a visitor sends", "list the site's names"
    elif hosts <= NEAR:
        yield "ALLOWED_HOSTS", "names only this machine", "list the site's names: ALLOWED_HOSTS=foils.example.org"
    plain = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if not origin.startswith("https://")]
    if plain:
        yield "CSRF_TRUSTED_ORIGINS", f"{plain[0]} is not an https address", "write it as https://host"


def _tls() -> Problems:
    if not (settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE):
        yield "SECURE_COOKIES", "is off: cookies are also sent without TLS", "serve over TLS, then set SECURE_COOKIES=1"
    if not settings.SECURE_SSL_REDIRECT:
        yield "SECURE_REDIRECT", "is off: pages are also served without TLS", "set SECURE_REDIRECT=1"
    if settings.SECURE_HSTS_SECONDS < YEAR:
        problem = f"is {settings.SECURE_HSTS_SECONDS}: browsers may connect without TLS"
        yield "HSTS_SECONDS", problem, "set HSTS_SECONDS=31536000"
    if not settings.TRUSTED_PROXIES:
        problem = "is 0: TLS of a proxy is not recognized, and all visitors share one limit of wrong passwords"
        yield "TRUSTED_PROXIES", problem, "set it to the number of your own proxies in front of the pages"


def _database() -> Problems:
    database = settings.DATABASES["default"]
    if "sqlite" in database["ENGINE"]:
        if _is_shared():
            problem = "is SQLite, but several hosts share the queue or the videos"
            yield "DATABASE_URL", problem, "use PostgreSQL: hosts cannot share an SQLite file"
        return
    host = database["HOST"]
    if host in NEAR or host.startswith("/"):
        return
    if not _is_inside(host) and database["OPTIONS"].get("sslmode") not in ENCRYPTED:
        yield "DATABASE_URL", f"queries to {host} can be read on the network", "add ?sslmode=require"
    if not database["PASSWORD"]:
        yield "DATABASE_URL", f"{host} requires no password", "set a password for the user"


def _is_inside(host: str) -> bool:
    """Return whether nobody can listen: this machine, or a name without a dot, as in a container network."""
    return host in NEAR or not ({".", ":"} & set(host))


def _is_shared() -> bool:
    queue = urlsplit(settings.REDIS_URL)
    return (bool(settings.REDIS_URL) and queue.hostname not in NEAR) or settings.STORAGE_URL.startswith("s3:")


def _queue() -> Problems:
    address = urlsplit(settings.REDIS_URL)
    if address.scheme in {"redis", "rediss"} and address.hostname not in NEAR and not address.password:
        problem = f"{address.hostname} takes jobs from anyone who can reach it"
        yield "REDIS_URL", problem, "set requirepass there and write rediss://:password@host:6379/0"


def _storage() -> Problems:
    options = settings.STORAGES["default"].get("OPTIONS", {})
    for name in ("endpoint_url", "public_url"):
        address = urlsplit(options.get(name) or "")
        if address.scheme == "http" and not _is_inside(address.hostname or ""):
            yield "STORAGE_URL", f"videos from {address.netloc} can be read on the network", "give it an https address"


def _sign_in() -> Problems:
    if settings.OIDC_URL and settings.OIDC_SIGN_UP:
        yield "OIDC_SIGN_UP", "everyone whom the provider knows can create an account", "unset it, and invite people"
    if settings.OIDC_URL and not settings.OIDC_URL.startswith("https://"):
        yield "OIDC_URL", "sign-ins can be forged on the network", "give its https address"
    if not settings.AUTH_PASSWORD_VALIDATORS:
        yield "AUTH_PASSWORD_VALIDATORS", "is empty: any password is accepted", "restore the default validators"
    try:
        demos = published_accounts()
    except DatabaseError:
        demos = []
    for demo in demos:
        todo = "delete this project, or run the demo in a home of its own"
        yield "demo accounts", f"the sign-in page shows the passwords of {demo['name']}", todo


def _outside_services() -> Problems:
    for name, endpoint in settings.CHAT_ENDPOINTS.items():
        address = urlsplit(endpoint["url"])
        if address.scheme == "http" and not _is_inside(address.hostname or ""):
            variable = f"CHAT_{name.upper()}_URL"
            yield (
                variable,
                f"the key and texts to {address.hostname} can be read on the network",
                "give its https address",
            )
    if settings.MAIL_IS_SET and not _is_private_mail():
        yield "EMAIL_URL", "password reset links can be read on the network", "write smtp://…?tls=1, or smtps://…"
    for network_setting in settings.WEBHOOK_NETWORKS:
        network = ipaddress.ip_network(network_setting)
        if network.is_loopback or network.is_link_local or network.prefixlen == 0:
            yield (
                "WEBHOOK_NETWORKS",
                f"{network_setting} lets project owners reach this machine",
                "name only the network you need",
            )
    for network_setting in settings.METRICS_NETWORKS:
        if ipaddress.ip_network(network_setting).prefixlen == 0:
            yield (
                "METRICS_NETWORKS",
                f"{network_setting} includes everybody",
                "name the network of your monitoring, or set METRICS_TOKEN",
            )


def _is_private_mail() -> bool:
    return settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL or settings.EMAIL_HOST in NEAR


def _limits() -> Problems:
    if not settings.API_RATE_LIMIT_PER_MINUTE:
        yield (
            "API_RATE_LIMIT_PER_MINUTE",
            "is 0: requests per token are not limited",
            "unset it (600), or give a number",
        )
    if not settings.MAX_OPEN_JOBS_PER_PROJECT:
        yield "MAX_OPEN_JOBS_PER_PROJECT", "is 0: one project can fill the queue", "unset it (200), or give a number"
    if settings.LOGGING["root"]["level"] == "DEBUG":
        yield "LOG_LEVEL", "is DEBUG: the log contains texts and queries", "set it to INFO or WARNING"


RULES: tuple[Callable[[], Problems], ...] = (
    _debug,
    _key,
    _files,
    _hosts,
    _tls,
    _database,
    _queue,
    _storage,
    _sign_in,
    _outside_services,
    _limits,
)
