"""Report errors to the operator's Sentry (SENTRY_DSN): their place in the code, nothing about people or texts."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured

from foilworks.core.jobs.trace import job_id, request_id
from foilworks.version import __version__

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
