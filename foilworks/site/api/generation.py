"""Steer what makes foils and captions: previews, thresholds, prompts, selections, runs of caption makers."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from ninja import Schema

from foilworks.core.projects.audit_trail.recording import events_of
from foilworks.core.text.registry import lookup, parse_params
from foilworks.site.api.answers import RefusedFields, cleaned
from foilworks.site.api.page_forms import body_of, filled, values_of
from foilworks.site.api.rows import Call, Rows, shape_of
from foilworks.site.api.runs import CandidateOut, RunIn, candidate_out, request_of
from foilworks.site.api.shapes import Anything, Word
from generation.access import get_candidate, get_caption_run, get_run, get_selection
from generation.actions import runs as actions
from generation.actions.selections import apply_selection, move_thresholds, start_selection
from generation.actions.write_prompt import write_prompt
from generation.captioning.registry import CAPTIONERS
from generation.default_filters import default_filters
from generation.filters.registry import FILTERS
from generation.forms import CaptionForm
from generation.instruction_models.forms import PromptForm
from generation.instruction_models.prompts import PROMPTS
from generation.methods.registry import METHODS
from generation.models import PromptTemplate, Selection
from generation.models.side_work import CaptionRun
from generation.run_counts import without_foil
from generation.run_preview import preview_draw, preview_run
from generation.selections.forms import SelectionForm
from generation.thresholds.forms import ThresholdForm

SelectionOut = shape_of(
    Selection, "id", "subtest", "run", "kind", "params", "seed", "result", "moved", "created_at", "applied_at", job=True
)
CaptionRunOut = shape_of(
    CaptionRun, "id", "maker", "maker_version", "mode", "params", "seed", "sources", "split", "preview", "asked_at",
    "stored", "known", "skipped", "created_at", job=True,
)  # fmt: skip
PromptOut = shape_of(PromptTemplate, "slug", "version", "system", "question", "examples", "sha256", "created_at")


class DrawAsked(Schema):
    """`draw`: instead, how much of the foils the audit's solver answers from their texts."""

    draw: bool = False


class SkippedOut(Schema):
    caption: int
    text: str
    video: str
    why: str


class ThresholdsIn(Schema):
    """A number for each filter; null keeps the filter's verdicts."""

    thresholds: dict[Word, float | None]


class CandidateDetail(CandidateOut):
    scores: list[Anything]
    history: list[Anything]


def _preview(call: Call) -> dict[str, Any]:
    asked = request_of(call.project, RunIn(**call.body))
    params = parse_params(lookup(METHODS, asked.method, "method"), asked.params or {})
    chosen = default_filters(asked.method, asked.mode) if asked.filters is None else asked.filters
    filters: dict[str, Any] = {slug: {} for slug in chosen} | dict(asked.filters or {})
    parsed = {slug: parse_params(lookup(FILTERS, slug, "filter"), own) for slug, own in filters.items()}
    show = preview_draw if call.query.draw else preview_run
    found = show(call.project, replace(asked, params=params, filters=parsed))
    return asdict(found) if found else {}


def _candidate(call: Call) -> dict[str, Any]:
    candidate = call.row
    scores = candidate.filter_scores.order_by("passed", "filter").values("filter", "score", "passed", "detail")
    history = events_of(candidate).values("at", "action", "from_state", "to_state", "reason")
    return {**candidate_out(candidate).dict(), "scores": list(scores), "history": list(history)}


def _thresholds(call: Call) -> dict[str, Any]:
    return {"thresholds": values_of(ThresholdForm(call.row)), "filters": call.row.filters}


def _move_thresholds(call: Call) -> dict[str, Any]:
    form = filled(lambda data: ThresholdForm(call.row, data), call.body["thresholds"])
    moved = move_thresholds(call.person, call.row, form.thresholds())
    return {"restored": moved.n_back, "held_back": moved.n_leave}


def _select(call: Call) -> Selection:
    fields = call.values
    return start_selection(call.person, fields.pop("subtest"), fields.pop("kind"), **fields)


def prefixed(prefix: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as the fields of a form that a prefix tells apart; lists and tables are JSON there."""
    return {
        f"{prefix}-{name}": json.dumps(value) if isinstance(value, list | dict) else value
        for name, value in params.items()
    }


def _preview_captions(call: Call) -> CaptionRun:
    sent = dict(call.body)
    params, maker = sent.pop("params", None) or {}, str(sent.get("maker", ""))
    known = {param.name for param in CAPTIONERS[maker].params} if maker in CAPTIONERS else set(params)
    if unknown := params.keys() - known:
        raise RefusedFields({f"params.{name}": "is not a parameter of this caption maker" for name in unknown})
    initial = {**values_of(CaptionForm(maker=maker if maker in CAPTIONERS else next(iter(CAPTIONERS)))), **sent}
    form = CaptionForm({**initial, **prefixed("maker", params)})
    cleaned(form)
    fields = {name: form.cleaned_data[name] for name in ("maker", "mode", "sources", "split", "seed")}
    return actions.preview_captions(call.person, call.project, params=form.params.values(), **fields)


rows = Rows("generation")
rows.write(
    "/runs/preview",
    "preview_run",
    "Show what a run would make of a few captions; nothing is stored, no model is loaded.",
    _preview,
    body=RunIn,
    query=DrawAsked,
)
rows.listed(
    "/runs/{int:pk}/skipped",
    "list_skipped",
    "List the captions without a foil, or with fewer than requested.",
    lambda call: without_foil(call.row),
    SkippedOut,
    orders=("id", "-id"),
    filters={"skipped_why": Word},
    out=lambda group: {
        "caption": group.caption_id,
        "text": group.caption.text,
        "video": group.caption.video.key,
        "why": group.skipped_why,
    },
    get=get_run,
)
rows.read(
    "/runs/{int:pk}/thresholds", "read_thresholds", "Get the movable thresholds of a run.", _thresholds, get=get_run
)
rows.write(
    "/runs/{int:pk}/thresholds",
    "move_thresholds",
    "Move thresholds: candidates that nobody has started on are restored or held back.",
    _move_thresholds,
    method="patch",
    body=ThresholdsIn,
    get=get_run,
)
rows.read(
    "/candidates/{int:pk}",
    "read_candidate",
    "Get one candidate with the scores of its filters and its history.",
    _candidate,
    CandidateDetail,
    get=get_candidate,
)
rows.listed(
    "/prompts",
    "list_prompts",
    "List the project's own prompts for instruction models.",
    lambda call: PromptTemplate.objects.filter(project=call.project),
    PromptOut,
)
rows.read(
    "/prompts/built-in",
    "list_built_in_prompts",
    "List the built-in prompts.",
    lambda call: [asdict(prompt) for prompt in PROMPTS.values() if call.project],
    list[Anything],
)
rows.write(
    "/prompts",
    "write_prompt",
    "Save the next version of a prompt; versions never change.",
    lambda call: write_prompt(call.person, call.project, **call.values),
    form=PromptForm,
    shape=PromptOut,
    status=201,
)
rows.listed(
    "/selections",
    "list_selections",
    "List the balanced selections, newest first.",
    lambda call: Selection.objects.filter(project=call.project).select_related("job"),
    SelectionOut,
)
rows.write(
    "/selections",
    "start_selection",
    "Select candidates so that text alone does not give away the answers; a job computes it.",
    _select,
    form=SelectionForm,
    make=lambda call, data: SelectionForm(call.project, data),
    shape=SelectionOut,
    status=202,
)
rows.read(
    "/selections/{int:pk}",
    "read_selection",
    "Get one selection.",
    lambda call: call.row,
    SelectionOut,
    get=get_selection,
)
rows.write(
    "/selections/{int:pk}/apply",
    "apply_selection",
    "Apply a computed selection: waiting candidates outside it are held back.",
    lambda call: apply_selection(call.person, call.row),
    shape=SelectionOut,
    get=get_selection,
)
rows.listed(
    "/caption-runs",
    "list_caption_runs",
    "List the runs of caption makers, newest first.",
    lambda call: CaptionRun.objects.filter(project=call.project).select_related("job"),
    CaptionRunOut,
)
rows.write(
    "/caption-runs",
    "preview_captions",
    "Preview the captions of a caption maker, in a background job. `params`: as `methods` lists them.",
    _preview_captions,
    body=body_of(CaptionForm, "CaptionRunIn", params=(Anything, {})),
    shape=CaptionRunOut,
    status=202,
)
rows.read(
    "/caption-runs/{int:pk}",
    "read_caption_run",
    "Get one run of a caption maker, with its preview.",
    lambda call: call.row,
    CaptionRunOut,
    get=get_caption_run,
)
rows.write(
    "/caption-runs/{int:pk}/make",
    "make_captions",
    "Store the previewed captions, in a background job.",
    lambda call: actions.make_captions(call.person, call.row),
    shape=CaptionRunOut,
    status=202,
    get=get_caption_run,
)
