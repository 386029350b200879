"""Errors reported to a Sentry of the operator's (SENTRY_DSN): where in the code; nothing of people or their texts."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from foilworks import __version__
from jobs.trace import job_id, request_id

# Of a request its method alone: addresses hold tokens, the rest is what people sent.
KEPT_REQUEST_FIELDS = frozenset({"method"})


def report_errors(dsn: str) -> None:
    """Begin to report. ImproperlyConfigured where the library is missing."""
    try:
        import sentry_sdk
    except ImportError as error:
        todo = "SENTRY_DSN is set, and sentry-sdk is missing: pip install 'foilworks[sentry]'"
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
    """The event without whom and what it was about: no person, address, header, body, message of an error."""
    for name in ("user", "breadcrumbs", "extra", "server_name", "transaction", "modules"):
        event.pop(name, None)
    if "request" in event:
        event["request"] = {k: v for k, v in event["request"].items() if k in KEPT_REQUEST_FIELDS}
    for each in event.get("exception", {}).get("values", []):
        # Messages quote what they stumbled over: a caption, a path, a name.
        each["value"] = ""
    if "logentry" in event:
        event["logentry"] = {"message": event["logentry"].get("message", "")}
    event["tags"] = {"request_id": request_id(), "job_id": job_id()}
    return event
