"""Start and read generation runs: a method applied to the captions of a project, and its candidates."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Field, Query, Router, Schema, Status

from annotation.access import subtest_for
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Project, Role
from foilworks.site.api.answers import reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.shapes import Anything, Id, Slug, Word
from generation.access import get_run
from generation.actions import benchmarks
from generation.actions import runs as actions
from generation.errors import GenerationError
from generation.models import Candidate, GenerationRun
from generation.recipes import find_recipe
from generation.run_counts import candidates_of, state_counts
from generation.run_request import FoilRequest

router = Router(tags=["runs"])


class RunIn(Schema):
    """`params`: of the method; `filters`: {slug: params} in the order they run; omit it for the default filters.

    `recipe` instead of `method`: those of a published subtest; `params` and `filters` then override its values.
    """

    subtest: Id
    method: Word = ""
    recipe: Word = ""
    mode: Word = "corrected"
    params: Anything = {}
    filters: dict[str, Anything] | None = None
    seed: int = Field(0, ge=0, le=2**63 - 1)
    selection: Anything = {}


class BenchmarkIn(Schema):
    """`benchmark`: such as "temporal". `selection`: the captions, as of a run."""

    benchmark: Word
    seed: int = Field(0, ge=0, le=2**63 - 1)
    selection: Anything = {}


class RunOut(Schema):
    id: int
    subtest: str
    method: str
    method_version: str
    mode: str
    params: Anything
    filters: list[Anything]
    seed: int
    selection: Anything
    skipped: dict[str, int]
    job: JobOut | None
    created_at: datetime


class RunDetail(RunOut):
    candidates: dict[str, int]


class RunsAsked(Listed):
    order: Literal["id", "-id"] = "-id"
    method: Word = ""
    subtest: Id | None = None


class CandidateOut(Schema):
    id: int
    caption: str
    text: str
    state: str
    rank: int
    span: Annotated[list[int], Field(min_length=2, max_length=2)]
    model: str
    rejected_by: list[Any]
    unreviewed: bool


class CandidatesAsked(Listed):
    order: Literal["id", "-id"] = "id"
    state: (
        Literal[
            "generated",
            "filtered_out",
            "queued",
            "editing",
            "in_review",
            "returned",
            "accepted",
            "dropped",
            "superseded",
        ]
        | None
    ) = None
    rejected_by: Word = Field("", description="filter that rejected it")


def run_out(run: GenerationRun) -> dict[str, Any]:
    fields = {name: getattr(run, name) for name in RunOut.model_fields if name not in {"id", "subtest", "job"}}
    return {"id": run.pk, "subtest": run.subtest.name, "job": job_out(run.job), **fields}


def candidate_out(candidate: Candidate) -> CandidateOut:
    return CandidateOut(
        id=candidate.pk,
        caption=candidate.group.caption.text,
        text=candidate.text,
        state=candidate.state,
        rank=candidate.rank,
        span=(candidate.span_start, candidate.span_end),
        model=candidate.model_id,
        rejected_by=candidate.rejected_by,
        unreviewed=candidate.unreviewed,
    )


@router.get("", response=reads(Page[RunOut]))
def list_runs(request: HttpRequest, slug: Slug, query: Query[RunsAsked]) -> dict[str, Any]:
    """List the runs of the project, newest first."""
    rows = GenerationRun.objects.filter(project=get_project(request.user, slug, Role.RESEARCHER))
    if query.method:
        rows = rows.filter(method=query.method)
    if query.subtest:
        rows = rows.filter(subtest=query.subtest)
    return page_of(request, rows.select_related("subtest", "job"), query, run_out, order=query.order)


@router.post("", response=writes(RunOut, 202))
@once
def start_run(request: HttpRequest, slug: Slug, body: RunIn) -> Status:
    """Start a run; a job makes its candidates."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    return Status(202, run_out(actions.start_run(request.user, project, request_of(project, body))))


@router.post("/benchmark", response=writes(list[RunOut], 202))
@once
def start_benchmark(request: HttpRequest, slug: Slug, body: BenchmarkIn) -> Status:
    """Start the runs of a benchmark: one per kind of foil, and one of proficiency items. Missing subtests are made."""
    project = get_project(request.user, slug, Role.RESEARCHER)
    settings = {"seed": body.seed, "selection": body.selection}
    return Status(
        202, [run_out(run) for run in benchmarks.start_benchmark(request.user, project, body.benchmark, **settings)]
    )


def request_of(project: Project, body: RunIn) -> FoilRequest:
    """Return the run that the body asks for."""
    recipe = _of_recipe(body) if body.recipe else {}
    return FoilRequest(**{**body.dict(), "subtest": subtest_for(project, body.subtest), **recipe})


def _of_recipe(body: RunIn) -> dict[str, Any]:
    recipe = find_recipe(body.recipe)
    if body.method not in ("", recipe.method):
        raise GenerationError(
            _("The recipe %(recipe)s uses the method %(method)s. Omit the method, or the recipe.")
            % {"recipe": body.recipe, "method": recipe.method}
        )
    usual, overrides = recipe.filters_in(body.mode), body.filters or {}
    return {
        "method": recipe.method,
        "recipe": f"{body.recipe}@{recipe.version}",
        "params": {**recipe.params, **body.params},
        "filters": {slug: {**usual.get(slug, {}), **overrides.get(slug, {})} for slug in {**usual, **overrides}},
    }


@router.get("/{int:pk}", response=reads(RunDetail))
def read_run(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get one run, with the number of its candidates in each state."""
    run = get_run(request.user, slug, pk)
    return {**run_out(run), "candidates": dict(state_counts(run))}


@router.get("/{int:pk}/candidates", response=reads(Page[CandidateOut]))
def list_candidates(request: HttpRequest, slug: Slug, pk: int, query: Query[CandidatesAsked]) -> dict[str, Any]:
    """List the run's candidates; rejected ones with the filter that rejected them."""
    run = get_run(request.user, slug, pk)
    rows = candidates_of(run, state=query.state or "", rejected_by=query.rejected_by).select_related("group__caption")
    return page_of(request, rows, query, candidate_out, order=query.order)
