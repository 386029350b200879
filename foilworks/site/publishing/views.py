"""Serve what belongs to public pages, the page that opens them, the checklist, citation and terms."""

from collections import Counter

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation.errors import EvaluationError
from evaluation.releases.models import ItemReport, ReportState
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import MediaState, ReleaseItem, Video
from foilworks.core.corpus.video_files.streaming import stream_file
from foilworks.core.projects.access import enter_project, get_project
from foilworks.core.projects.errors import TooManyTries
from foilworks.core.projects.limits.rate_limits import ARCHIVES, SCORES_RELEASE, hit, network_of
from foilworks.core.projects.limits.upload_limits import texts_fit
from foilworks.core.projects.models import Role
from foilworks.site.documents.actions.documents import describe_publication, sources_in
from foilworks.site.documents.forms import COMMON_LICENCES, PublicationForm, terms_forms
from foilworks.site.documents.models import PublicationFacts
from foilworks.site.publishing.actions.publish_release import request_folder
from foilworks.site.publishing.actions.set_public_page import page_of, renew_address, request_archive, set_public_page
from foilworks.site.publishing.actions.submissions import accept_submission, refuse_submission, submit_scores
from foilworks.site.publishing.archive import is_current
from foilworks.site.publishing.checklist import LEVELS, is_red
from foilworks.site.publishing.folders import file_of, last_job
from foilworks.site.publishing.forms import PublicPageForm, PublishForm, SubmissionForm
from foilworks.site.publishing.hub_folder import checklist_of, size_of, videos_to_copy
from foilworks.site.publishing.models import PublicPage, Submission
from foilworks.site.publishing.public import composition_of, get_public_page, shown_sources, unstated
from foilworks.site.publishing.submitted import BadScoresError


@login_not_required
@require_safe
def public_video(request: HttpRequest, key: str, position: int) -> HttpResponseBase:
    """Serve the file of an example, if the terms of its source permit it and it was not taken down."""
    page = get_public_page(key)
    video = _visible_video(page, position) if position in composition_of(page.release).examples else None
    if video is None or not video.file or video.media_state != MediaState.READY:
        raise Http404(_("This page does not show this video."))
    return stream_file(request, video.file, video.sha256)


@login_not_required
@require_safe
def public_strip(request: HttpRequest, key: str, position: int) -> HttpResponseBase:
    """Serve the film strip of a listed item, if the terms of its source permit it and it was not taken down."""
    page = get_public_page(key)
    video = _visible_video(page, position) if page.lists_items else None
    if video is None or not video.film_strip:
        raise Http404(_("This page does not show this video."))
    return stream_file(request, video.film_strip)


def _visible_video(page: PublicPage, position: int) -> Video | None:
    """Return the video of a public item, unless it was taken down or the terms of its source do not permit it."""
    rows = ReleaseItem.objects.filter(release=page.release, position=position, is_private=False)
    member = rows.filter(video__takedown__isnull=True).select_related("video").first()
    video = member and member.video
    return video if video and video.source_dataset in shown_sources(page.release) else None


@login_not_required
@require_safe
def public_export(request: HttpRequest, key: str) -> HttpResponseBase:
    """Serve the archive, as long as nothing in it was withdrawn since it was created."""
    page = get_public_page(key)
    if not page.offers_export or not page.archive:
        raise Http404(_("This page has no archive to download."))
    if not hit(ARCHIVES, network_of(request)):
        raise TooManyTries(_("Too many downloads from your network. Try again in an hour."))
    if not is_current(page):
        raise EvaluationError(
            _(
                "Part of this archive was withdrawn. You can download it again after the benchmark team creates a "
                "new archive."
            )
        )
    return stream_file(request, page.archive)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def public_scores(request: HttpRequest, key: str) -> HttpResponse:
    """Handle the form by which anybody submits scores of a model; problems of a file are listed by line."""
    page = get_public_page(key)
    if not page.takes_scores:
        raise Http404(_("This release does not accept scores."))
    posted = request.method == "POST"
    if posted and not hit(SCORES_RELEASE, page.release_id):
        raise TooManyTries(_("Too many score files were uploaded to this page. Try again in an hour."))
    if posted and not texts_fit(request):
        raise EvaluationError(_("The text fields of the form are too long. Shorten them."))
    form = SubmissionForm(*((request.POST, request.FILES) if posted else ()), release=page.release)
    problems: list[str] = []
    if posted and form.is_valid():
        problems = _sent(page, form)
        if not form.errors:
            return redirect("publishing:public_sent", key)
    example = (
        page.release.members.filter(is_private=False).order_by("position").values_list("record", flat=True).first()
    )
    context = {
        "public": page,
        "release": page.release,
        "form": form,
        "problems": problems,
        "example": example,
        "most": settings.SUBMISSION_MAX_BYTES // 1024**2,
    }
    return render(request, "evaluation/public_scores.html", context, status=422 if form.errors else 200)


def _sent(page: PublicPage, form: SubmissionForm) -> list[str]:
    """Submit the content of the form; the form then has the problems of the file."""
    scores: UploadedFile = form.cleaned_data["scores"]
    try:
        submit_scores(page, scores, form.cleaned_data)
    except BadScoresError as error:
        form.add_error("scores", _("The file was rejected. Fix the problems listed above and upload it again."))
        return error.problems
    except EvaluationError as error:
        form.add_error("scores", str(error))
    return []


@login_not_required
@require_safe
def public_sent(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    return render(request, "evaluation/public_sent.html", {"public": page, "release": page.release})


MAX_LISTED = 100


@require_http_methods(["GET", "HEAD", "POST"])
def public_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the page's switches and the submissions; POST stores the switches."""
    found = enter_project(request, get_release(request.user, slug, pk))
    page = page_of(found)
    form = PublicPageForm(request.POST if request.method == "POST" else None, instance=page)
    if form.is_bound and form.is_valid():
        was_open = page_of(found).is_open
        is_open = set_public_page(request.user, found, **form.cleaned_data).is_open
        said = _("The page is published. Copy its URL from this page.") if is_open and not was_open else _("Saved.")
        messages.success(request, said)
        return redirect("publishing:public_page", slug, pk)
    rows = Submission.objects.filter(release=found).select_related("run", "decided_by")
    context = {"release": found, "form": form, "public": page, "submissions": rows[:MAX_LISTED]}
    context["n_reports"] = ItemReport.objects.filter(release=found, state=ReportState.WAITING).count()
    context["unlicensed"], context["silent"] = unstated(found)
    if page.archive:
        context["is_current"] = is_current(page)
    if page.is_open:
        context["address"] = request.build_absolute_uri(reverse("publishing:public_release", args=[page.key]))
    return render(request, "evaluation/public_page.html", context)


@require_POST
def public_page_move(request: HttpRequest, slug: str, pk: int, move: str) -> HttpResponse:
    """Change the address, or create the archive again."""
    found = get_release(request.user, slug, pk)
    if move == "address":
        renew_address(request.user, found)
        messages.success(request, _("The page has a new address. The old address no longer works."))
    elif move == "archive":
        request_archive(request.user, found)
        messages.success(request, _("The archive is being created."))
    else:
        raise Http404
    return redirect("publishing:public_page", slug, pk)


@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the checklist and the newest folder; POST queues the job that writes one."""
    found = enter_project(request, get_release(request.user, slug, pk))
    form = PublishForm(request.POST if request.method == "POST" else None)
    rows = checklist_of(found, anonymous=form.is_bound and form.is_valid() and form.cleaned_data["anonymous"])
    if form.is_bound and form.is_valid():
        try:
            request_folder(request.user, found, rows, **form.cleaned_data)
        except EvaluationError as error:
            form.add_error("reason" if is_red(rows) and not form.cleaned_data["reason"] else None, str(error))
        else:
            messages.success(request, _("The folder is being written."))
            return redirect("publishing:publish", slug, pk)
    videos, job = videos_to_copy(found), last_job(found)
    context = {
        "release": found,
        "form": form,
        # What is left to do comes first.
        "rows": sorted(rows, key=lambda row: LEVELS.index(row.level)),
        "counts": Counter(row.level for row in rows),
        "is_red": is_red(rows),
        "n_videos": len(videos),
        "size": size_of(videos),
        "job": job,
        "file": file_of(found, job),
    }
    return render(request, "evaluation/publish.html", context, status=422 if form.errors else 200)


@require_safe
def publish_file(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Serve the newest folder as a zip, as long as nothing in it was withdrawn."""
    found = get_release(request.user, slug, pk)
    stored = file_of(found, last_job(found))
    if stored is None:
        raise Http404(_("There is no folder to download. Write it again."))
    return stream_file(request, stored)


@require_POST
def submission(request: HttpRequest, slug: str, pk: int, submission: int) -> HttpResponse:
    """Accept or reject a submission."""
    found = get_release(request.user, slug, pk)
    sent = get_object_or_404(Submission.objects.select_related("release__project"), release=found, pk=submission)
    try:
        if request.POST.get("move") == "accept":
            accept_submission(request.user, sent)
            messages.success(request, _("Accepted. The model appears on the leaderboard after its scores are stored."))
        else:
            refuse_submission(request.user, sent, request.POST.get("reason", ""))
            messages.success(request, _("Rejected."))
    except EvaluationError as error:
        messages.error(request, str(error))
    return redirect("publishing:public_page", slug, pk)


@require_http_methods(["GET", "HEAD", "POST"])
def publication(request: HttpRequest, slug: str) -> HttpResponse:
    project = request.project = get_project(request.user, slug, Role.RESEARCHER)
    data = request.POST if request.method == "POST" else None
    stored = PublicationFacts.objects.filter(project=project).first()
    # Only a proposal until the researcher saves it: a description may say what is not for the public.
    stored = stored or PublicationFacts(project=project, abstract=project.description)
    form, terms = PublicationForm(data, instance=stored), terms_forms(project, sources_in(project), data)
    if data is not None and all([form.is_valid(), *(each.is_valid() for each in terms)]):
        sources = [{"source_dataset": each.source, **each.cleaned_data} for each in terms]
        describe_publication(request.user, project, form.cleaned_data, sources)
        messages.success(request, _("Saved. New exports contain the change."))
        return redirect("publishing:publication", slug)
    status = 422 if data is not None else 200
    context = {"form": form, "terms": terms, "licences": COMMON_LICENCES}
    return render(request, "evaluation/publication.html", context, status=status)
