"""Tune text-to-text models on the train captions of a project, and read the tunings."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Slug
from generation.access import get_tuning
from generation.actions import runs as actions
from generation.model_presence import check_named
from generation.models import Tuning

router = Router(tags=["tunings"])


class TuningIn(Schema):
    """`params`: as on the page; `model` is the model to tune."""

    params: Anything = {}
    seed: int = Field(0, ge=0, le=2**63 - 1)


class TuningOut(Schema):
    """`losses`: [step, mean loss since the last point]. `folder`: the parameter `model` of a run; empty until then."""

    id: int
    base_model: str
    params: Anything
    seed: int
    captions: int
    steps: int
    losses: list[list[float]]
    folder: str
    job: JobOut | None
    created_at: datetime


class TuningsAsked(Listed):
    order: Literal["id", "-id"] = "-id"


def tuning_out(tuning: Tuning) -> dict[str, Any]:
    fields = {name: getattr(tuning, name) for name in TuningOut.model_fields if name not in {"id", "job"}}
    return {"id": tuning.pk, "job": job_out(tuning.job), **fields}


@router.get("", response=reads(Page[TuningOut]))
def list_tunings(request: HttpRequest, slug: Slug, query: Query[TuningsAsked]) -> dict[str, Any]:
    """List the tunings of the project, newest first."""
    rows = Tuning.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER)).select_related("job")
    return page_of(request, rows, query, tuning_out, order=query.order)


@router.post("", response=writes(TuningOut, 202))
@once
def start_tuning(request: HttpRequest, slug: Slug, body: TuningIn) -> Status:
    """Start a tuning; a job tunes the model on the train captions."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    check_named(str(body.params.get("model", "")))
    return Status(202, tuning_out(actions.start_tuning(request.user, project, **body.dict())))


@router.get("/{int:pk}", response=reads(TuningOut))
def read_tuning(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get one tuning, with its losses so far."""
    return tuning_out(get_tuning(request.user, slug, pk))
