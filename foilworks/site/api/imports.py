"""Import files of records and videos: a job previews them, another stores them after confirmation."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import File, Form, Query, Router, Schema, Status, UploadedFile

from foilworks.core.jobs.models import Job
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import cleaned, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Slug, Word
from foilworks.site.imports.access import get_import
from foilworks.site.imports.actions import confirm_import as confirming
from foilworks.site.imports.actions.map_columns import map_columns
from foilworks.site.imports.actions.receive_import import receive_import
from foilworks.site.imports.actions.undo_import import request_undo
from foilworks.site.imports.forms import ImportForm
from foilworks.site.imports.models import Import

router = Router(tags=["imports"])


class JobOut(Schema):
    """The job's progress; `state`: waiting, running, done, partly, failed, cancelled."""

    state: str
    done: int
    total: int
    message: str
    error: str


class ImportIn(Schema):
    format: Word
    subtest: Word = ""
    dataset: Word = ""
    recipe: Word = ""
    mapping: str = ""
    address: str = ""
    as_published: bool = False
    at_once: bool = False


class ImportOut(Schema):
    """`state`: reading, mapping (of a table's columns), ready (to be confirmed), importing, done, failed, discarded."""

    id: int
    state: str
    format: str
    file_name: str
    videos: int
    preview: Anything | None
    result: Anything | None
    job: JobOut | None
    created_at: datetime


class Mapping(Schema):
    """`mapping`: a recipe as JSON, as `create_import` takes it."""

    mapping: Anything


class Confirmed(Schema):
    """`update`: change stored records that differ to the file's values; otherwise leave them unchanged."""

    update: bool = False


class ImportsAsked(Listed):
    order: Literal["id", "-id"] = "-id"
    format: Word = ""


def job_out(job: Job | None) -> JobOut | None:
    return job and JobOut(**{name: getattr(job, name) for name in JobOut.model_fields})


def import_out(upload: Import) -> ImportOut:
    fields = {name: getattr(upload, name) for name in ("state", "format", "file_name", "preview", "result")}
    return ImportOut(
        id=upload.pk, **fields, videos=upload.n_videos, job=job_out(upload.job), created_at=upload.created_at
    )


@router.get("", response=reads(Page[ImportOut]))
def list_imports(request: HttpRequest, slug: Slug, query: Query[ImportsAsked]) -> dict[str, Any]:
    """List the imports of the project, newest first."""
    rows = Import.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER)).select_related("job")
    return page_of(
        request, rows.filter(format=query.format) if query.format else rows, query, import_out, order=query.order
    )


@router.post("", response=writes(ImportOut, 202))
@once
def create_import(
    request: HttpRequest,
    slug: Slug,
    body: Form[ImportIn],
    records: UploadedFile | None = File(None),  # noqa: B008
    videos: list[UploadedFile] | None = File(None),  # noqa: B008
) -> Status:
    """Send a file of records, videos, or both.

    `address`: of records on the Hugging Face Hub, hf://datasets/…, instead of `records`. Format `videos`: only videos;
    `auto`: a table or JSON lines, by the file's name; `table`: any table, with the name of a `recipe` of Foilworks or a
    recipe as JSON in `mapping`. `as_published`: items of a published set count as valid on the publisher's word, unless
    the file's votes decide. A job writes the `preview`, and confirming the import stores it; `at_once` stores without a
    preview. The result lists invalid records; valid ones are stored.
    """
    project = get_project(request.user, slug, Role.RESEARCHER)
    form = ImportForm(request.POST, request.FILES)
    cleaned(form)
    return Status(202, import_out(receive_import(request.user, project, **form.parameters(), at_once=body.at_once)))


@router.get("/{int:pk}", response=reads(ImportOut))
def read_import(request: HttpRequest, slug: Slug, pk: int) -> ImportOut:
    """Get one import, with its preview and its result."""
    return import_out(get_import(request.user, slug, pk))


@router.post("/{int:pk}/confirm", response=writes(ImportOut, 202))
@once
def confirm_import(request: HttpRequest, slug: Slug, pk: int, query: Query[Confirmed]) -> Status:
    """Store the previewed records."""
    upload = get_import(request.user, slug, pk)
    return Status(202, import_out(confirming.confirm_import(request.user, upload, update=query.update)))


@router.delete("/{int:pk}", response=writes(None, 204))
@once
def discard_import(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Discard the files; the project does not change."""
    confirming.discard_import(request.user, get_import(request.user, slug, pk))
    return Status(204, None)


@router.post("/{int:pk}/columns", response=writes(ImportOut, 202))
@once
def map_import(request: HttpRequest, slug: Slug, pk: int, body: Mapping) -> Status:
    """Map the columns of a table with a recipe; a job previews the records again."""
    return Status(202, import_out(map_columns(request.user, get_import(request.user, slug, pk), body.mapping)))


@router.post("/{int:pk}/undo", response=writes(ImportOut, 202))
@once
def undo_import(request: HttpRequest, slug: Slug, pk: int) -> Status:
    """Remove the rows that the import made, provided that nobody has worked on them yet, in a background job."""
    return Status(202, import_out(request_undo(request.user, get_import(request.user, slug, pk))))
