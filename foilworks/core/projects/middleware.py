"""Turn errors that a person can act on into a page, never a 500; refusals leave an audit row."""

from collections.abc import Callable
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import F
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from foilworks.core.projects.audit_trail.recording import record_refusal
from foilworks.core.projects.crowd_entry import CROWD_PLACE_KEY
from foilworks.core.projects.errors import AccessDenied, ConsentNeeded, NotAMember, SecondFactorNeeded, TooManyTries
from foilworks.core.projects.models import CrowdPlace, CrowdWorker, PlaceState
from foilworks.core.projects.pages import address_of
from foilworks.core.text.errors import ActionableError
from foilworks.core.text.quoting import shortened

# Read by static/annotation/work.js.
DENIED = "X-Foilworks-Denied"
# Whoever wrote the words of an error, its page stays small.
MAX_WORDS = 2000


class ActionableErrorMiddleware:
    """AccessDenied answers 403, any other ActionableError 400, each with its message; htmx gets the same."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if isinstance(response, HttpResponseNotAllowed) and not response.content:
            _say_what_is_taken(request, response)
        return response

    def process_view(self, request: HttpRequest, view: Callable[..., Any], *_arguments: Any) -> HttpResponse | None:
        """PostgreSQL takes no NUL: what somebody signed in sends with one ends here. The API refuses it by its types
        and in its own shape, the doors of strangers where they look at what was sent, with an audit row."""
        if not getattr(view, "login_required", True) or not _holds_nul(request):
            return None
        return _problem(request, _("The text contains a NUL character. Remove it and submit again."), 400)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, ConsentNeeded):
            return _to_consent(request, error.slug)
        if isinstance(error, SecondFactorNeeded):
            messages.warning(request, str(error))
            return redirect("projects:second_factor")
        if isinstance(error, AccessDenied | NotAMember) and (crowd_place := _ended_crowd_place(request, error)):
            return _to_crowd_place(request, crowd_place)
        if isinstance(error, AccessDenied | NotAMember):
            record_refusal(request, error)
        if not isinstance(error, ActionableError):
            return None
        status = 429 if isinstance(error, TooManyTries) else 403 if isinstance(error, AccessDenied) else 400
        return _problem(request, str(error), status)


def _holds_nul(request: HttpRequest) -> bool:
    sent = chain(request.GET.lists(), request.POST.lists())
    return any("\x00" in text for name, values in sent for text in (name, *values))


def _problem(request: HttpRequest, problem: str, status: int) -> HttpResponse:
    context = {"problem": shortened(problem, MAX_WORDS), "status": status}
    response = render(request, "foilworks/problem.html", context, status=status)
    if status == 403:
        # Django's own 403, of a form whose session is over, has none: scripts keep what met that one and send it again.
        response.headers[DENIED] = "1"
    return response


def _to_consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect to the consent page."""
    query = urlencode({"next": request.path}) if request.method in {"GET", "HEAD"} else ""
    address = reverse("projects:consent", args=[slug]) + (f"?{query}" if query else "")
    return _redirect_to(request, address)


def _ended_crowd_place(request: HttpRequest, error: AccessDenied | NotAMember) -> CrowdPlace | None:
    """The person's place in a crowd study by which they could do this, which has ended: of who was removed, none. A
    script that asks for JSON has no use for a page."""
    person, project = request.user.pk, error.project
    if project is None or not request.accepts("text/html"):
        return None
    if not CrowdWorker.objects.filter(person=person, project=project, removed_at=None).exists():
        return None
    crowd_places = CrowdPlace.objects.filter(person=person, study__project=project).select_related("study__project")
    if isinstance(error, AccessDenied):
        crowd_places = crowd_places.filter(study__role__in=error.roles)
    if crowd_places.filter(state=PlaceState.ACTIVE).exists():
        return None
    return crowd_places.order_by(F("ended_at").desc(nulls_last=True), "-pk").first()


def _to_crowd_place(request: HttpRequest, crowd_place: CrowdPlace) -> HttpResponse:
    """Redirect to the page about the ended place."""
    if request.method == "POST":
        messages.warning(request, _("Your place in the study has ended. Your last answer was not saved."))
    request.session[CROWD_PLACE_KEY] = crowd_place.pk
    return _redirect_to(request, address_of("crowd place", crowd_place.study.project.slug))


def _redirect_to(request: HttpRequest, address: str) -> HttpResponse:
    """A redirect; a script that cannot follow is told in a header where to go."""
    if "X-Foilworks-Swap" in request.headers:
        return HttpResponse(status=204, headers={"X-Foilworks-Go": address})
    return redirect(address)


def _say_what_is_taken(request: HttpRequest, response: HttpResponse) -> None:
    """Explain an address that accepts POST only, which a person opens after signing in again during a submit."""
    problem = _("This address only accepts form submissions. Go to the project and submit the form again.")
    response.content = _problem(request, problem, response.status_code).content
    response.headers["Content-Type"] = "text/html; charset=utf-8"
