"""Preview a run in a web process: a rule method and the filters by rules, on a few captions of the project.

Nothing is stored. No model, spaCy pipeline or plug-in is loaded, and at most LEARNT captions are read.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from foilworks.core.projects.models import Project
from foilworks.core.solver.questions import Row
from foilworks.core.text.diff import diff_segments
from foilworks.core.text.language.tagger_names import check_tagger
from foilworks.core.text.registry import Entry
from generation import pipeline
from generation.batch_storage import known_foils
from generation.filters.registry import FILTERS, needs_weights
from generation.methods.registry import METHODS
from generation.models import PERSON_METHOD, GenerationRun
from generation.pipeline import Outcome, Step
from generation.records import CaptionInput
from generation.run_captions import RunCaptions, Selected, with_last_caption
from generation.run_request import FoilRequest

SHOWN, FOILS_PER_CAPTION, LEARNT = 8, 3, 500
# Captions whose foils the solver answers: more take longer than a page may.
MEASURED = 2_000
# Parameters of rule methods that add a model; empty means none.
MODELS = ("model", "detector")
Segments = list[tuple[str, str]]
SolvedRow = Mapping[str, Any]


@dataclass(frozen=True)
class ShownFoil:
    """A foil as its difference from the caption, and the filters that reject it."""

    segments: Segments
    rejected_by: tuple[str, ...]


@dataclass(frozen=True)
class ShownCaption:
    """A caption with its first foils, how many more there are, and why some or all are missing."""

    text: str
    foils: tuple[ShownFoil, ...]
    more: int
    why: tuple[str, ...]


@dataclass
class Preview:
    """The preview of a run over `n_captions` captions. `expected`: foils of the whole run, in proportion.

    `rejections`: (filter, foils it rejects). `not_run`: filters that only the run applies. `sampled`: the run reads
    more captions than the preview, so a method that learns from them can make other foils.
    """

    n_captions: int
    rows: list[ShownCaption] = field(default_factory=list)
    n_with_foil: int = 0
    n_passed: int = 0
    expected: int = 0
    rejections: list[tuple[str, int]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    sampled: bool = False
    needs_model: bool = False
    offline_tagger: bool = False


@dataclass(frozen=True)
class DrawPreview:
    """What a run makes of `n_captions` captions without and with the balanced draw, and how much of it texts answer.

    `n_without`, `n_with`: captions with a foil. `without`, `with_draw`: rows of the solver (solver/pairs.py), as the
    audit reads them; with one foil per caption. `left_out`: (why, captions). `is_drawn`: the run has the filter.
    """

    n_captions: int
    n_without: int
    without: SolvedRow
    is_drawn: bool = False
    n_with: int = 0
    with_draw: SolvedRow = field(default_factory=dict)
    left_out: Sequence[tuple[str, int]] = ()


def needs_model(entry: Entry, params: Mapping[str, Any]) -> bool:
    """Return whether the method cannot run in a web process with these parameters."""
    if entry.kind not in ("rule", "people"):
        return True
    return any(params.get(name) for name in MODELS)


def preview_run(project: Project, request: FoilRequest) -> Preview:
    """Preview the run that `start_run` would start. ActionableError: a parameter is invalid."""
    run = _unsaved_run(project, request)
    if needs_model(METHODS[request.method], run.params):
        return Preview(len(RunCaptions(run)), needs_model=True)
    return _previewed(run)


def preview_draw(project: Project, request: FoilRequest) -> DrawPreview | None:
    """Preview what texts give away of the first MEASURED captions' foils; None if the method needs a model.

    ActionableError: a parameter is invalid.
    """
    run = _unsaved_run(project, request)
    if needs_model(METHODS[request.method], run.params) or request.method == PERSON_METHOD:
        return None
    read_captions = list(islice(RunCaptions(run).selected(), MEASURED))
    ignored = Preview(0)
    filters = _filters(run, [selected.caption_input for selected in read_captions], ignored)
    outcomes = _outcomes(run, read_captions, read_captions, filters, ignored)
    step = next((step for step in filters if pipeline.draws(step)), None)
    n_without, without = _solved(outcomes, run.seed)
    if step is None:
        return DrawPreview(len(read_captions), n_without, without)
    drawn = pipeline.draw(outcomes, step, seed=run.seed)
    n_with, with_draw = _solved(drawn, run.seed)
    reasons = tuple(pipeline.left_out(drawn).items())
    return DrawPreview(len(read_captions), n_without, without, True, n_with, with_draw, reasons)


def _solved(outcomes: Sequence[Outcome], seed: int) -> tuple[int, SolvedRow]:
    """Return the number of captions with a foil, and the solver's row for one foil of each, drawn at random."""
    # Imported here: the solver's library takes long to load, and few pages need it.
    from foilworks.core.solver.pairs import OVERALL, UNSOLVED, solve_pairs

    generator = random.Random(seed)
    rows = []
    for outcome in outcomes:
        foils = [judged.draft.foil for judged in outcome.foils if not judged.rejected_by]
        if foils:
            video = outcome.caption.video or outcome.caption.id
            rows.append(Row(outcome.caption.text, (generator.choice(foils),), video=video))
    return len(rows), solve_pairs(rows).get(OVERALL, UNSOLVED)


def _unsaved_run(project: Project, request: FoilRequest) -> GenerationRun:
    params = dict(request.params or {})
    run = GenerationRun(
        project=project,
        subtest=request.subtest,
        method=request.method,
        mode=request.mode,
        seed=request.seed,
        params=params,
        selection=with_last_caption(request.subtest, dict(request.selection or {})),
        filters=[{"slug": slug, "params": values} for slug, values in (request.filters or {}).items()],
    )
    if request.method == PERSON_METHOD:
        run.params = {**params, "foils": params["foils"] or request.subtest.foils_per_item}
    return run


def _previewed(run: GenerationRun) -> Preview:
    captions = RunCaptions(run)
    read_captions = list(islice(captions.selected(), LEARNT))
    n_captions = len(captions)
    # Spread over what was read: the first captions are often all of one video.
    sample = read_captions[:: max(1, len(read_captions) // SHOWN)][:SHOWN]
    preview = Preview(n_captions, sampled=n_captions > len(read_captions))
    filters = _filters(run, [selected.caption_input for selected in read_captions], preview)
    outcomes = _outcomes(run, read_captions, sample, filters, preview)
    _count(preview, outcomes)
    return preview


def _offline(params: Mapping[str, Any], preview: Preview) -> dict[str, Any]:
    """Return the parameters with the tagger by rules instead of spaCy, which no web process loads."""
    tagger_name = str(params.get("tagger", "offline"))
    check_tagger(tagger_name)
    if tagger_name == "offline":
        return dict(params)
    preview.offline_tagger = True
    return {**params, "tagger": "offline"}


def _filters(run: GenerationRun, read_captions: Sequence[CaptionInput], preview: Preview) -> list[Step]:
    steps = []
    for row in run.filters:
        entry = FILTERS[row["slug"]]
        if needs_weights(entry) or entry.origin:
            preview.not_run.append(entry.label)
            continue
        step = Step.of(FILTERS, row["slug"], "filter", _offline(row["params"], preview))
        if not hasattr(step.module, "prepare"):
            steps.append(step)
        elif preview.sampled:
            # It counts words of all captions, and a part of them would give other verdicts.
            preview.not_run.append(entry.label)
        else:
            state = step.module.prepare(read_captions, params=dict(step.params))
            steps.append(Step(step.slug, step.module, step.params, state=state))
    return steps


def _outcomes(
    run: GenerationRun,
    read_captions: Sequence[Selected],
    sample: Sequence[Selected],
    filters: Sequence[Step],
    preview: Preview,
) -> list[Outcome]:
    method = Step.of(METHODS, run.method, "method", _offline(run.params, preview))
    if any(map(pipeline.draws, filters)):
        method = pipeline.before_draw(method)
    state = pipeline.prepare(
        method, [selected.caption_input for selected in read_captions], mode=run.mode, seed=run.seed
    )
    inputs = [selected.caption_input for selected in sample]
    existing_foils = known_foils(run, inputs, {selected.caption_input.id: selected.row for selected in sample})
    return list(
        pipeline.run(
            method, inputs, filters=filters, mode=run.mode, seed=run.seed, state=state, known_foils=existing_foils
        )
    )


def _count(preview: Preview, outcomes: Sequence[Outcome]) -> None:
    rejections: Counter[str] = Counter()
    blanks = 0
    for outcome in outcomes:
        n_passed = sum(not judged.rejected_by for judged in outcome.foils)
        preview.n_passed += n_passed
        preview.n_with_foil += bool(n_passed)
        rejections.update(slug for judged in outcome.foils for slug in judged.rejected_by)
        blanks += outcome.blanks
        preview.rows.append(_row(outcome))
    preview.rejections = [(FILTERS[slug].label, n) for slug, n in rejections.most_common()]
    if outcomes:
        preview.expected = round((preview.n_passed + blanks) * preview.n_captions / len(outcomes))


def _row(outcome: Outcome) -> ShownCaption:
    text = outcome.caption.text
    foils = tuple(
        ShownFoil(diff_segments(text, judged.draft.foil), tuple(FILTERS[slug].label for slug in judged.rejected_by))
        for judged in outcome.foils[:FOILS_PER_CAPTION]
    )
    why = tuple(dict.fromkeys((*outcome.skipped, *outcome.missing)))
    return ShownCaption(
        text, foils, max(0, len(outcome.foils) - len(foils)), why if outcome.skipped or not foils else ()
    )
