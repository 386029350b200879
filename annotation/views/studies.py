"""Studies: crowd studies and entry to them, the human baseline and object checks."""

import csv
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Page, Paginator
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import crowd_place_for, crowd_study_for, object_check_for
from annotation.actions.crowd import (
    check_completion_code,
    complete_late_places,
    complete_place,
    enter_study,
    free_late_places,
    free_place,
    open_crowd_study,
    reject_place,
    return_link,
    return_place,
    set_study_open,
)
from annotation.actions.studies import ask_for_nouns, classify_object, open_object_check, why_no_baseline
from annotation.actions.workflow.make_tasks import MAX_GROUPS_PER_CALL, make_tasks
from annotation.errors import AnnotationError
from annotation.forms import CodeCheckForm, CrowdStudyForm, ObjectCheckForm
from annotation.messages import NO_ENTRY
from annotation.models import ObjectErrorClass, Stage
from annotation.queries.crowd import (
    done_by,
    guideline_for,
    pay_for,
    places_left,
    progress_of,
    waiting_for,
    why_no_entry,
)
from annotation.queries.object_checks import checks_of, next_unseen
from annotation.queries.platform_lists import LISTS, MIN_PROLIFIC_REASON, platform_list
from annotation.views._choice_studies import choice_studies, open_choice_study
from annotation.views._work_pages import MAX_ID_DIGITS, guideline_html, next_piece
from annotation.work_queues import ABOUT, EXAMPLE, TITLES
from foilworks.core.corpus.models import Caption
from foilworks.core.projects.access import get_project, or_404
from foilworks.core.projects.actions.consent import give_consent
from foilworks.core.projects.audit_trail.recording import record_refusal
from foilworks.core.projects.crowd_entry import (
    CROWD_PLACE_KEY,
    UNPROVED,
    Entry,
    code_of,
    is_signed,
    parameters_of,
    read_entry,
)
from foilworks.core.projects.demo_accounts import NO_STUDIES, why_closed
from foilworks.core.projects.errors import EntryRefused, TooManyTries
from foilworks.core.projects.forms.accounts import ConsentForm
from foilworks.core.projects.forms.strict import refuse_other_fields
from foilworks.core.projects.limits import rate_limits
from foilworks.core.projects.models import (
    ConsentText,
    CrowdPlace,
    CrowdStudy,
    CrowdWorker,
    PlaceState,
    Platform,
    Project,
    Role,
)
from foilworks.core.projects.sign_in_views import OWN_BACKEND
from foilworks.core.text.diff import diff_segments

PER_PAGE = 50
# The parameters that Prolific expects in the address of a study.
PROLIFIC_QUERY = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@require_http_methods(["GET", "HEAD", "POST"])
def crowd(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the studies; POST opens one."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    form = CrowdStudyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            study = open_crowd_study(request.user, project, **form.fields_for_action())
        except AnnotationError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Study created. Its entry link is on this page."))
            return redirect("annotation:crowd_study", slug, study.pk)
    counts = {state.value: Count("taken", filter=Q(taken__state=state)) for state in PlaceState}
    studies = CrowdStudy.objects.filter(project=project).annotate(**{f"n_{name}": n for name, n in counts.items()})
    for study in studies:
        study.work = Stage(study.stage).label
    context = {"form": form, "closed": why_closed(request.user, NO_STUDIES), "studies": studies}
    return render(request, "annotation/crowd.html", context, status=422 if form.errors else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def crowd_study(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one study with its places; POST finds the person of a completion code."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    study = crowd_study_for(request.user, project, pk)
    form = CodeCheckForm(request.POST if request.method == "POST" else None)
    owner = _whose(request, study, form) if request.method == "POST" and form.is_valid() else None
    page = _page_of_places(study, request.GET.get("page"))
    if any(crowd_place.is_late and crowd_place.done >= study.pieces for crowd_place in page):
        complete_late_places(study)
        page = _page_of_places(study, request.GET.get("page"))
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
        "lists": LISTS,
        "min_reason": MIN_PROLIFIC_REASON,
        "late": sum(crowd_place.is_late for crowd_place in page),
        "left": places_left(study),
    }
    context["waiting"] = _tasks_for(study, context["left"])
    return render(request, "annotation/crowd_study.html", context, status=422 if form.errors else 200)


def _tasks_for(study: CrowdStudy, n_places: int) -> int:
    """Return how many tasks are available; if they are too few, those that an arrival would make are made first."""
    n_tasks = waiting_for(study)
    if study.is_open and n_tasks < n_places and make_tasks(study.project, limit=MAX_GROUPS_PER_CALL):
        return waiting_for(study)
    return n_tasks


def _page_of_places(study: CrowdStudy, number: str | None) -> Page:
    """Return a page of the study's places, each with `done`, `code`, `worker` and `is_late`."""
    crowd_places = study.taken.select_related("person", "study").prefetch_related("person__crowd_workers")
    page, now = Paginator(crowd_places, PER_PAGE).get_page(number), timezone.now()
    done = done_by(list(page))
    for crowd_place in page:
        workers = crowd_place.person.crowd_workers.all()
        crowd_place.done, crowd_place.code = (
            done.get(crowd_place.pk, 0),
            code_of(crowd_place) if crowd_place.shows_code else "",
        )
        crowd_place.worker = next(
            (worker_row.worker for worker_row in workers if worker_row.project_id == study.project_id), ""
        )
        crowd_place.is_late = crowd_place.state == PlaceState.ACTIVE and crowd_place.deadline <= now
    return page


def _whose(request: HttpRequest, study: CrowdStudy, form: CodeCheckForm) -> object:
    try:
        return check_completion_code(request.user, study.project, study.pk, form.cleaned_data["code"])
    except EntryRefused as error:
        record_refusal(request, error)
        form.add_error("code", str(error))
    return None


@require_POST
def crowd_study_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    """Close or reopen the study, free late places ("free-late"), or free one, named by the field `place`."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    if move in {"close", "reopen"}:
        set_study_open(request.user, project, pk, move == "reopen")
    elif move == "free-late":
        n = free_late_places(request.user, project, pk)
        messages.success(
            request, ngettext("%(n)s place is available again.", "%(n)s places are available again.", n) % {"n": n}
        )
    elif move == "free" and request.POST.get("place", "").isdecimal():
        free_place(request.user, project, pk, int(request.POST["place"]))
        messages.success(request, _("The place is available again. Completed work stays.") + " " + _back(request, pk))
    elif move == "link" and request.POST.get("place", "").isdecimal():
        messages.success(request, _back(request, pk))
    elif move == "reject" and request.POST.get("place", "").isdecimal():
        reject_place(request.user, project, pk, int(request.POST["place"]), request.POST.get("reason", ""))
        messages.success(request, _("Rejected. Upload the list of rejections to the platform."))
    else:
        raise AnnotationError(_("Unknown action. Reload the page."))
    return redirect("annotation:crowd_study", slug, pk)


@require_safe
def crowd_study_list(request: HttpRequest, slug: str, pk: int, name: str) -> HttpResponse:
    """Return one of the lists for the platform as CSV."""
    study = crowd_study_for(request.user, get_project(request.user, slug, Role.RESEARCHER), pk)
    if name not in LISTS:
        raise Http404(_("List not found."))
    headers = {"Content-Disposition": f'attachment; filename="study-{study.pk}-{name}.csv"'}
    response = HttpResponse(content_type="text/csv; charset=utf-8", headers=headers)
    csv.writer(response).writerows(platform_list(study, name))
    return response


def _back(request: HttpRequest, pk: int) -> str:
    """Return the words that hand over a one-time link to the place that the form names."""
    query = return_link(request.user, request.project, pk, int(request.POST["place"]))
    key = crowd_study_for(request.user, request.project, pk).key
    link = request.build_absolute_uri(reverse("annotation:enter", args=[key])) + f"?{query}"
    return _("If the same person wants to continue, send them this one-time link: %(link)s") % {"link": link}


@never_cache
@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest, key: str) -> HttpResponse:
    """GET describes the study and takes no place; POST takes one, and signs the person in."""
    address, now = rate_limits.network_of(request), timezone.now()
    if rate_limits.is_exceeded(rate_limits.ENTRY, address):
        raise TooManyTries(_("Too many invalid links from your address. Try again in an hour."))
    studies = CrowdStudy.objects.select_related("project").filter(key=key, project__deleted_at=None)
    study = or_404(studies.first(), _("Study not found."))
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
        refuse_other_fields(request, form if text else None, *parameters, "pay", project=study.project)
    entry = read_entry(study, parameters if request.method == "POST" else _all_of(study, sent), now)
    if own_place_id := _place_of_worker(request, study, entry):
        request.session[CROWD_PLACE_KEY] = own_place_id
        return redirect("annotation:place", study.project.slug)
    make_tasks(study.project, limit=MAX_GROUPS_PER_CALL)
    closed, pay = why_no_entry(study, entry, now), pay_for(study, entry, now)
    # Nobody enters at another rate than the one that their page showed.
    is_new_pay = request.method == "POST" and request.POST.get("pay", pay) != pay
    is_sent = request.method == "POST" and closed != "no work" and not is_new_pay
    if is_sent and (text is None or form.is_valid()):
        unproved = _is_unproved(request, study, entry)
        crowd_place = enter_study(study, entry, now=now)
        # A person who is back only for their code has no role to consent for.
        if text is not None and crowd_place.state == PlaceState.ACTIVE:
            give_consent(crowd_place.person, study.project, form.cleaned_data["version"])
        login(request, crowd_place.person, backend=OWN_BACKEND)
        if unproved:
            request.session[UNPROVED] = True
        request.session[CROWD_PLACE_KEY] = crowd_place.pk
        return _first_task(request, crowd_place)
    context = {
        "study": study,
        "parameters": parameters,
        "text": text,
        "form": form if text else None,
        "title": TITLES[study.stage],
        "about": ABOUT[study.stage],
        "closed": NO_ENTRY.get(closed, ""),
        "pay": pay,
        "is_new_pay": is_new_pay,
        "guideline": guideline_for(study),
        "example": None if study.stage == Stage.OBJECTS else diff_segments(*EXAMPLE),
    }
    if context["guideline"]:
        context["guideline_html"] = guideline_html(context["guideline"].text)
    status = 422 if is_new_pay or (text and form.errors) else 200
    return render(request, "annotation/enter.html", context, status=status)


def _first_task(request: HttpRequest, crowd_place: CrowdPlace) -> HttpResponse:
    """Open the first task of a new place; the page of the place if there is none now, or the place has ended."""
    project = crowd_place.study.project
    if crowd_place.state == PlaceState.ACTIVE:
        with suppress(AnnotationError):
            return next_piece(request, project, crowd_place.study.stage)
    return redirect("annotation:place", project.slug)


def _all_of(study: CrowdStudy, sent: QueryDict) -> dict[str, str]:
    """Return all parameters: a signed link may contain only signed ones, Prolific adds its own."""
    return dict(sent.items()) if is_signed(study, sent) else parameters_of(study, sent)


def _is_unproved(request: HttpRequest, study: CrowdStudy, entry: Entry) -> bool:
    """Return whether only unsigned ids identify the person, for a worker who already existed."""
    if entry.nonce:
        return False
    workers = CrowdWorker.objects.filter(project=study.project, platform=study.platform, worker=entry.worker)
    worker = workers.first()
    if worker is not None and worker.person_id == request.user.pk:
        return bool(request.session.get(UNPROVED))
    return worker is not None


def _place_of_worker(request: HttpRequest, study: CrowdStudy, entry: Entry) -> int | None:
    """Return the place in this study of the worker who is signed in: they need no new proof."""
    if not request.user.is_authenticated:
        return None
    own_workers = CrowdWorker.objects.filter(
        project=study.project, platform=study.platform, worker=entry.worker, person=request.user
    )
    live_states = (PlaceState.ACTIVE, PlaceState.COMPLETED)
    own_places = CrowdPlace.objects.filter(study=study, person=request.user, state__in=live_states)
    return own_places.values_list("pk", flat=True).first() if own_workers.exists() else None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def place(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the person's last place; POST completes or returns the place that was shown.

    The code is shown only when it is complete. A late place with all tasks done completes here.
    """
    requested_project = Project.objects.filter(slug=slug, deleted_at=None).first()
    project = or_404(requested_project, _("You have no place in a study of this project."))
    crowd_place = crowd_place_for(request.user, project, _came_to(request))
    # Only now: a "not found" page must not name the project.
    request.project = project
    if request.method == "POST":
        return _move_place(request, project)
    if (
        crowd_place.state == PlaceState.ACTIVE
        and crowd_place.deadline <= timezone.now()
        and complete_late_places(crowd_place.study)
    ):
        crowd_place = crowd_place_for(request.user, project, crowd_place.pk)
    is_active = crowd_place.state == PlaceState.ACTIVE
    seconds_left = (crowd_place.deadline - timezone.now()).total_seconds()
    context = {
        "place": crowd_place,
        "study": crowd_place.study,
        "progress": progress_of(crowd_place) if is_active else None,
        "minutes_left": max(1, int(seconds_left // 60)),
        "code": code_of(crowd_place) if crowd_place.shows_code else "",
        "title": TITLES[crowd_place.study.stage],
    }
    return render(request, "annotation/place.html", context)


def _came_to(request: HttpRequest) -> int | None:
    pk = request.session.get(CROWD_PLACE_KEY)
    return None if pk is True else pk


def _move_place(request: HttpRequest, project: Project) -> HttpResponse:
    # Another tab may have opened another place since.
    submitted_id = request.POST.get("place", "")
    place_id = (
        int(submitted_id) if submitted_id.isdecimal() and len(submitted_id) <= MAX_ID_DIGITS else _came_to(request)
    )
    if request.POST.get("move") == "return":
        return_place(request.user, project, place_id)
        words = _("You returned your place. Please also return the study on the platform.")
        messages.success(request, words)
    else:
        complete_place(request.user, project, place_id)
    return redirect("annotation:place", project.slug)


@require_http_methods(["GET", "HEAD", "POST"])
def studies(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the studies; POST with `study` opens one of them."""
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    sent = request.POST if request.method == "POST" else None
    study = request.POST.get("study") or Stage.BASELINE
    choices = choice_studies(project, study, sent)
    objects_form = ObjectCheckForm(sent if study == Stage.OBJECTS else None, project=project, prefix="objects")
    if sent is not None:
        form = next((row.form for row in choices if row.stage == study), objects_form)
        if _opened(request, form, _open_check if form is objects_form else partial(open_choice_study, stage=study)):
            return redirect("annotation:studies", slug)
    context = {
        "choices": choices,
        "objects_form": objects_form,
        "checks": checks_of(project),
        "closed": why_no_baseline(project),
        "has_captions": Caption.objects.filter(video__project=project).exists(),
    }
    bad = any(form.errors for form in (objects_form, *(row.form for row in choices)))
    return render(request, "annotation/studies.html", context, status=422 if bad else 200)


@require_POST
def caption_objects(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue the job that stores the nouns of the captions as objects."""
    ask_for_nouns(request.user, get_project(request.user, slug, Role.RESEARCHER))
    messages.success(request, _("Extracting nouns from the captions. Reload the page in a moment."))
    return redirect("annotation:studies", slug)


def _opened(request: HttpRequest, form: forms.Form, write: Callable[[HttpRequest, dict[str, Any]], str]) -> bool:
    if not form.is_valid():
        return False
    try:
        messages.success(request, write(request, form.cleaned_data))
    except AnnotationError as error:
        form.add_error(None, str(error))
        return False
    return True


def _open_check(request: HttpRequest, check_settings: dict[str, Any]) -> str:
    open_object_check(request.user, request.project, check_settings.pop("source"), **check_settings)
    return _("Frames drawn. People can check a frame as soon as its image is ready.")


@require_http_methods(["GET", "HEAD", "POST"])
def object_check(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    check = object_check_for(request.user, project, pk)
    if request.method == "POST":
        frame, object_index = (_number(request.POST.get(name, "")) for name in ("frame", "place"))
        try:
            classify_object(request.user, project, frame, object_index, request.POST.get("error_class", ""))
        except AnnotationError as error:
            messages.error(request, str(error))
        return redirect("annotation:object_check", slug, pk)
    context = {"check": check, "unseen": next_unseen(check), "classes": ObjectErrorClass.choices}
    return render(request, "annotation/object_check.html", context)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= MAX_ID_DIGITS else 0
