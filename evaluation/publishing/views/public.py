"""The public page of a release: read by anybody who has its address, without an account."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from corpus.models import MediaState, Release, ReleaseItem
from corpus.video_files.streaming import stream_file
from evaluation.blind.forms import named_probes
from evaluation.board.leaderboard import board
from evaluation.errors import EvaluationError
from evaluation.publishing.actions.submit_scores import submit_scores
from evaluation.publishing.archive import is_current
from evaluation.publishing.forms import SubmissionForm
from evaluation.publishing.models import PublicPage
from evaluation.publishing.public import about, composition_of, get_public_page, terms_of
from evaluation.publishing.submitted import BadScoresError
from evaluation.releases.changelog import changelog_of
from evaluation.releases.models import ReleaseGate
from evaluation.releases.withheld import withheld_of
from projects.errors import TooManyTries
from projects.rate_limits import ARCHIVES, SCORES_HERE, SCORES_RELEASE, address_of, hit


@login_not_required
@require_safe
def public_release(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    release = page.release
    context = {
        "public": page,
        "release": release,
        "board": (shown := board(release)),
        "columns": shown.columns,
        "gate_rows": _gate(release),
        "changes": changelog_of(release),
        "n_withheld": len(withheld_of(release)),
        **about(page),
    }
    response = render(request, "evaluation/public_release.html", context)
    # The address is the key: it goes to no other site, and no search engine lists it.
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def _gate(release: Release) -> list[dict]:
    gate = ReleaseGate.objects.filter(release=release).first()
    return [named_probes(row) for row in gate.data["rows"]] if gate is not None else []


@login_not_required
@require_safe
def public_video(request: HttpRequest, key: str, position: int) -> HttpResponseBase:
    """The file of an example, where the terms of its source allow it and nobody took it down."""
    page = get_public_page(key)
    composition = composition_of(page.release)
    rows = ReleaseItem.objects.filter(release=page.release, position=position, video__takedown__isnull=True)
    member = rows.select_related("video").first() if position in composition.examples else None
    shown = {terms.dataset for terms in terms_of(page.release, composition) if terms.may_show}
    video = member and member.video
    if not video or not video.file or video.media_state != MediaState.READY or video.source_dataset not in shown:
        raise Http404(_("This video is not shown here."))
    return stream_file(request, video.file, video.sha256)


@login_not_required
@require_safe
def public_export(request: HttpRequest, key: str) -> HttpResponseBase:
    """The archive, as long as nothing in it was withdrawn since it was made."""
    page = get_public_page(key)
    if not page.offers_export or not page.archive:
        raise Http404(_("No archive is offered here."))
    if not hit(ARCHIVES, address_of(request)):
        raise TooManyTries(_("Too many downloads from here; wait an hour."))
    if not is_current(page):
        raise EvaluationError(_("Something of this archive was withdrawn; it is offered again once it is made anew."))
    return stream_file(request, page.archive)


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def public_scores(request: HttpRequest, key: str) -> HttpResponse:
    """The form by which anybody sends the scores of a model; what is wrong with a file is said line by line."""
    page = get_public_page(key)
    if not page.takes_scores:
        raise Http404(_("This release takes no scores."))
    posted = request.method == "POST"
    if posted and not (hit(SCORES_HERE, address_of(request)) and hit(SCORES_RELEASE, page.release_id)):
        raise TooManyTries(_("Too many score files were sent; wait an hour."))
    form = SubmissionForm(*((request.POST, request.FILES) if posted else ()), release=page.release)
    problems: list[str] = []
    if posted and form.is_valid():
        problems = _sent(page, form)
        if not form.errors:
            return redirect("publishing:public_sent", key)
    example = page.release.members.order_by("position").values_list("record", flat=True).first()
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
    """Send what the form holds; the problems of the file, which the form then knows of."""
    scores: UploadedFile = form.cleaned_data["scores"]
    try:
        submit_scores(page, scores, form.cleaned_data)
    except BadScoresError as error:
        form.add_error("scores", _("This file cannot be taken; mend what is listed above and send it again."))
        return error.problems
    except EvaluationError as error:
        form.add_error("scores", str(error))
    return []


@login_not_required
@require_safe
def public_sent(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    return render(request, "evaluation/public_sent.html", {"public": page, "release": page.release})
