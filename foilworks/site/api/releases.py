"""Freeze, read and export the releases of a project."""

from datetime import datetime
from typing import Any, Literal

from django.http import FileResponse, HttpRequest
from django.utils.text import slugify
from ninja import Field, Query, Router, Schema, Status

from evaluation.releases.actions import freeze_release as freezing
from evaluation.releases.withheld import shown_record
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.export_formats.registry import EXPORTERS
from foilworks.core.corpus.models import Release, ReleaseItem
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.once import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Id, Line, Slug, Word
from foilworks.site.exports.views import zipped

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


@router.post("", response=writes(ReleaseOut, 201))
@once
def create_release(request: HttpRequest, slug: Slug, body: ReleaseIn) -> Status:
    """Freeze all valid items. The same content has the same hash and returns the existing release."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return Status(
        201,
        release_out(freezing.freeze_release(request.user, project, **freezing.freezing_parameters(body.dict()))),
    )


@router.get("/{int:pk}", response=reads(ReleaseOut))
def read_release(request: HttpRequest, slug: Slug, pk: int) -> ReleaseOut:
    """Get one release."""
    return release_out(get_release(request.user, slug, pk))


@router.get("/{int:pk}/items", response=reads(Page[ReleaseItemOut]))
def list_release_items(request: HttpRequest, slug: Slug, pk: int, query: Query[ReleaseItemsAsked]) -> dict[str, Any]:
    """List the public items as frozen; if a video was taken down since, with the date and the reason."""
    rows = ReleaseItem.objects.filter(release=get_release(request.user, slug, pk), is_private=False)
    rows = rows.select_related("video__takedown")
    return page_of(
        request, rows, query, lambda row: {"position": row.position, "record": shown_record(row)}, order=query.order
    )


@router.post("/{int:pk}/export/{exporter}", response=writes(None, 200), openapi_extra=ZIP)
def export_release(request: HttpRequest, slug: Slug, pk: int, exporter: Format) -> FileResponse:
    """Get the release as a zip of the files that `foilworks export` writes."""
    release = get_release(request.user, slug, pk)
    name = f"{release.project.slug}-{slugify(release.name) or release.pk}-{exporter}"
    return FileResponse(
        zipped(release, exporter, name), as_attachment=True, filename=f"{name}.zip", content_type="application/zip"
    )
