"""Freeze, read and export the releases of a project."""

from datetime import datetime
from typing import Any, Literal

from django.http import FileResponse, HttpRequest
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status

from evaluation.cached_results.first_views import is_large
from evaluation.cached_results.models import CachedResult
from evaluation.releases.actions import freeze_release as freezing
from evaluation.releases.background import freezing_of, request_freeze
from evaluation.releases.withheld import shown_record
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.jobs.models import JobState
from foilworks.core.projects.access import get_project, or_404
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import HEADER, checked_key, once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Id, Line, Slug, Word
from foilworks.site.exports.background import is_written, name_of, needs_job, request_export
from foilworks.site.exports.views import get_export, zip_response
from foilworks.site.exports.zipped import zipped

router = Router(tags=["releases"])
Format = Literal[tuple(EXPORTERS)]
BINARY = {"schema": {"type": "string", "format": "binary"}}
ZIP = {"responses": {200: {"content": {"application/zip": BINARY}}}}


class ReleaseIn(Schema):
    """The options of a release.

    `balance`: subtests whose items are left out until no word separates captions from foils; `override`: reason for a
    release that the blind audit stops. `needs`: only items that need their clip, several frames or the order of frames,
    by the evidence ladder of `ladder_runs` (omit it for all models of the newest scored release).
    """

    name: Word = ""
    balance: list[Word] = Field([], max_length=100)
    override: Line = ""
    needs: Literal["", "clip", "frames", "order"] = ""
    ladder_runs: list[Id] = Field([], max_length=100)
    holdback: float = Field(0.0, ge=0.0, le=0.5)
    seed: int = Field(0, ge=0, le=2**31 - 1)


class ReleaseOut(Schema):
    id: int
    name: str
    content_hash: str
    n_items: int
    n_private: int
    public_hash: str
    n_as_published: int
    created_at: datetime


class ReleasesAsked(Listed):
    order: Literal["id", "-id"] = "-id"
    name: Word = ""
    content_hash: Word = ""


class ReleaseItemOut(Schema):
    position: int
    record: Anything


class ReleaseItemsAsked(Listed):
    order: Literal["position", "-position"] = "position"


class FreezeOut(Schema):
    """`job`: the job that freezes; `release`: the id of the release, once it is frozen."""

    job: JobOut | None
    release: int | None


class ExportOut(Schema):
    """`is_written`: its file can be fetched."""

    id: int
    format: str
    is_written: bool
    job: JobOut | None


def freeze_out(row: CachedResult) -> FreezeOut:
    is_done = row.job is not None and row.job.state == JobState.DONE
    return FreezeOut(job=job_out(row.job), release=row.data.get("release") if is_done else None)


def export_out(row: CachedResult) -> ExportOut:
    return ExportOut(id=row.pk, format=row.params["exporter"], is_written=is_written(row), job=job_out(row.job))


def release_out(release: Release) -> ReleaseOut:
    fields = {name: getattr(release, name) for name in ReleaseOut.model_fields if name != "id"}
    return ReleaseOut(id=release.pk, **fields)


@router.get("", response=reads(Page[ReleaseOut]))
def list_releases(request: HttpRequest, slug: Slug, query: Query[ReleasesAsked]) -> dict[str, Any]:
    """List the releases, newest first."""
    rows = Release.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER))
    for name in ("name", "content_hash"):
        if field_value := getattr(query, name):
            rows = rows.filter(**{name: field_value})
    return page_of(request, rows, query, release_out, order=query.order)


@router.post("", response=writes(ReleaseOut, 201, s202=FreezeOut))
@once
def create_release(request: HttpRequest, slug: Slug, body: ReleaseIn) -> Status:
    """Freeze all valid items. The same content has the same hash and returns the existing release.

    A project of 10,000 items and more is frozen by a job (202): poll `releases/freeze` for its release.
    """
    project = get_project(request.user, slug, Role.RESEARCHER)
    if is_large(project):
        return Status(202, freeze_out(request_freeze(request.user, project, body.dict())))
    return Status(
        201,
        release_out(freezing.freeze_release(request.user, project, **freezing.freezing_parameters(body.dict()))),
    )


@router.get("/freeze", response=reads(FreezeOut))
def read_freeze(request: HttpRequest, slug: Slug) -> FreezeOut:
    """Get the latest freeze by a job; `release`: its id, once it is frozen."""
    return freeze_out(or_404(freezing_of(get_project(request.user, slug, Role.RESEARCHER)), _("Freeze not found.")))


@router.get("/{int:pk}", response=reads(ReleaseOut))
def read_release(request: HttpRequest, slug: Slug, pk: int) -> ReleaseOut:
    """Get one release."""
    return release_out(get_release(request.user, slug, pk))


@router.get("/{int:pk}/items", response=reads(Page[ReleaseItemOut]))
def list_release_items(request: HttpRequest, slug: Slug, pk: int, query: Query[ReleaseItemsAsked]) -> dict[str, Any]:
    """List the public items as frozen, with date and reason if their video was taken down since."""
    rows = ReleaseItem.objects.filter(release=get_release(request.user, slug, pk), is_private=False)
    rows = rows.select_related("video__takedown")
    return page_of(
        request, rows, query, lambda row: {"position": row.position, "record": shown_record(row)}, order=query.order
    )


@router.post("/{int:pk}/export/{exporter}", response=writes(None, 200, s202=ExportOut), openapi_extra=ZIP)
def export_release(request: HttpRequest, slug: Slug, pk: int, exporter: Format) -> FileResponse | Status:
    """Get the release as a zip of the files that `foilworks export` writes.

    A job writes the zip of 10,000 items and more (202): poll `exports/{id}`, then get `exports/{id}/file`. A repeated
    request with the same Idempotency-Key is the same export.
    """
    release = get_release(request.user, slug, pk)
    name = name_of(release, exporter)
    if needs_job(release):
        key = request.headers.get(HEADER, "")
        row = request_export(request.user, release, exporter, {}, key=checked_key(key) if key else "")
        return Status(202, export_out(row))
    return FileResponse(
        zipped(release, exporter, name), as_attachment=True, filename=f"{name}.zip", content_type="application/zip"
    )


@router.get("/{int:pk}/exports/{int:export}", response=reads(ExportOut))
def read_export(request: HttpRequest, slug: Slug, pk: int, export: int) -> ExportOut:
    """Get an export that a job writes."""
    return export_out(get_export(get_release(request.user, slug, pk), export))


@router.get("/{int:pk}/exports/{int:export}/file", response=reads(None), openapi_extra=ZIP)
def read_export_file(request: HttpRequest, slug: Slug, pk: int, export: int) -> FileResponse:
    """Get the zip of an export that a job wrote, within a week."""
    return zip_response(get_release(request.user, slug, pk), export)
