"""Return the reports of a project as its pages show them, with people under pseudonyms."""

from typing import Any

from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from ninja import Router, Schema, Status

from evaluation.analyses.registry import REPORTS
from evaluation.cached_results.first_views import is_large
from evaluation.reports.actions.request_report import request_report
from evaluation.reports.forms import ReportForm
from evaluation.reports.pages import PAGES, report_data
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role
from foilworks.site.api.answers import RefusedFields, cleaned, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.shapes import Anything, Slug, Word

router = Router(tags=["reports"])


class ReportOut(Schema):
    kind: str
    title: str
    about: str
    params: list[str]
    by_job: bool


class RequestedOut(Schema):
    kind: str
    job: JobOut | None


@router.get("", response=reads(list[ReportOut]))
def list_reports(request: HttpRequest, slug: Slug) -> list[ReportOut]:
    """List the kinds of reports, with the parameters that each takes besides `subtest`."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    large = is_large(project)
    return [
        ReportOut(
            kind=kind,
            title=str(page.title),
            about=str(REPORTS[kind].summary),
            params=[param.name for param in REPORTS[kind].params],
            by_job=large or page.always_by_job,
        )
        for kind, page in PAGES.items()
    ]


@router.get("/{slug:kind}", response=reads(Anything))
def read_report(request: HttpRequest, slug: Slug, kind: str, subtest: Word = "") -> dict[str, Any]:
    """Get one report on the main items, or on those of `subtest`.

    Other parameters are those in the list of reports. For reports that only jobs compute, this is the last stored one;
    POST computes a new one.
    """
    project, subtest, params = _chosen(request, slug, kind)
    return report_data(project, kind, subtest, params)


@router.post("/{slug:kind}", response=writes(RequestedOut, 202))
@once
def compute_report(request: HttpRequest, slug: Slug, kind: str, subtest: Word = "") -> Status:
    """Compute a report in a job (`by_job`); its parameters are those of GET. While it runs, no second job starts."""
    project, subtest, params = _chosen(request, slug, kind)
    row = request_report(request.user, project, kind, subtest=subtest, params=params)
    return Status(202, RequestedOut(kind=kind, job=job_out(row.job)))


def _chosen(request: HttpRequest, slug: str, kind: str) -> tuple[Project, str, dict[str, Any]]:
    """Return the project and the chosen subtest and parameters. Raises RefusedFields for an unknown parameter."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    if kind not in PAGES:
        raise Http404(_("Report not found."))
    allowed = {"subtest", *(param.name for param in REPORTS[kind].params)}
    if unknown := [name for name in request.GET if name not in allowed]:
        raise RefusedFields({unknown[0][:80]: _("is not a parameter of this report")})
    form = ReportForm(project, kind, request.GET)
    cleaned(form)
    return (project, *form.chosen())
