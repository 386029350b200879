"""Serve a release as a zip of what `foilworks export` writes: at once, or by a job if the release is large."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from evaluation.cached_results.models import CachedResult
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release
from foilworks.core.projects.live_pages import render_live
from foilworks.core.text.registry import lookup, parse_params
from foilworks.site.exports.background import exports_of, is_written, name_of, needs_job, request_export, zip_path
from foilworks.site.exports.zipped import zipped

NOT_AVAILABLE = gettext_lazy("This export is not available. Export the release again.")


@require_POST
def export(request: HttpRequest, slug: str, pk: int, exporter: str) -> FileResponse | HttpResponseRedirect:
    """Require POST, so that no link or crawler makes the server write a whole benchmark."""
    release = get_release(request.user, slug, pk)
    entry = lookup(EXPORTERS, exporter, "format")
    submitted_params = {param.name: request.POST[param.name] for param in entry.params if param.name in request.POST}
    if needs_job(release):
        parse_params(entry, submitted_params)
        request_export(request.user, release, exporter, submitted_params)
        return redirect("exports:exports", slug, pk)
    name = name_of(release, exporter)
    return FileResponse(zipped(release, exporter, name, submitted_params), as_attachment=True, filename=f"{name}.zip")


@require_GET
def exports(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show the exports of a large release that jobs write or wrote."""
    release = get_release(request.user, slug, pk)
    request.project = release.project
    rows = exports_of(release)
    for row in rows:
        row.is_written, row.label = is_written(row), _label(row.params["exporter"])
    is_at_work = any(row.job is not None and not row.job.is_over for row in rows)
    context = {"release": release, "rows": rows, "is_at_work": is_at_work}
    if "part" in request.GET:
        return render_live(request, "evaluation/_exports.html", context, refresh=not is_at_work)
    return render(request, "evaluation/exports.html", context)


@require_GET
def export_file(request: HttpRequest, slug: str, pk: int, row_pk: int) -> FileResponse:
    return zip_response(get_release(request.user, slug, pk), row_pk)


def get_export(release: Release, row_pk: int) -> CachedResult:
    """Return an export of the release by a job. Http404: there is none."""
    row = next((row for row in exports_of(release) if row.pk == row_pk), None)
    if row is None:
        raise Http404(_("Export not found."))
    return row


def zip_response(release: Release, row_pk: int) -> FileResponse:
    """Return the zip of an export. Http404: it is not written yet, or was deleted after a week."""
    row = get_export(release, row_pk)
    if not is_written(row):
        raise Http404(NOT_AVAILABLE)
    name = f"{name_of(release, row.params['exporter'])}.zip"
    try:
        file = zip_path(row).open("rb")
    except FileNotFoundError as error:
        # The clean-up has deleted it since.
        raise Http404(NOT_AVAILABLE) from error
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


def _label(exporter: str) -> str:
    """Return the label of an exporter; the slug of one that is no longer installed."""
    return EXPORTERS[exporter].label if exporter in EXPORTERS else exporter
