"""Compose multiple-choice items: a caption, captions of other videos and one hard foil."""

from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from annotation.access import subtest_for
from annotation.choices.actions.compose_choices import (
    MAX_SEED,
    Request,
    ask_for_choices,
    jobs_of,
    plan_choices,
    result_of,
)
from annotation.choices.composition_sources import composed_subtests
from foilworks.core.corpus.models import Subtest
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.shapes import Anything, Id, Slug, Word

router = Router(tags=["choices"])
EXAMPLES = 20


class ChoicesIn(Schema):
    """`random`, `hard`: the name of a subtest, or a run as `run:12`; without `hard`, the items are Random items.

    `unreviewed`: also use candidates that passed the filters of their run and that nobody has reviewed.
    """

    subtest: Id
    random: Word
    hard: Word = ""
    seed: int = Field(0, ge=0, le=MAX_SEED)
    limit: int | None = Field(None, ge=1)
    unreviewed: bool = False


class PreviewOut(Schema):
    """`left_out`: {why: number of captions}; `items`: the first new items."""

    composed: int
    existing: int
    left_out: dict[str, int]
    items: list[Anything]


class ChoicesOut(Schema):
    """`job`: the newest job that composes items; `subtests`: composed items by subtest and sources."""

    job: JobOut | None
    subtests: list[Anything]


@router.get("", response=reads(ChoicesOut))
def read_choices(request: HttpRequest, slug: Slug) -> dict[str, Any]:
    """Get the composed items by subtest, and the newest job."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return {"job": job_out(jobs_of(project).first()), "subtests": composed_subtests(project)}


@router.post("/preview", response=writes(PreviewOut))
def preview_choices(request: HttpRequest, slug: Slug, body: ChoicesIn) -> dict[str, Any]:
    """Show what composing would create; nothing is stored."""
    subtest, composition = _parse_request(request, slug, body)
    outcome = result_of(plan_choices(subtest, composition), composition)
    return {**outcome, "items": outcome["items"][:EXAMPLES]}


@router.post("", response=writes(JobOut, 202))
@once
def compose_choices(request: HttpRequest, slug: Slug, body: ChoicesIn) -> Status:
    """Compose the items that the subtest lacks; a job stores them."""
    return Status(202, job_out(ask_for_choices(request.user, *_parse_request(request, slug, body))))


def _parse_request(request: HttpRequest, slug: str, body: ChoicesIn) -> tuple[Subtest, Request]:
    subtest = subtest_for(get_project(request.user, slug, Role.RESEARCHER), body.subtest)
    return subtest, Request(**body.dict(exclude={"subtest"}))
