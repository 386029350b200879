"""Assemble the API: its resources, its errors, its document."""

from collections.abc import Callable, Iterable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from ninja import Router

from foilworks.core.text.quoting import shortened
from foilworks.site.api import (
    account,
    bias,
    choices,
    content,
    exercises,
    generation,
    imports,
    items,
    job_control,
    me,
    media,
    members,
    methods,
    overview,
    people,
    projects,
    publishing,
    quality,
    queues,
    releases,
    reports,
    results,
    reviews,
    runs,
    scoring,
    settings,
    subtests,
    tunings,
    votes,
    webhooks,
    work,
)
from foilworks.site.api.answers import Api, handle_errors, problem
from foilworks.site.api.bearer import Bearer
from foilworks.site.api.idempotency import HEADER
from foilworks.version import __version__

ABOUT = (
    "Send a token with every request: Authorization: Bearer … (created on the Tokens page). A token "
    "gives the access that its person has on the pages; anything else is 403 or 404. Lists are paginated: pass `next` "
    f"as `cursor`. Send an {HEADER} with a write: a repeated request then changes nothing and gets the first "
    "response. Responses to reads carry an ETag."
)
IN_PROJECT: dict[str, Router] = {
    "/members": members.router,
    "/subtests": subtests.rows.router,
    "/imports": imports.router,
    "/items": items.router,
    "/queues": queues.router,
    "/votes": votes.router,
    "/reviews": reviews.router,
    "/runs": runs.router,
    "/tunings": tunings.rows.router,
    "/choices": choices.router,
    "/reports": reports.router,
    "/releases": releases.router,
    "/webhooks": webhooks.rows.router,
    "": scoring.router,
}
# Resources whose operations have addresses of several kinds.
BY_ROWS = (results, job_control, generation, content, people, quality, settings, publishing, bias, exercises, overview)


def _build_api() -> Api:
    api = Api(
        title="Foilworks",
        version=__version__,
        description=ABOUT,
        urls_namespace="api",
        docs_url=None,
        auth=Bearer(),
        openapi_extra={"servers": [{"url": "/"}]},
    )
    handle_errors(api)
    # First: validators send most requests, and each pattern before theirs takes time.
    api.add_router("/work", work.router)
    api.add_router("/me", me.router)
    api.add_router("/projects", projects.router)
    for prefix, router in IN_PROJECT.items():
        api.add_router(f"/projects/{{slug:slug}}{prefix}", router)
    api.add_router("/projects/{slug:slug}", media.router)
    for rows in (*(resource.rows for resource in BY_ROWS), content.shared, settings.deleted):
        api.add_router("/projects/{slug:slug}", rows.router)
    api.add_router("/projects/{slug:slug}/own", account.own.router)
    api.add_router("/me", account.me.router)
    api.add_router("/methods", methods.rows.router)
    api.add_router("/public", publishing.public.router)
    api.add_router("/audit", overview.files.router)
    return api


def _finish_views(patterns: Iterable[Any]) -> None:
    """Add to each view what all responses share, and allow requests without a session: tokens authenticate."""
    for pattern in patterns:
        pattern.callback = _finished(pattern.callback)
        pattern.callback.login_required = False


def _finished(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Return the view with the RateLimit headers, and with 405 in the one form of errors."""

    @wraps(view)
    def finished(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            allowed, method = response.headers["Allow"], shortened(str(request.method))
            words = _("%(method)s is not possible here. Use %(allowed)s.") % {"method": method, "allowed": allowed}
            response = problem(api, request, HTTPStatus.METHOD_NOT_ALLOWED, words)
            response.headers["Allow"] = allowed
        if (quota := getattr(request, "quota", None)) is not None:
            for name, value in quota.headers.items():
                response.headers[name] = value
        return response

    return finished


api = _build_api()
api_urls = api.urls
_finish_views(api_urls[0])


@csrf_exempt
@login_not_required
def unknown(request: HttpRequest) -> HttpResponse:
    return problem(api, request, 404, _("Not found. /api/docs/ lists all addresses."))
