"""Entry from a crowd platform: the page that somebody lands on, and their place: how far, the code, the way back."""

from datetime import datetime

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import crowd_place_for
from annotation.actions.crowd.end_crowd_place import complete_place, return_place
from annotation.actions.crowd.enter_study import enter_study
from annotation.queries.crowd import progress_of
from annotation.views._undo_bar import MAX_ID_DIGITS
from annotation.work_queues import ABOUT, TITLES
from projects import rate_limits
from projects.access import or_404
from projects.actions.give_consent import give_consent
from projects.crowd_entry import CROWD_PLACE_KEY, UNPROVED, Entry, code_of, parameters_of, read_entry
from projects.errors import EntryRefused, TooManyTries
from projects.forms.accounts import ConsentForm
from projects.forms.strict import refuse_other_fields
from projects.models import ConsentText, CrowdPlace, CrowdStudy, CrowdWorker, PlaceState, Platform, Project
from projects.views.sign_in import OWN_BACKEND


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, key: str) -> HttpResponse:
    """GET says what is asked and takes no place; POST does, and signs the person in."""
    address, now = rate_limits.network_of(request), timezone.now()
    if rate_limits.is_exceeded(rate_limits.ENTRY, address):
        raise TooManyTries(_("Too many links from here did not hold; wait an hour."))
    study = or_404(CrowdStudy.objects.select_related("project").filter(key=key).first(), _("There is no such study."))
    sent = request.POST if request.method == "POST" else request.GET
    try:
        return _enter(request, study, sent, now)
    except EntryRefused:
        rate_limits.hit(rate_limits.ENTRY, address)
        raise


def _enter(request: HttpRequest, study: CrowdStudy, sent: QueryDict, now: datetime) -> HttpResponse:
    parameters = parameters_of(study, sent)
    text = ConsentText.objects.filter(project=study.project).first() if study.project.consent_version else None
    form = ConsentForm(request.POST if request.method == "POST" else None, initial={"version": text and text.version})
    if request.method == "POST":
        refuse_other_fields(request, form if text else None, *parameters, project=study.project)
    entry = read_entry(study, parameters if request.method == "POST" else _all_of(study, sent), now)
    if mine := _their_place(request, study, entry):
        request.session[CROWD_PLACE_KEY] = mine
        return redirect("annotation:place", study.project.slug)
    if request.method == "POST" and (text is None or form.is_valid()):
        unproved = _is_unproved(request, study, entry)
        place = enter_study(study, entry, now=now)
        if text is not None:
            give_consent(place.person, study.project, form.cleaned_data["version"])
        login(request, place.person, backend=OWN_BACKEND)
        if unproved:
            request.session[UNPROVED] = True
        request.session[CROWD_PLACE_KEY] = place.pk
        return redirect("annotation:place", study.project.slug)
    context = {
        "study": study,
        "parameters": parameters,
        "text": text,
        "form": form if text else None,
        "title": TITLES[study.stage],
        "about": ABOUT[study.stage],
    }
    return render(request, "annotation/enter.html", context, status=422 if text and form.errors else 200)


def _all_of(study: CrowdStudy, sent: QueryDict) -> dict[str, str]:
    """A signed link may carry nothing that was not signed; Prolific adds what it likes."""
    return parameters_of(study, sent) if study.platform == "prolific" else dict(sent.items())


def _is_unproved(request: HttpRequest, study: CrowdStudy, entry: Entry) -> bool:
    """Whether ids that nobody signed are all that says who this is, of a worker who was known before."""
    if study.platform != Platform.PROLIFIC:
        return False
    known = CrowdWorker.objects.filter(project=study.project, platform=study.platform, worker=entry.worker)
    worker = known.first()
    if worker is not None and worker.person_id == request.user.pk:
        return bool(request.session.get(UNPROVED))
    return worker is not None


def _their_place(request: HttpRequest, study: CrowdStudy, entry: Entry) -> int | None:
    """The place in this study of the worker whom the browser is signed in as: nothing has to be shown anew."""
    if not request.user.is_authenticated:
        return None
    mine = CrowdWorker.objects.filter(
        project=study.project, platform=study.platform, worker=entry.worker, person=request.user
    )
    live = (PlaceState.ACTIVE, PlaceState.COMPLETED)
    places = CrowdPlace.objects.filter(study=study, person=request.user, state__in=live)
    return places.values_list("pk", flat=True).first() if mine.exists() else None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest, slug: str) -> HttpResponse:
    """The person's own place, the one that they came to last; POST completes or returns the one that was shown.

    The code is shown once it is completed, never before.
    """
    project = or_404(Project.objects.filter(slug=slug).first(), _("You have no place in a study here."))
    mine = crowd_place_for(request.user, project, _came_to(request))
    # Only now: a page that says "not found" must not name the project.
    request.project = project
    if request.method == "POST":
        return _move(request, project)
    is_active = mine.state == PlaceState.ACTIVE
    context = {
        "place": mine,
        "study": mine.study,
        "progress": progress_of(mine) if is_active else None,
        "code": code_of(mine) if mine.shows_code else "",
        "title": TITLES[mine.study.stage],
    }
    return render(request, "annotation/place.html", context)


def _came_to(request: HttpRequest) -> int | None:
    pk = request.session.get(CROWD_PLACE_KEY)
    return None if pk is True else pk


def _move(request: HttpRequest, project: Project) -> HttpResponse:
    # Another tab may have come to another place since.
    shown = request.POST.get("place", "")
    which = int(shown) if shown.isdecimal() and len(shown) <= MAX_ID_DIGITS else _came_to(request)
    if request.POST.get("move") == "return":
        return_place(request.user, project, which)
        words = _("Your place is free for somebody else. Please return the study on the platform, too.")
        messages.success(request, words)
    else:
        complete_place(request.user, project, which)
    return redirect("annotation:place", project.slug)
