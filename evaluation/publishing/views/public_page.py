"""The owner's side of a public page: what it shows, its address, its archive, what strangers sent."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from corpus.access import get_release
from evaluation.errors import EvaluationError
from evaluation.publishing.actions.decide_submission import accept_submission, refuse_submission
from evaluation.publishing.actions.set_public_page import page_of, renew_address, request_archive, set_public_page
from evaluation.publishing.archive import is_current
from evaluation.publishing.forms import PublicPageForm
from evaluation.publishing.models import Submission
from projects.access import enter_project

MAX_LISTED = 100


@require_http_methods(["GET", "HEAD", "POST"])
def public_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """GET shows the page's switches and what was sent; POST stores the switches."""
    found = enter_project(request, get_release(request.user, slug, pk))
    page = page_of(found)
    form = PublicPageForm(request.POST if request.method == "POST" else None, instance=page)
    if form.is_bound and form.is_valid():
        set_public_page(request.user, found, **form.cleaned_data)
        messages.success(request, _("It is stored."))
        return redirect("publishing:public_page", slug, pk)
    rows = Submission.objects.filter(release=found).select_related("run", "decided_by")
    context = {"release": found, "form": form, "public": page, "submissions": rows[:MAX_LISTED]}
    if page.archive:
        context["is_current"] = is_current(page)
    return render(request, "evaluation/public_page.html", context)


@require_POST
def public_page_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    """Another address, or the archive made anew."""
    found = get_release(request.user, slug, pk)
    if move == "address":
        renew_address(request.user, found)
        messages.success(request, _("The page has another address; the old one leads nowhere."))
    elif move == "archive":
        request_archive(request.user, found)
        messages.success(request, _("The archive is being made."))
    else:
        raise Http404
    return redirect("publishing:public_page", slug, pk)


@require_POST
def submission(request: HttpRequest, slug: str, pk: int, submission: int) -> HttpResponse:
    """Accepts what a stranger sent, or refuses it."""
    found = get_release(request.user, slug, pk)
    sent = get_object_or_404(Submission.objects.select_related("release__project"), release=found, pk=submission)
    try:
        if request.POST.get("move") == "accept":
            accept_submission(request.user, sent)
            messages.success(request, _("Accepted: it stands on the leaderboard once its scores are stored."))
        else:
            refuse_submission(request.user, sent, request.POST.get("reason", ""))
            messages.success(request, _("Refused."))
    except EvaluationError as error:
        messages.error(request, str(error))
    return redirect("publishing:public_page", slug, pk)
