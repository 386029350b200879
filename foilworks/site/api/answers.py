"""Define the statuses that an operation may return, and turn errors into responses."""

import hashlib
from functools import partial
from http import HTTPStatus
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from annotation.errors import Conflict, LeaseEnded, NotAdmitted, WorkRefused
from foilworks.core.corpus.rules.states import IllegalMove
from foilworks.core.projects.audit_trail.recording import record_refusal
from foilworks.core.projects.errors import AccessDenied, NotAMember
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.quoting import shortened
from foilworks.site.api.shapes import ProblemDetails
from foilworks.site.api.versions import is_unversioned
from foilworks.site.server.outages import RETRY_AFTER, is_away, is_full

# A response about an error stays small, whatever text the error quotes.
MAX_WORDS, MAX_FIELDS = 2000, 100
JSON, PROBLEM_JSON = "application/json", "application/problem+json"
ALWAYS = (400, 401, 403, 404, 422, 429, 503)
# The most specific first: the first class that an error is an instance of gives its status.
STATUS_OF: tuple[tuple[type[Exception], int], ...] = (
    (AccessDenied, 403),
    (NotAdmitted, 403),
    (LeaseEnded, 410),
    (WorkRefused, 409),
    (Conflict, 409),
    (IllegalMove, 409),
    (ActionableError, 400),
)


class RateLimited(Exception):
    """Too many requests in this minute; `seconds` until the next one."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class RefusedFields(Exception):
    """Fields that the page's form rejects: {field: why}."""

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__(fields)
        self.fields = fields


class InvalidIdempotencyKey(ActionableError):
    """An Idempotency-Key that a different request has used before."""


def reads(shape: Any) -> dict[Any, Any]:
    """Return the responses of an operation that changes nothing."""
    return {200: shape, 304: None, **dict.fromkeys(ALWAYS, ProblemDetails)}


def writes(shape: Any, status: int = 200, **more: Any) -> dict[Any, Any]:
    """Return the responses of an operation that changes something; `shape` None: no content."""
    also = {int(name.removeprefix("s")): value for name, value in more.items()}
    return {status: shape, **also, **dict.fromkeys((*ALWAYS, 409, 410, 413), ProblemDetails)}


def cleaned(form: BaseForm) -> dict[str, Any]:
    """Return the request as the page's form cleans it. Raises RefusedFields if the form rejects it."""
    if form.is_valid():
        return form.cleaned_data
    raise RefusedFields({name or "body": " ".join(errors) for name, errors in form.errors.items()})


class Api(NinjaAPI):
    """The API whose responses have an ETag; unchanged content is answered with 304."""

    _document: Any = None

    def get_openapi_schema(self, **root: Any) -> Any:
        """Build the document once per process: it takes a second, and it is public and the same for all."""
        if self._document is None:
            self._document = _with_problem_type(super().get_openapi_schema(**root))
        return self._document

    def get_openapi_operation_id(self, operation: Any) -> str:
        """Name an operation by its function: no two have one name, and a module may move."""
        name: str = operation.view_func.__name__
        return name

    def create_response(
        self, request: HttpRequest, data: Any, *, status: int | None = None, temporal_response: Any = None
    ) -> HttpResponse:
        response = super().create_response(request, data, status=status, temporal_response=temporal_response)
        if request.method == "GET" and response.status_code == 200:
            return with_etag(request, response)
        response.headers["Cache-Control"] = "no-store"
        return response


def _with_problem_type(document: Any) -> Any:
    """Say in the document that errors are problem+json."""
    operations = (operation for path in document["paths"].values() for operation in path.values())
    for response in (response for operation in operations for response in operation["responses"].items()):
        status, content = int(response[0]), response[1].get("content", {})
        if status >= HTTPStatus.BAD_REQUEST and JSON in content:
            content[PROBLEM_JSON] = content.pop(JSON)
    return document


def with_etag(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Return the response with the digest of its content as ETag; 304 if the client has it."""
    etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "private, no-cache"
    return get_conditional_response(request, etag=etag, response=response)


def problem(api: NinjaAPI, request: HttpRequest, status: int, words: str, fields: Any = ()) -> HttpResponse:
    """Return an error in the one form of errors, application/problem+json (RFC 9457)."""
    errors = [{"where": shortened(where), "detail": shortened(why, MAX_WORDS)} for where, why in fields][:MAX_FIELDS]
    detail, title = shortened(words, MAX_WORDS), HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "errors": errors}
    if is_unversioned(request):
        fields_as_before = [{"where": error["where"], "problem": error["detail"]} for error in errors]
        body |= {"problem": detail, "fields": fields_as_before}
    response = api.create_response(request, body, status=status)
    response.headers["Content-Type"] = PROBLEM_JSON
    return response


def handle_errors(api: NinjaAPI) -> None:
    """Turn errors that a client can act on into responses; the rest are our faults and 500."""

    def actionable(request: HttpRequest, error: Exception) -> HttpResponse:
        if isinstance(error, AccessDenied):
            _note_refusal(request, error)
        status = (
            409
            if isinstance(error, InvalidIdempotencyKey)
            else next(s for kind, s in STATUS_OF if isinstance(error, kind))
        )
        return problem(api, request, status, str(error))

    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        fields = [(".".join(str(key) for key in detail["loc"]), detail["msg"]) for detail in error.errors]
        return problem(api, request, 422, _("The request is not valid. See fields."), fields)

    def refused(request: HttpRequest, error: RefusedFields) -> HttpResponse:
        return problem(api, request, 422, _("Some fields are not valid. See fields."), error.fields.items())

    def limited(request: HttpRequest, error: RateLimited) -> HttpResponse:
        response = problem(
            api, request, 429, _("Too many requests in this minute. Wait for the seconds in Retry-After.")
        )
        response.headers["Retry-After"] = str(error.seconds)
        return response

    def missing(request: HttpRequest, error: Http404) -> HttpResponse:
        if isinstance(error, NotAMember):
            _note_refusal(request, error)
        return problem(api, request, 404, _message_of(error))

    def unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        words = _(
            "The token is missing or not valid. Send “Authorization: Bearer …” with a token from the page Tokens."
        )
        response = problem(api, request, 401, words)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    api.add_exception_handler(ActionableError, actionable)
    api.add_exception_handler(ValidationError, invalid)
    api.add_exception_handler(RefusedFields, refused)
    api.add_exception_handler(RateLimited, limited)
    api.add_exception_handler(AuthenticationError, unknown)
    api.add_exception_handler(Http404, missing)
    for kind in (OperationalError, InterfaceError, OSError):
        api.add_exception_handler(kind, partial(_outage, api))
    _handle_bad_requests(api)


def _handle_bad_requests(api: NinjaAPI) -> None:
    """Answer requests that cannot be read."""
    api.add_exception_handler(HttpError, lambda request, error: problem(api, request, error.status_code, str(error)))
    api.add_exception_handler(
        RequestDataTooBig,
        lambda request, _error: problem(api, request, 413, _("The request is too large. Send less data per request.")),
    )
    api.add_exception_handler(
        UnreadablePostError,
        lambda request, _error: problem(
            api, request, 400, _("The request is shorter than its Content-Length. Send it again.")
        ),
    )
    api.add_exception_handler(
        SuspiciousOperation,
        lambda request, _error: problem(api, request, 400, _("The request cannot be parsed. Check its format.")),
    )


def _outage(api: NinjaAPI, request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer 503 during an outage: the request is fine and can be sent again. Other errors go to Django's handler."""
    if not (is_full(error) or is_away(error)):
        raise error
    full = _("The server's disk is full. Ask its operator to free space, then send the request again.")
    away = _("The database is unavailable. Wait a moment, then send the request again.")
    response = problem(api, request, 503, full if is_full(error) else away)
    response.headers["Retry-After"] = RETRY_AFTER
    return response


def _note_refusal(request: HttpRequest, error: AccessDenied | NotAMember) -> None:
    """Store the refusal now; for a write with a key, `once` stores it after the rollback."""
    if hasattr(request, "refusal"):
        request.refusal = error
    else:
        record_refusal(request, error)


def _message_of(error: Http404) -> str:
    """Return the getter's own message; Django's messages name classes and queries."""
    words = str(error)
    return words if words and "matches the given query" not in words else _("Not found.")
