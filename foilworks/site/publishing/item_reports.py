"""Serve the form by which visitors report an item, and the page on which researchers decide on reports."""

from collections import Counter
from dataclasses import dataclass, field

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_safe

from evaluation.errors import EvaluationError
from evaluation.releases.models import ItemReport, ReportReason, ReportState
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.projects.access import enter_project
from foilworks.core.projects.errors import TooManyTries
from foilworks.core.projects.limits.rate_limits import REPORTS_RELEASE, hit
from foilworks.core.projects.limits.upload_limits import texts_fit
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.errors import ActionableError
from foilworks.site.publishing.actions.report_item import ask_again, dismiss, report_item
from foilworks.site.publishing.forms import ReportForm
from foilworks.site.publishing.public import get_public_page

PER_PAGE = 20
# Reports of one item that are quoted; the others are counted.
QUOTED = 10


@login_not_required
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, key: str) -> HttpResponse:
    """Take a report about one public item from anybody."""
    page = get_public_page(key)
    posted = request.method == "POST"
    if posted and not hit(REPORTS_RELEASE, page.release_id):
        raise TooManyTries(_("Too many reports were sent to this page. Try again in an hour."))
    if posted and not texts_fit(request):
        raise EvaluationError(_("The text fields of the form are too long. Shorten them."))
    form = ReportForm(
        request.POST if posted else None, release=page.release, initial={"item": request.GET.get("item", "")}
    )
    if posted and form.is_valid():
        asked = dict(form.cleaned_data)
        try:
            report_item(page, asked.pop("item"), **asked)
        except ActionableError as error:
            form.add_error(None, str(error))
        else:
            return redirect("publishing:report_sent", key)
    context = {"public": page, "release": page.release, "form": form}
    response = render(request, "evaluation/report_item.html", context, status=422 if posted else 200)
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


@login_not_required
@require_safe
def report_sent(request: HttpRequest, key: str) -> HttpResponse:
    page = get_public_page(key)
    return render(request, "evaluation/report_sent.html", {"public": page, "release": page.release})


@dataclass
class Reported:
    """One released item with its reports. `foils`: segments of each foil; `reasons`: (label, number)."""

    member: ReleaseItem
    foils: list[list[tuple[str, str]]]
    reports: list[ItemReport] = field(default_factory=list)

    @property
    def n_waiting(self) -> int:
        return sum(report.state == ReportState.WAITING for report in self.reports)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        return [(str(ReportReason(why).label), n) for why, n in Counter(one.why for one in self.reports).most_common()]

    @property
    def quoted(self) -> list[ItemReport]:
        return self.reports[:QUOTED]


@require_http_methods(["GET", "HEAD", "POST"])
def reports(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """List reported items; POST asks for new votes on the selected ones, or dismisses their reports."""
    found = enter_project(request, get_release(request.user, slug, pk))
    if request.method == "POST":
        _decide(request, found)
        return redirect("publishing:item_reports", slug, pk)
    page = Paginator(_reported(found), PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = _rows(found, [row["member"] for row in page.object_list])
    return render(request, "evaluation/item_reports.html", {"release": found, "page": page})


def _decide(request: HttpRequest, found: Release) -> None:
    chosen = [int(pk) for pk in request.POST.getlist("member") if pk.isdecimal() and len(pk) < 19][:1000]
    try:
        if request.POST.get("move") == "ask":
            n = ask_again(request.user, found, chosen)
            said = ngettext(
                "%(n)d item waits for new votes. The release does not change.",
                "%(n)d items wait for new votes. The release does not change.",
                n,
            )
        else:
            n = dismiss(request.user, found, chosen, request.POST.get("reason", ""))
            said = ngettext("%(n)d report dismissed.", "%(n)d reports dismissed.", n)
        messages.success(request, said % {"n": n})
    except ActionableError as error:
        messages.error(request, str(error))


def _reported(release: Release) -> QuerySet:
    """Return items with waiting reports first, then by the latest report."""
    rows = ItemReport.objects.filter(release=release).order_by().values("member")
    return rows.annotate(first=Max("state"), last=Max("pk"), n=Count("pk")).order_by("-first", "-last")


def _rows(release: Release, members: list[int]) -> list[Reported]:
    found: dict[int, Reported] = {}
    for member in ReleaseItem.objects.filter(pk__in=members).select_related("item", "video__takedown"):
        caption = member.record["caption"]
        taken = getattr(member.video, "takedown", None) is not None
        foils = [] if taken else [diff_segments(caption, foil) for foil in member.record["foils"]]
        found[member.pk] = Reported(member, foils)
    for one in ItemReport.objects.filter(release=release, member__in=members).order_by("-pk"):
        found[one.member_id].reports.append(one)
    return [found[pk] for pk in members]
