"""Publish releases: the public page, its submissions, item reports, the folder of a release; and visitors' forms."""

from typing import Any, Literal

from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Field, Schema

from evaluation.releases.models import ItemReport, ReportState
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.video_files.streaming import stream_file
from foilworks.core.projects.errors import TooManyTries
from foilworks.core.projects.limits.rate_limits import REPORTS_RELEASE, SCORES_RELEASE, hit
from foilworks.site.api.answers import RefusedFields, reads
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.releases import ZIP
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.shapes import Anything, Id, Line, Slug, Word
from foilworks.site.publishing.actions.publish_release import request_folder
from foilworks.site.publishing.actions.report_item import ask_again, dismiss, report_item
from foilworks.site.publishing.actions.set_public_page import page_of, renew_address, request_archive, set_public_page
from foilworks.site.publishing.actions.submissions import accept_submission, refuse_submission, submit_scores
from foilworks.site.publishing.folders import file_of, last_job
from foilworks.site.publishing.forms import PublicPageForm, PublishForm, ReportForm, SubmissionForm
from foilworks.site.publishing.hub_folder import checklist_of
from foilworks.site.publishing.models import PublicPage, Submission
from foilworks.site.publishing.public import get_public_page
from foilworks.site.publishing.submitted import BadScoresError

RELEASE = "/releases/{int:pk}"
PageOut = shape_of(
    PublicPage,
    "is_open",
    "lists_items",
    "offers_export",
    "takes_scores",
    "archive_made_at",
    "changed_at",
    job=True,
    address=str,
)
SubmissionOut = shape_of(
    Submission, "id", "label", "sent_by", "contact", "url", "notes", "file_name", "n_items", "state", "reason", "run",
    "sent_at",
)  # fmt: skip
ItemReportOut = shape_of(ItemReport, "id", "member", "why", "text", "contact", "state", "reason", "sent_at")


class MoveIn(Schema):
    """`reason` of a rejection."""

    move: Literal["accept", "reject"]
    reason: Line = ""


class ReportsIn(Schema):
    """`members`: released items, by the `member` of their reports. `reason` of a dismissal."""

    move: Literal["ask", "dismiss"]
    members: list[Id] = Field(min_length=1, max_length=1000)
    reason: Line = ""


class FolderOut(Schema):
    """`checklist`: what the release still needs; a red one needs a reason. `is_written`: the folder can be fetched."""

    checklist: list[Anything]
    job: JobOut | None
    is_written: bool


class SentOut(Schema):
    id: int


def _page(call: Call) -> PublicPage:
    page = page_of(call.row)
    path = reverse("publishing:public_release", args=[page.key]) if page.is_open else ""
    page.address = path and call.request.build_absolute_uri(path)
    return page


def _on_page(act: Any) -> Any:
    """Return what calls the action on the release, and answers with its page."""

    def moved(call: Call) -> PublicPage:
        act(call)
        return _page(call)

    return moved


def _decide(call: Call) -> Submission:
    release = get_release(call.person, call.slug, call.pk)
    sent = get_object_or_404(Submission.objects.select_related("release__project"), release=release, pk=call.submission)
    if call.body["move"] == "accept":
        return accept_submission(call.person, sent)
    return refuse_submission(call.person, sent, call.body["reason"])


def _decide_reports(call: Call) -> dict[str, int]:
    sent = call.body
    if sent["move"] == "ask":
        return {"items": ask_again(call.person, call.row, sent["members"])}
    return {"reports": dismiss(call.person, call.row, sent["members"], sent["reason"])}


def _folder(call: Call) -> dict[str, Any]:
    job = last_job(call.row)
    names = ("slug", "level", "what", "why")
    rows = [{name: str(getattr(row, name)) for name in names} for row in checklist_of(call.row)]
    return {"checklist": rows, "job": job_out(job), "is_written": file_of(call.row, job) is not None}


def _write_folder(call: Call) -> dict[str, Any]:
    fields = call.values
    request_folder(call.person, call.row, checklist_of(call.row, anonymous=fields["anonymous"]), **fields)
    return _folder(call)


def _open_page(call: Call) -> PublicPage:
    page = get_public_page(call.key)
    if not page.takes_scores:
        raise Http404(_("This release does not accept scores."))
    return page


def _send_scores(call: Call) -> Submission:
    page, fields = _open_page(call), call.values
    if not hit(SCORES_RELEASE, page.release_id):
        raise TooManyTries(_("Too many score files were uploaded to this page. Try again in an hour."))
    try:
        return submit_scores(page, fields["scores"], fields)
    except BadScoresError as error:
        raise RefusedFields({"scores": " ".join(error.problems)}) from error


def _report(call: Call) -> ItemReport:
    page, fields = get_public_page(call.key), call.values
    if not hit(REPORTS_RELEASE, page.release_id):
        raise TooManyTries(_("Too many reports were sent to this page. Try again in an hour."))
    return report_item(page, fields.pop("item"), **fields)


def _submissions(call: Call) -> QuerySet[Submission]:
    return Submission.objects.filter(release=call.row)


rows = Rows("publishing")
rows.read(f"{RELEASE}/public", "read_public_page", "Get the public page of a release.", _page, PageOut, get=get_release)
rows.write(
    f"{RELEASE}/public",
    "change_public_page",
    "Open or close the public page, its list of items, its export and its form for scores.",
    _on_page(lambda call: set_public_page(call.person, call.row, **call.values)),
    method="patch",
    form=PublicPageForm,
    make=lambda call, data: PublicPageForm(data, instance=page_of(call.row)),
    shape=PageOut,
    get=get_release,
)
rows.write(
    f"{RELEASE}/public/address",
    "renew_address",
    "Give the public page a new address; the old one no longer works.",
    _on_page(lambda call: renew_address(call.person, call.row)),
    shape=PageOut,
    get=get_release,
)
rows.write(
    f"{RELEASE}/public/archive",
    "renew_archive",
    "Create the archive of the public page again, in a background job.",
    _on_page(lambda call: request_archive(call.person, call.row)),
    shape=PageOut,
    status=202,
    get=get_release,
)
rows.listed(
    f"{RELEASE}/submissions",
    "list_submissions",
    "List the scores that visitors sent.",
    _submissions,
    SubmissionOut,
    filters={"state": Word},
    get=get_release,
)
rows.write(
    f"{RELEASE}/submissions/{{int:submission}}",
    "decide_submission",
    "Accept or reject scores that a visitor sent.",
    _decide,
    body=MoveIn,
    shape=SubmissionOut,
)
rows.listed(
    f"{RELEASE}/item-reports",
    "list_item_reports",
    "List what visitors say is wrong with released items.",
    lambda call: ItemReport.objects.filter(release=call.row),
    ItemReportOut,
    filters={"state": ReportState, "member": Id},
    get=get_release,
)
rows.write(
    f"{RELEASE}/item-reports",
    "decide_item_reports",
    "Ask for new votes on reported items, or dismiss their reports.",
    _decide_reports,
    body=ReportsIn,
    get=get_release,
)
rows.read(
    f"{RELEASE}/folder",
    "read_folder",
    "Get the checklist and the folder of a release.",
    _folder,
    FolderOut,
    get=get_release,
)
rows.write(
    f"{RELEASE}/folder",
    "write_folder",
    "Write the folder of a release for a data set hub, in a background job.",
    _write_folder,
    form=PublishForm,
    shape=FolderOut,
    status=202,
    get=get_release,
)


@rows.router.get(f"{RELEASE}/folder/file", response=reads(None), openapi_extra=ZIP)
def read_folder_file(request: HttpRequest, slug: Slug, pk: int) -> FileResponse | Any:
    """Get the folder of a release as a zip."""
    release = get_release(request.user, slug, pk)
    stored = file_of(release, last_job(release))
    if stored is None:
        raise Http404(_("There is no folder to download. Write it again."))
    return stream_file(request, stored)


public = Rows("public", in_project=False)
public.write(
    "/{slug:key}/scores",
    "send_scores",
    "Send scores of a model to the public page with this key; the team of the benchmark decides on them.",
    _send_scores,
    form=SubmissionForm,
    make=lambda call, *sent: SubmissionForm(*sent, release=_open_page(call).release),
    files=("scores",),
    shape=SentOut,
    status=201,
)
public.write(
    "/{slug:key}/reports",
    "report_item",
    "Report what is wrong with an item of the public page with this key.",
    _report,
    form=ReportForm,
    make=lambda call, data: ReportForm(data, release=get_public_page(call.key).release),
    shape=SentOut,
    status=201,
)
