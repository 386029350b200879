"""Crowd studies as their researchers see them: what is open, who has come how far, whose code this is."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import crowd_study_for
from annotation.actions.crowd.check_completion_code import check_completion_code
from annotation.actions.crowd.end_crowd_place import free_late_places, free_place
from annotation.actions.crowd.open_crowd_study import open_crowd_study, set_study_open
from annotation.errors import AnnotationError
from annotation.forms import CodeCheckForm, CrowdStudyForm
from annotation.models import Stage
from annotation.queries.crowd import done_by
from projects.access import get_project
from projects.audit import record_refusal
from projects.crowd_entry import code_of
from projects.errors import EntryRefused
from projects.models import CrowdStudy, PlaceState, Platform, Role

PER_PAGE = 50
# As Prolific wants them in the address of a study.
PROLIFIC_QUERY = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@require_http_methods(["GET", "HEAD", "POST"])
def crowd(request: HttpRequest, slug: str) -> HttpResponse:
    """The list; POST opens a study."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = CrowdStudyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            study = open_crowd_study(request.user, project, **form.fields_for_action())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The study is open; its entry link stands on this page."))
            return redirect("annotation:crowd_study", slug, study.pk)
    counts = {state.value: Count("taken", filter=Q(taken__state=state)) for state in PlaceState}
    studies = CrowdStudy.objects.filter(project=project).annotate(**{f"n_{name}": n for name, n in counts.items()})
    for study in studies:
        study.work = Stage(study.stage).label
    context = {"form": form, "studies": studies}
    return render(request, "annotation/crowd.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def crowd_study(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One study with its places; POST asks whose completion code this is."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    study = crowd_study_for(request.user, project, pk)
    form = CodeCheckForm(request.POST if request.method == "POST" else None)
    owner = _whose(request, study, form) if request.method == "POST" and form.is_valid() else None
    places = study.taken.select_related("person", "study").prefetch_related("person__crowd_workers")
    page, now = Paginator(places, PER_PAGE).get_page(request.GET.get("page")), timezone.now()
    done = done_by(list(page))
    for place in page:
        place.done, place.code = done.get(place.pk, 0), code_of(place) if place.shows_code else ""
        place.worker = next((w.worker for w in place.person.crowd_workers.all() if w.project_id == project.pk), "")
        place.is_late = place.state == PlaceState.ACTIVE and place.deadline <= now
    link = request.build_absolute_uri(reverse("annotation:enter", args=[study.key]))
    is_prolific = study.platform == Platform.PROLIFIC
    context = {
        "study": study,
        "work": Stage(study.stage).label,
        "page": page,
        "form": form,
        "owner": owner,
        "link": link + (PROLIFIC_QUERY if is_prolific else ""),
        "is_prolific": is_prolific,
        "late": sum(place.is_late for place in page),
    }
    return render(request, "annotation/crowd_study.html", context, status=422 if form.errors else 200)


def _whose(request: HttpRequest, study: CrowdStudy, form: CodeCheckForm) -> object:
    try:
        return check_completion_code(request.user, study.project, study.pk, form.cleaned_data["code"])
    except EntryRefused as error:
        record_refusal(request, error)
        form.add_error("code", str(error))
    return None


@require_POST
def crowd_study_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    """close, reopen, free-late; or free one place, named by the field `place`."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if move in {"close", "reopen"}:
        set_study_open(request.user, project, pk, move == "reopen")
    elif move == "free-late":
        n = free_late_places(request.user, project, pk)
        messages.success(request, ngettext("%(n)s place is free again.", "%(n)s places are free again.", n) % {"n": n})
    elif move == "free" and request.POST.get("place", "").isdecimal():
        free_place(request.user, project, pk, int(request.POST["place"]))
        messages.success(request, _("The place is free again; what was done stays."))
    else:
        raise AnnotationError(_("There is no such step; reload the page."))
    return redirect("annotation:crowd_study", slug, pk)
