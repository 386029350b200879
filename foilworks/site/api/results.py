"""Read what models did on a release, and add to it: board, comparison, analyses, ladder, gate, changes, model cards."""

import json
from dataclasses import asdict
from typing import Any, Literal

from django.http import Http404
from django.utils.translation import gettext as _
from ninja import Field, Schema

from evaluation.analyses.registry import REPORTS
from evaluation.blind.actions.score_texts import score_blind
from evaluation.blind.forms import BlindScorerForm
from evaluation.blind.probes import with_people
from evaluation.board.comparison import compare
from evaluation.board.latex import as_json
from evaluation.board.leaderboard import OVERALL, board
from evaluation.cached_results.first_views import is_large
from evaluation.ladder.forms import RungScoresForm
from evaluation.ladder.ladders import ladder_of_release
from evaluation.open_answers.actions.open_answers import judge_sample
from evaluation.open_answers.boards import sample_of
from evaluation.open_answers.models import OpenAnswerSet
from evaluation.proximity.actions.measure_proximity import measure_proximity
from evaluation.proximity.forms import ProximityForm
from evaluation.proximity.stored_proximity import proximity_runs
from evaluation.releases.background import request_preview, stored_preview
from evaluation.releases.changelog import compared
from evaluation.releases.changes import changes, previous_of, shifts, unscored
from evaluation.releases.freezable import Preview, preview
from evaluation.releases.models import ReleaseGate
from evaluation.reports.analysis_pages import PAGES
from evaluation.reports.reports import release_analysis
from evaluation.scoring.access import get_run
from evaluation.scoring.actions.models import describe_model
from evaluation.scoring.actions.rungs import add_controls, import_rung_scores
from evaluation.scoring.figures import require_figures
from evaluation.scoring.forms import ModelCardForm
from evaluation.scoring.model_cards import card_of
from evaluation.scoring.models import ModelCard
from evaluation.scoring.run_results import axes_of
from evaluation.scoring.rungs import FRAMES_TRIED, LOOKS
from evaluation.scoring.served.served_results import answers_of, raw_answers
from foilworks.core.corpus.access import get_release
from foilworks.core.corpus.models import Release
from foilworks.core.projects.access import get_row, or_404
from foilworks.core.projects.models import Role, User
from foilworks.site.api.answers import RefusedFields
from foilworks.site.api.imports import job_out
from foilworks.site.api.paging import Listed, Page, page_of
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.scoring import ScoringOut, scoring_out
from foilworks.site.api.shapes import Anything, Id, Word

RELEASE, RUN = "/releases/{int:pk}", "/scoring/{int:pk}"


class BoardAsked(Schema):
    """`partly`: also rank models with too many unreadable answers."""

    column: Word = ""
    scope: Word = OVERALL
    partly: bool = False


class ComparisonAsked(Schema):
    """`a`, `b`: scoring runs of the release."""

    a: Id
    b: Id
    column: Word = ""
    scope: Word = OVERALL


class ChangesAsked(Schema):
    """`before`: an earlier release; without it, the previous one."""

    before: Id | None = None


class NextAsked(Schema):
    """As for a new release."""

    ladder_runs: list[Id] = Field([], max_length=100)
    needs: Literal["", "clip", "frames", "order"] = ""


class NextIn(Schema):
    ladder_runs: list[Id] = Field([], max_length=100)


class ControlsIn(Schema):
    """`looks`: score each item several times."""

    looks: bool = False


def _figures(call: Call) -> Release:
    """Return the release, whose results are stored."""
    release: Release = call.row
    require_figures(release)
    return release


def _board(call: Call) -> Any:
    asked = call.query
    return json.loads(as_json(board(_figures(call), asked.column, asked.scope, with_partly=asked.partly)))


def _comparison(call: Call) -> dict[str, Any]:
    asked, release = call.query, _figures(call)
    a, b = (get_run(call.person, call.slug, pk) for pk in (asked.a, asked.b))
    if {a.release_id, b.release_id} != {release.pk}:
        raise RefusedFields({"a": _("A and B must be scoring runs of this release.")})
    result, axes = compare(a, b, asked.column or board(release).column, asked.scope), axes_of(release)
    outcomes = {name: [axes.ids[k] for k in positions] for name, positions in result.outcomes.items()}
    return {"columns": result.columns, "outcomes": outcomes}


def _analysis(call: Call) -> dict[str, Any]:
    release = _figures(call)
    if call.kind not in PAGES:
        raise Http404(_("Analysis not found."))
    return release_analysis(release, call.kind, call.request.GET.dict())


def _analyses(call: Call) -> list[dict[str, Any]]:
    """Return the same for every release."""
    return [
        {"kind": kind, "title": str(page.title), "params": [param.name for param in REPORTS[kind].params]}
        for kind, page in PAGES.items()
    ]


def _changes(call: Call) -> dict[str, Any]:
    release: Release = call.row
    earlier = Release.objects.filter(project=release.project, pk__lt=release.pk)
    chosen = earlier.filter(pk=call.query.before).first() if call.query.before else previous_of(release)
    before = or_404(chosen, _("There is no earlier release to compare with."))
    return {
        "before": before.pk,
        "items": asdict(changes(before, release)),
        "scores": [asdict(row) for row in shifts(before, release)],
        "unscored": [{"run": row.run.pk, "n_missing": row.n_missing} for row in unscored(before, release)],
        "reported": compared(before, release).get("reported", []),
    }


def _gate(call: Call) -> dict[str, Any]:
    gate = or_404(ReleaseGate.objects.filter(release=call.row).first(), _("This release has no blind audit."))
    return {**gate.data, "rows": with_people(call.row, gate.data["rows"])}


def _next_release(call: Call) -> dict[str, Any]:
    """Return what the next release would be; of a large project, what the last job found of it."""
    runs = call.query.ladder_runs
    stored = stored_preview(call.project, runs) if is_large(call.project) else None
    found = (stored.preview or Preview()) if stored else preview(call.project, runs, call.query.needs)
    ladder = found.ladder and asdict(found.ladder)
    return {"gate": found.gate, "ladder": ladder, "is_at_work": bool(stored and stored.is_at_work)}


def _ask_next_release(call: Call) -> dict[str, Any]:
    request_preview(call.project, call.body["ladder_runs"])
    return {}


def _card(call: Call) -> ModelCard:
    return describe_model(call.person, call.row, **call.values)


def _controls(call: Call) -> dict[str, Any]:
    tried = call.row.params.get("ladder", {}).get("tried", FRAMES_TRIED)
    return scoring_out(add_controls(call.person, call.row, tried, LOOKS if call.body["looks"] else 1))


def _rung_scores(call: Call) -> dict[str, Any]:
    fields = call.values
    return scoring_out(import_rung_scores(call.person, call.row, fields.pop("rung"), fields.pop("scores"), **fields))


def _answers(call: Call) -> dict[str, Any]:
    public = answers_of(call.row).filter(position__lt=call.row.release.n_public)
    page = page_of(call.request, public, call.query, lambda row: row)
    return {**page, "items": [answer.as_json() for answer in raw_answers(call.row, page["items"])]}


def _proximity(call: Call) -> dict[str, Any]:
    fields = call.values
    return {"id": measure_proximity(call.person, call.row, fields.pop("model"), **fields).pk}


def _answer_set(person: User, slug: str, pk: int) -> OpenAnswerSet:
    rows = OpenAnswerSet.objects.select_related("release__project", "job")
    return get_row(rows, person, slug, Role.RESEARCHER, at="release__project", pk=pk)


def _sample(call: Call) -> dict[str, Any]:
    names = ("pk", "question", "reference", "text")
    answers = [{name: getattr(answer, name) for name in names} for answer in sample_of(call.row, call.person)]
    return {"answers": answers}


def _judge_sample(call: Call) -> dict[str, int]:
    return {"stored": judge_sample(call.person, call.row, call.body["verdicts"])}


class VerdictsIn(Schema):
    """Whether the answer is right, by the `pk` that the sample has."""

    verdicts: dict[Id, bool] = Field(min_length=1, max_length=1000)


CardOut = shape_of(ModelCard, *ModelCardForm.Meta.fields)
rows = Rows("results")
rows.read(
    "/next-release",
    "preview_release",
    "Get what blocks the next release and what its items need; for a large project, the result of the last job.",
    _next_release,
    query=NextAsked,
)
rows.write(
    "/next-release",
    "check_release",
    "Check the next release of a large project in a background job.",
    _ask_next_release,
    body=NextIn,
    status=202,
)
rows.read(
    f"{RELEASE}/board", "read_board", "Get the leaderboard of a release.", _board, get=get_release, query=BoardAsked
)
rows.read(
    f"{RELEASE}/comparison",
    "compare_runs",
    "Compare two scoring runs of a release: differences, their certainty, and items by outcome.",
    _comparison,
    get=get_release,
    query=ComparisonAsked,
)
rows.read(
    f"{RELEASE}/ladder",
    "read_release_ladder",
    "Get what the items of a release need, over all models with a ladder; null without one.",
    lambda call: {"ladder": ladder_of_release(_figures(call))},
    get=get_release,
)
rows.read(
    f"{RELEASE}/analyses",
    "list_analyses",
    "List the analyses of the models of a release, with the parameters that each takes.",
    _analyses,
    list[Anything],
    get=get_release,
)
rows.read(
    f"{RELEASE}/analyses/{{slug:kind}}",
    "read_analysis",
    "Get one analysis of the models of a release; its parameters are those in the list of analyses.",
    _analysis,
    get=lambda person, slug, pk, _kind: get_release(person, slug, pk),
    is_open=True,
)
rows.read(f"{RELEASE}/gate", "read_gate", "Get the blind audit of a release, as it was frozen.", _gate, get=get_release)
rows.read(
    f"{RELEASE}/changes",
    "read_changes",
    "Compare a release with an earlier one: items, scores of models, reported items.",
    _changes,
    get=get_release,
    query=ChangesAsked,
)
rows.read(
    f"{RELEASE}/proximity",
    "list_proximity",
    "List the measurements of semantic proximity of a release.",
    lambda call: [{"id": run.pk, "label": str(run), "job": job_out(run.job)} for run in proximity_runs(call.row)],
    list[Anything],
    get=get_release,
)
rows.write(
    f"{RELEASE}/proximity",
    "measure_proximity",
    "Measure the semantic proximity of a release's foils, in a background job.",
    _proximity,
    form=ProximityForm,
    status=202,
    get=get_release,
)
rows.write(
    f"{RUN}/controls",
    "add_controls",
    "Score the other rungs of the evidence ladder, in a background job.",
    _controls,
    body=ControlsIn,
    shape=ScoringOut,
    status=202,
    get=get_run,
)
rows.write(
    f"{RUN}/rungs",
    "bring_rung_scores",
    "Import scores of one rung of the evidence ladder; a job stores them.",
    _rung_scores,
    form=RungScoresForm,
    files=("scores",),
    shape=ScoringOut,
    status=202,
    get=get_run,
)
rows.read(
    f"{RUN}/card",
    "read_model_card",
    "Get the card of a run's model.",
    lambda call: card_of(call.row),
    CardOut,
    get=get_run,
)
rows.write(
    f"{RUN}/card",
    "change_model_card",
    "Describe the model of a run.",
    _card,
    method="patch",
    form=ModelCardForm,
    make=lambda call, data: ModelCardForm(data, instance=card_of(call.row)),
    shape=CardOut,
    get=get_run,
)
rows.read(
    f"{RUN}/answers",
    "list_answers",
    "List the raw answers of a served model.",
    _answers,
    Page[Anything],
    get=get_run,
    query=Listed,
)
rows.write(
    "/blind/models",
    "score_texts",
    "Score all texts with a language model that sees no clip, in a background job.",
    lambda call: {"label": score_blind(call.person, call.project, call.form.cleaned_data["spec"]).label},
    form=BlindScorerForm,
    status=202,
)
rows.read(
    "/open-answers/{int:pk}/sample",
    "read_answer_sample",
    "Get the answers of a sample that you have not judged, without the judge's verdicts.",
    _sample,
    get=_answer_set,
)
rows.write(
    "/open-answers/{int:pk}/sample",
    "judge_answer_sample",
    "Mark which answers of a sample are right.",
    _judge_sample,
    body=VerdictsIn,
    get=_answer_set,
)
