"""Write log lines as JSON objects (LOG_FORMAT=json), each with the ids of its request and job.

Report errors to the operator's Sentry (SENTRY_DSN): their place in the code, nothing about people or texts.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from foilworks.core.jobs.trace import job_id, request_id
from foilworks.version import __version__


class JsonFormatter(logging.Formatter):
    """Write one object per line: time, level, logger, message, request_id, job_id and error, if present."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        ids = {"request_id": _request_of(record), "job_id": job_id()}
        line |= {name: value for name, value in ids.items() if value}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class PlainFormatter(logging.Formatter):
    """Write lines for people, with the ids at the end."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (its base class names it so)
        ids = {"request": _request_of(record), "job": job_id()}
        id_text = " ".join(f"{name}={value}" for name, value in ids.items() if value)
        # A line end in a value must not start a forged line. The trace of an error follows with its own line ends.
        line = super().formatMessage(record).replace("\r", "\\r").replace("\n", "\\n")
        return line + (f" [{id_text}]" if id_text else "")


class RouteForAddress(logging.Filter):
    """Replace the path in Django's lines about refused or failed requests by the route.

    The path can contain the token of an invitation or of a task. An address that matches no route stays: somebody looks
    for that broken link.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        if match is not None and isinstance(record.args, tuple):
            route = f"/{match.route}"
            record.args = tuple(
                route if isinstance(argument, str) and argument[:1] == "/" else argument for argument in record.args
            )
        return True


def _request_of(record: logging.LogRecord) -> str:
    return request_id() or getattr(getattr(record, "request", None), "request_id", "")


# Only the method of a request: addresses contain tokens, and the rest is what people sent.
KEPT_REQUEST_FIELDS = frozenset({"method"})


def report_errors(dsn: str) -> None:
    """Start to report. Raises ImproperlyConfigured if the library is missing."""
    try:
        import sentry_sdk
    except ImportError as error:
        todo = "SENTRY_DSN is set, but sentry-sdk is missing; run pip install 'foilworks[sentry]'"
        raise ImproperlyConfigured(todo) from error
    sentry_sdk.init(
        dsn=dsn,
        release=f"foilworks@{__version__}",
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        server_name="",
        before_send=without_people,
    )


def without_people(event: dict[str, Any], _hint: dict[str, Any]) -> dict[str, Any]:
    """Return the event without people and content: no person, address, header, body or error message."""
    for name in ("user", "breadcrumbs", "extra", "server_name", "transaction", "modules"):
        event.pop(name, None)
    if "request" in event:
        event["request"] = {k: v for k, v in event["request"].items() if k in KEPT_REQUEST_FIELDS}
    for exception in event.get("exception", {}).get("values", []):
        # Messages quote the value that caused them: a caption, a path, a name.
        exception["value"] = ""
    if "logentry" in event:
        event["logentry"] = {"message": event["logentry"].get("message", "")}
    event["tags"] = {"request_id": request_id(), "job_id": job_id()}
    return event
