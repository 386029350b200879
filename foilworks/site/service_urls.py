"""Parse the addresses of the environment: of the database, the video store and the mail server.

Pure: only settings.py reads the environment, and passes the values. ImproperlyConfigured says in one line how to write
an address.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from foilworks.site.setting_values import flag

Settings = dict[str, Any]


def split(name: str, url: str) -> SplitResult:
    """Return the parts of an address. Errors do not repeat its words: it may contain a password."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        # "Port could not be cast to integer value as 'x'" quotes the text after a colon: maybe the end of a password.
        said = f"{name}: its port is not a number" if "Port" in str(error) else f"{name}: it is not an address"
        raise ImproperlyConfigured(f"{said}; write it as scheme://host:port, special characters as %40") from None
    return parts


def sqlite(path: Path) -> Settings:
    # IMMEDIATE: a claim takes the write lock at its start, so two claimers queue instead of failing half-way.
    return {
        "ENGINE": "foilworks.site.databases.sqlite",
        "NAME": str(path),
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
                "PRAGMA cache_size=-65536; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=268435456;"
            ),
        },
        "CONN_MAX_AGE": 60,
        "TEST": {"NAME": str(path.with_name("test.sqlite3"))},
    }


CONNECTION_OPTIONS = "-c plan_cache_mode=force_generic_plan -c jit=off"


def database(url: str, home: Path, password: str) -> Settings:
    """Return Django's settings for the database of a URL. Its query (`?sslmode=require`) goes to the driver.

    `password`: as it is, if the URL has none.
    """
    if not url:
        return sqlite(home / "foilworks.sqlite3")
    parts = split("DATABASE_URL", url)
    if parts.scheme == "sqlite":
        return sqlite(Path(unquote(parts.path)))
    if parts.scheme not in {"postgresql", "postgres"}:
        raise ImproperlyConfigured("DATABASE_URL is not a postgresql:// or sqlite:// address; write it as one of them")
    options: Settings = dict(parse_qsl(parts.query))
    # Frequent statements are planned once per connection (foilworks.core.projects.sql.statements), not five more times
    # to see whether their values matter. Set `?prepare_threshold=none` behind a pooler that passes connections from one
    # transaction to the next. jit=off: compiling a plan with many conditions takes seconds, and milliseconds without
    # it.
    threshold = options.pop("prepare_threshold", "0")
    options["prepare_threshold"] = int(threshold) if threshold.isdecimal() else None
    if options["prepare_threshold"] is not None:
        options["options"] = f"{options.get('options', '')} {CONNECTION_OPTIONS}".strip()
    return {
        "ENGINE": "foilworks.site.databases.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or "") or password,
        # A folder as the host is the server's Unix socket; it can only be in the query.
        "HOST": unquote(parts.hostname or "") or options.pop("host", ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
    }


def queue(url: str, password: str) -> str:
    """Return the Redis address of REDIS_URL, with the password if it has none; "" means the home's own."""
    parts = split("REDIS_URL", url)
    if url and parts.scheme not in {"redis", "rediss", "unix"}:
        raise ImproperlyConfigured(
            "REDIS_URL is not a Redis address; write it as redis://host:6379/0, rediss:// or unix:///socket"
        )
    if not (url and password) or parts.password:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user}:{quote(password, safe='')}@{host}").geturl()


def provider(url: str) -> str:
    """Return the identity provider's address of OIDC_URL unchanged; "" means none."""
    parts = split("OIDC_URL", url)
    if url and (parts.scheme not in {"http", "https"} or not parts.hostname):
        raise ImproperlyConfigured("OIDC_URL is not an address; write it as https://id.example.org")
    return url


def folder(url: str, home: Path) -> Path:
    """Return the folder of videos: the home's own, or one that several hosts share."""
    parts = split("STORAGE_URL", url)
    if not url or parts.scheme == "s3":
        return home / "media"
    if parts.scheme != "file" or parts.netloc or not parts.path.startswith("/"):
        raise ImproperlyConfigured(
            "STORAGE_URL does not name a store; write it as file:///path/of/the/shared/folder or "
            "s3://bucket?endpoint=https://store.example.org&region=us-east-1"
        )
    return Path(unquote(parts.path))


def bucket(url: str) -> Settings:
    """Return the options of the object store from `s3://bucket/prefix?endpoint=…&region=…&public=…&style=…`."""
    parts = split("STORAGE_URL", url)
    given = dict(parse_qsl(parts.query))
    unknown = sorted(given.keys() - {"endpoint", "region", "public", "style"})
    region = given.get("region", "us-east-1")
    endpoint = given.get("endpoint", f"https://s3.{region}.amazonaws.com")
    style = given.get("style", "path" if "endpoint" in given else "virtual")
    if not re.fullmatch(r"[a-z0-9.-]{3,63}", parts.netloc) or unknown or style not in {"path", "virtual"}:
        said = (
            f"'{unknown[0]}' is not an option"
            if unknown
            else "it names no bucket, or a style other than path and virtual"
        )
        raise ImproperlyConfigured(f"STORAGE_URL: {said}; write it as s3://bucket?endpoint=https://host&region=name")
    public = given.get("public", endpoint)
    for address in (endpoint, public):
        origin = split("STORAGE_URL", address)
        if origin.scheme not in {"http", "https"} or not origin.hostname:
            raise ImproperlyConfigured(
                f"STORAGE_URL: '{address}' is not an address; write it as https://store.example.org"
            )
    return {
        "bucket_name": parts.netloc,
        "location": unquote(parts.path).strip("/"),
        "endpoint_url": endpoint,
        "public_url": public,
        "region_name": region,
        "addressing_style": style,
    }


def store_origin(bucket: Settings) -> str:
    """Return the origin from which browsers load videos, for the content security policy."""
    public = urlsplit(bucket["public_url"])
    host = public.netloc if bucket["addressing_style"] == "path" else f"{bucket['bucket_name']}.{public.netloc}"
    return f"{public.scheme}://{host}"


def site(url: str) -> str:
    """Return the address of this site without a slash at its end, for links in mails; empty if it is not set."""
    if not url:
        return ""
    parts = split("SITE_URL", url)
    others = parts.username or parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in {"http", "https"} or not parts.hostname or others:
        raise ImproperlyConfigured("SITE_URL is not the address of a site; write it as https://foils.example.org")
    return f"{parts.scheme}://{parts.netloc}"


def mail(url: str) -> Settings:
    """Return Django's settings for the mail server of EMAIL_URL (`smtp://user:password@host:587?tls=1`)."""
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend", "MAIL_IS_SET": False}
    parts = split("EMAIL_URL", url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    written = "write it as smtp://user:password@host:587?tls=1"
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise ImproperlyConfigured(f"EMAIL_URL is not a mail server; {written}")
    if options.keys() - {"tls"}:
        raise ImproperlyConfigured(f"EMAIL_URL: it has an option other than tls; {written}")
    return {
        "MAIL_IS_SET": True,
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": parts.scheme == "smtp" and "tls" in options and flag("EMAIL_URL: tls", options["tls"], True),
        "EMAIL_TIMEOUT": 10,
    }
