"""Score releases, read results and raw scores, and import scores of models that ran elsewhere."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import File, Form, Query, Router, Schema, Status, UploadedFile

from evaluation.ladder.ladders import ladder_of_run
from evaluation.ladder.stress_tests import stress_of_run
from evaluation.open_answers.actions.open_answers import import_open_answers
from evaluation.open_answers.boards import as_json, open_board
from evaluation.open_answers.forms import OpenAnswersForm
from evaluation.scoring.access import get_run
from evaluation.scoring.actions import import_scores as bringing
from evaluation.scoring.actions import start_run as starting
from evaluation.scoring.figures import require_figures
from evaluation.scoring.forms import BringScoresForm, ScoringForm
from evaluation.scoring.models import Run
from evaluation.scoring.queries import release_scores
from evaluation.scoring.run_request import RunRequest, checked_spec
from evaluation.scoring.run_results import is_settled, results_of
from evaluation.scoring.rung_costs import rung_costs
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.records import ReleaseScore
from foilworks.core.projects.access import get_project
from foilworks.core.projects.models import Role
from foilworks.site.api.answers import cleaned, reads, writes
from foilworks.site.api.idempotency import once
from foilworks.site.api.imports import JobOut, job_out
from foilworks.site.api.paging import Listed, Page, page_of, slice_of
from foilworks.site.api.shapes import Anything, Id, Line, Slug, Word

router = Router(tags=["scores"])


class ScoringIn(Schema):
    """`spec` names a model as on the release's page: `clip:…`, `endpoint:…` and so on.

    `control`, `standard`: also rank the caption among five others, and among the captions of all clips. `controls`:
    also score with less and less of each clip; `rungs`: names of rungs and stress tests. `requests`, `tokens`, `cost`:
    max budget of a run through an endpoint.
    """

    spec: Line
    label: Word = ""
    protocol: Word = "foilworks"
    control: bool = False
    standard: bool = False
    controls: bool = False
    rungs: list[Word] = []
    device: Word = "auto"
    requests: int | None = None
    tokens: int | None = None
    cost: float | None = None


class ScoresIn(Schema):
    form: Word = "auto"
    label: Word = ""
    protocol: Word = "foilworks"


class ScoringOut(Schema):
    id: int
    release: int
    model: str
    label: str
    model_key: str
    protocol: str
    device: str
    job: JobOut | None
    created_at: datetime


class ScoringDetail(ScoringOut):
    """A scoring run with its metrics.

    `results`: metrics by subtest, test and overall, computed from the stored scores; `problems`: items without a score.
    """

    results: Anything
    problems: Anything


class LadderOut(Schema):
    ladder: Anything | None
    stress: Anything


class OpenBoardOut(Schema):
    rows: list[Anything]


class OpenAnswersIn(Schema):
    """`columns`: as on the page, such as right=ground_truth; `judge`: endpoint:NAME/MODEL, or empty."""

    label: Word = ""
    judge: Line = ""
    columns: Line = ""


class OpenSetOut(Schema):
    id: int
    label: str
    judge: str
    job: JobOut | None


class CostAsked(Schema):
    """`rungs`: names with commas between them; empty for the usual rungs."""

    spec: Line
    rungs: Line = ""


class CostOut(Schema):
    """`rungs`: views, texts, requests, tokens and cost of each, at most; `cannot`: why the model cannot have others."""

    rungs: list[Anything]
    total: Anything
    clips: int
    cannot: dict[str, str]


class ScoringAsked(Listed):
    order: Literal["id", "-id"] = "-id"
    release: Id | None = None
    protocol: Word = ""


class ScoreOut(Schema):
    id: str
    subtest: str
    test: str
    caption: float
    foils: list[float]
    proficiency_caption: float | None
    proficiency_foils: list[float]
    higher_is_better: bool


def scoring_out(run: Run) -> dict[str, Any]:
    fields = {name: getattr(run, name) for name in ("label", "model_key", "protocol", "device", "created_at")}
    return {"id": run.pk, "release": run.release_id, "model": run.asked, "job": job_out(run.job), **fields}


def score_out(row: ReleaseScore) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ScoreOut.model_fields} | {
        "foils": list(row.foils),
        "proficiency_foils": list(row.proficiency_foils),
    }


@router.get("/scoring", response=reads(Page[ScoringOut]))
def list_scoring(request: HttpRequest, slug: Slug, query: Query[ScoringAsked]) -> dict[str, Any]:
    """List the scoring runs of the project, newest first."""
    rows = Run.objects.filter(release__project=get_project(request.user, slug, Role.RESEARCHER))
    if query.release:
        rows = rows.filter(release=query.release)
    if query.protocol:
        rows = rows.filter(protocol=query.protocol)
    return page_of(request, rows.select_related("job"), query, scoring_out, order=query.order)


@router.post("/releases/{int:pk}/scoring", response=writes(ScoringOut, 202))
@once
def start_scoring(request: HttpRequest, slug: Slug, pk: int, body: ScoringIn) -> Status:
    """Score a release with a model; a job stores the scores."""
    release = get_release(request.user, slug, pk)
    params = cleaned(ScoringForm(body.dict(), release=release))
    return Status(202, scoring_out(starting.start_run(request.user, release, RunRequest(params.pop("spec"), **params))))


@router.get("/releases/{int:pk}/rung-costs", response=reads(CostOut))
def read_rung_costs(request: HttpRequest, slug: Slug, pk: int, query: Query[CostAsked]) -> dict[str, Any]:
    """Get what rungs and stress tests would cost with a model, without running it."""
    release = get_release(request.user, slug, pk)
    names = [name.strip() for name in query.rungs.split(",") if name.strip()]
    return rung_costs(release, ":".join(checked_spec(query.spec, release.project)), names, usual=not names)


@router.get("/releases/{int:pk}/open-answers", response=reads(OpenBoardOut))
def read_open_answers(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get the board of open answers; every row names its metric, and that of a judge its agreement and cost."""
    return {"rows": as_json(open_board(get_release(request.user, slug, pk)))}


@router.post("/releases/{int:pk}/open-answers", response=writes(OpenSetOut, 202))
@once
def bring_open_answers(
    request: HttpRequest,
    slug: Slug,
    pk: int,
    body: Form[OpenAnswersIn],
    answers: UploadedFile = File(...),  # noqa: B008
) -> Status:
    """Import answers without options; with a judge, a job stores its verdicts."""
    release = get_release(request.user, slug, pk)
    params = cleaned(OpenAnswersForm(body.dict(), request.FILES))
    found = import_open_answers(request.user, release, params.pop("answers"), **params)
    return Status(202, {"id": found.pk, "label": found.label, "judge": found.judge, "job": job_out(found.job)})


@router.post("/releases/{int:pk}/scores", response=writes(ScoringOut, 202))
@once
def bring_scores(
    request: HttpRequest,
    slug: Slug,
    pk: int,
    body: Form[ScoresIn],
    scores: UploadedFile = File(...),  # noqa: B008
    proficiency: UploadedFile | None = File(None),  # noqa: B008
) -> Status:
    """Import scores of a model that ran elsewhere; a job stores them. `form`: as on the page; `auto` detects it."""
    release = get_release(request.user, slug, pk)
    params = cleaned(BringScoresForm(body.dict(), request.FILES))
    return Status(202, scoring_out(bringing.import_scores(request.user, release, params.pop("scores"), **params)))


@router.get("/scoring/{int:pk}", response=reads(ScoringDetail))
def read_scoring(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get one scoring run with its results so far."""
    run = get_run(request.user, slug, pk)
    if is_settled(run):
        require_figures(run.release)
    return {**scoring_out(run), "results": results_of(run), "problems": run.problems}


@router.get("/scoring/{int:pk}/ladder", response=reads(LadderOut))
def read_ladder(request: HttpRequest, slug: Slug, pk: int) -> dict[str, Any]:
    """Get the evidence ladder of a run: its score with less and less of the clip. `ladder` is null without controls.

    `stress`: its stress tests by name.
    """
    run = get_run(request.user, slug, pk)
    return {"ladder": ladder_of_run(run), "stress": stress_of_run(run)}


@router.get("/scoring/{int:pk}/scores", response=reads(Page[ScoreOut]))
def list_scores(request: HttpRequest, slug: Slug, pk: int, query: Query[Listed]) -> dict[str, Any]:
    """List the run's raw scores by item, in the order of the release."""
    rows, _missing = release_scores(get_run(request.user, slug, pk))
    return slice_of(request, rows, query, score_out)
