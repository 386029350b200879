"""Jobs of generation: foils, captions, selections, tuned models.

Runs are resumable: captions with a group are done, and a killed worker loses one batch. A caption maker previews the
captions of the first sources, then stores the captions of all sources in batches.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from foilworks.core.corpus.models import Caption, MediaState, Video
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.outcomes import outcome_of
from foilworks.core.jobs.progress import note, progress
from foilworks.core.jobs.spread import Partly
from foilworks.core.text.registry import load, lookup, version_of
from generation import pipeline
from generation.batch_storage import done_captions, judged_by, known_foils, store_batch
from generation.captioning.registry import CAPTIONERS
from generation.clips import with_clips
from generation.detections import detectors_of, with_objects
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.instruction_models.answer_rows import RowAnswers, run_cost
from generation.instruction_models.services import services
from generation.methods.registry import METHODS
from generation.models import CandidateGroup, GenerationRun, Selection
from generation.models.side_work import CaptionRun, CaptionSources, Tuning
from generation.pair_measures import needs_clips
from generation.records import CaptionInput, MadeCaption, Skip, most_frequent
from generation.run_captions import (
    RunCaptions,
    captions_to_learn_from,
    captions_to_plan,
    captions_to_use,
    record_excluded_captions,
    train_captions,
)
from generation.run_draw import draw_run
from generation.stored_measures import RowMeasures

BATCH = 200
LOOKED_AT = 200
SHOWN = 20
CAPTIONS_PER_BATCH = 500
MAX_KEY_LENGTH = 200
# A source: its row, the video of its captions, and the maker's input.
Source = tuple[int, int, CaptionInput]


def run_generation(run_id: int, job: Job) -> Partly | None:
    """Generate and judge the foils of the run's captions, one transaction per batch.

    It is partly done if it made no foil and no blank, or if a model did not answer for too many captions. It fails
    without any answer. GenerationError: the method or a filter has changed since the run began.
    """
    run = GenerationRun.objects.select_related("project", "subtest").get(pk=run_id)
    method, filters = _steps(run)
    trades = getattr(method.module, "NEEDS_ALL_CAPTIONS", False)
    if trades:
        record_excluded_captions(run)
    captions = RunCaptions(run)
    total = len(captions)
    progress(job, 0, total, "reading captions")
    heard = _ReplyProgress(job, total)
    method = _with_services(run, pipeline.before_draw(method) if any(map(pipeline.draws, filters)) else method, heard)
    planned = captions_to_plan(run) if trades else captions
    state = pipeline.prepare(method, planned, mode=run.mode, seed=run.seed, train=train_captions(run))
    filters = [_with_judge(run, step, heard) for step in filters]
    measures = RowMeasures(filters)
    filters = [_fitted(run, step) for step in filters]
    eyes = detectors_of([method, *filters])
    stream, done = captions.selected(), 0
    while batch := list(islice(stream, BATCH)):
        already = done_captions(run, [selected.row for selected in batch])
        rows = {selected.caption_input.id: selected.row for selected in batch if selected.row.pk not in already}
        inputs = [selected.caption_input for selected in batch if selected.caption_input.id in rows]
        inputs = with_objects(eyes, with_clips(filters, inputs, rows), rows)
        outcomes = pipeline.run(
            method,
            inputs,
            filters=filters,
            mode=run.mode,
            seed=run.seed,
            state=state,
            known_foils=known_foils(run, inputs, rows),
            measures=measures,
            batch_size=BATCH,
        )
        store_batch(run, list(outcomes), rows, measures)
        done += len(batch)
        heard.start(done)
        progress(job, done, total, "generating foils")
    for step in filter(pipeline.draws, filters):
        progress(job, total, total, "drawing foils")
        draw_run(run, step)
    return _end(run, job, total)


def _end(run: GenerationRun, job: Job, total: int) -> Partly | None:
    """Store what the run skipped and misses, and return how it ended."""
    skipped = _skipped(run)
    GenerationRun.objects.filter(pk=run.pk).update(skipped=skipped, missing=_missing(run))
    progress(job, total, total, "done")
    unanswered = CandidateGroup.objects.filter(run=run, unanswered=True)
    whys = unanswered.values_list("skipped_why", flat=True)
    return outcome_of(total, unanswered.count(), whys.iterator()) or _without_foils(
        total, CandidateGroup.objects.filter(run=run, skipped_why="").exists(), skipped
    )


def _without_foils(n_sources: int, has_result: bool, skipped: Mapping[str, int]) -> Partly | None:
    """Return partly done for a run that skipped all its sources."""
    if has_result or not n_sources:
        return None
    return Partly(f"no result from {n_sources} sources: {next(iter(skipped), 'all were skipped')}")


def _steps(run: GenerationRun) -> tuple[pipeline.Step, list[pipeline.Step]]:
    """Load the run's modules, and store their versions in the run's row when it begins."""
    method = pipeline.Step.of(METHODS, run.method, "method", run.params)
    filters = [pipeline.Step.of(FILTERS, row["slug"], "filter", row["params"]) for row in run.filters]
    versions = [method.version, *(step.version for step in filters)]
    noted = [run.method_version, *(row.get("version", "") for row in run.filters)]
    if any(noted) and noted != versions:
        raise GenerationError("a method or filter of this run has changed since it began; start a new run")
    run.method_version = method.version
    run.filters = [{**row, "version": step.version} for row, step in zip(run.filters, filters, strict=True)]
    run.save(update_fields=["method_version", "filters"])
    return method, filters


def run_tuning(tuning_id: int, job: Job) -> None:
    """Tune a text-to-text model on a project's train captions; resumes at its last checkpoint."""
    # Imported on request: it imports a model library.
    from generation.tuning import job as tuning_job

    tuning_job.run_tuning(Tuning.objects.select_related("project").get(pk=tuning_id), job)


class _ReplyProgress:
    """Count a model's replies for the page between two batches. A cancelled job ends at the next reply."""

    def __init__(self, job: Job, total: int) -> None:
        self._job, self._total, self._done = job, total, 0

    def notice(self, sentence: str) -> None:
        note(self._job, sentence)

    def start(self, done: int) -> None:
        self._done = done

    def __call__(self, replies: int) -> None:
        self._done = min(self._done + replies, self._total)
        progress(self._job, self._done, self._total, "asking the model")


def _with_services(run: GenerationRun, step: pipeline.Step, heard: _ReplyProgress) -> pipeline.Step:
    """Return the method with the instruction model that it uses, if any."""
    if not getattr(step.module, "USES_LLM", False):
        return step
    cost = run_cost(run)
    spent = (cost.requests, cost.prompt_tokens + cost.completion_tokens)
    answers = RowAnswers(cost, heard)
    extra_arguments = services(step.module, step.params, answers, project=run.project, spent=spent, notice=heard.notice)
    return replace(step, extra_arguments=extra_arguments)


def _with_judge(run: GenerationRun, step: pipeline.Step, heard: _ReplyProgress) -> pipeline.Step:
    """Return the filter with the model that watches clips for it, if any."""
    if not needs_clips(step.module):
        return step
    # Imported here: most runs have no such filter, and need no video library.
    from generation.screening.judges import open_judge

    return replace(step, extra_arguments={"judge": open_judge(run, step.params, heard, heard.notice)})


def _fitted(run: GenerationRun, step: pipeline.Step) -> pipeline.Step:
    """Return the filter, prepared with the captions if it learns from them."""
    if not hasattr(step.module, "prepare"):
        return step
    closing = getattr(step.module, "RUNS_LAST", False)
    learnt = step.module.prepare(RunCaptions(run) if closing else captions_to_learn_from(run), params=dict(step.params))
    if closing:
        # Verdicts that a killed worker stored count like this worker's own.
        step.module.restore(learnt, judged_by(run, step.slug))
    return replace(step, state=learnt)


def _skipped(run: GenerationRun) -> dict[str, Any]:
    reasons = CandidateGroup.objects.filter(run=run).exclude(skipped_why="").values_list("skipped_why", flat=True)
    return most_frequent(Counter(reasons.iterator()))


def _missing(run: GenerationRun) -> dict[str, int]:
    """Return why foils of captions with other foils are missing: reason -> number."""
    lists = CandidateGroup.objects.filter(run=run).exclude(missing=[]).values_list("missing", flat=True)
    return most_frequent(Counter(why for reasons in lists.iterator() for why in reasons))


def work_out_selection(selection_id: int, job: Job) -> None:
    """Compute a selection for review, without moving candidates. Idempotent."""
    selection = Selection.objects.select_related("project", "subtest").get(pk=selection_id)
    if selection.result is not None:
        return
    progress(job, 0, 1, "choosing")
    # Imported here: only this job needs scikit-learn and scipy's solver.
    from generation.selections.choosing import choose_candidates

    selection.result, selection.lost = choose_candidates(selection)
    selection.save(update_fields=["result", "lost"])
    progress(job, 1, 1, "done")


def run_caption_preview(run_id: int, job: Job) -> None:
    """Preview the captions of a project's first sources. The project does not change."""
    run = CaptionRun.objects.select_related("project").get(pk=run_id)
    module, version = _maker(run)
    sources = list(islice(_sources(run, 0), LOOKED_AT))
    examples, skipped = [], Counter[str]()
    for _, outcome in _outcomes_of_batch(run, module, sources, _services_of_maker(run, module, job, len(sources))):
        if isinstance(outcome, Skip):
            skipped[outcome.why] += 1
        else:
            examples.append([_source_text(sources, outcome), outcome.text])
    preview = {"sources": len(sources), "made": examples[:SHOWN], "n_made": len(examples)}
    run.preview = {**preview, "skipped": most_frequent(skipped)}
    run.maker_version = version
    run.save(update_fields=["preview", "maker_version"])
    progress(job, len(sources), len(sources), "preview done")


def run_captions(run_id: int, job: Job) -> Partly | None:
    """Generate and store the captions of all sources, one transaction per batch; resumes after the stored ones.

    GenerationError: the maker has changed since the preview.
    """
    run = CaptionRun.objects.select_related("project").get(pk=run_id)
    module, version = _maker(run)
    if run.maker_version != version:
        raise GenerationError("the caption maker has changed since the preview; create a new preview")
    total = _rows(run).count()
    done = total - _rows(run).filter(pk__gt=run.cursor).count()
    stream = _sources(run, run.cursor)
    services_of_maker = _services_of_maker(run, module, job, total)
    while batch := list(islice(stream, CAPTIONS_PER_BATCH)):
        # Outside the transaction: a model is slow, and its answers are stored one by one.
        _store(run, list(_outcomes_of_batch(run, module, batch, services_of_maker)), batch)
        done += len(batch)
        progress(job, done, total, "generating captions")
    progress(job, total, total, "done")
    return _without_foils(total, bool(run.stored or run.known), run.skipped)


def _maker(run: CaptionRun) -> tuple[Any, str]:
    """Return the module of the run's maker, and its version for the provenance."""
    entry = lookup(CAPTIONERS, run.maker, "caption maker")
    module = load(entry)
    return module, version_of(entry, module)


def _rows(run: CaptionRun) -> QuerySet[Any]:
    """Return the sources: captions, or videos without one, but none imported later."""
    if run.sources == CaptionSources.VIDEOS:
        by_others = Q(facts__made_by_run__isnull=True) | ~Q(facts__made_by_run=run.pk)
        captions_by_others = Caption.objects.filter(by_others, video=OuterRef("pk"))
        videos = Video.objects.filter(project=run.project, pk__lte=run.last_source).filter(~Exists(captions_by_others))
        videos = videos.exclude(media_state=MediaState.TAKEN_DOWN)
        return (videos.filter(split=run.split) if run.split else videos).order_by("pk")
    captions = captions_to_use(run.project).filter(pk__lte=run.last_source).select_related("video")
    return (captions.filter(video__split=run.split) if run.split else captions).order_by("pk")


def _sources(run: CaptionRun, after: int) -> Iterator[Source]:
    # By key ranges instead of one open cursor: batches are written between two reads.
    while chunk := list(_rows(run).filter(pk__gt=after)[:CAPTIONS_PER_BATCH]):
        after = chunk[-1].pk
        for row in chunk:
            video = row if isinstance(row, Video) else row.video
            text, facts = ("", {}) if isinstance(row, Video) else (row.text, row.facts)
            video_facts = {"class_label": video.class_label, "category": video.category}
            facts = {**{name: value for name, value in video_facts.items() if value}, **facts}
            # From contents instead of row numbers: the same corpus in another database gets the same captions.
            name = video.key if isinstance(row, Video) else f"{video.key}/{row.text_sha256}"
            yield row.pk, video.pk, CaptionInput(name, text, video.key, facts)


def _services_of_maker(run: CaptionRun, module: Any, job: Job, total: int) -> dict[str, Any]:
    """Return the services of a maker that uses a model; its answers are stored for all runs."""

    def heard(replies: int) -> None:
        progress(job, job.done, total, "asking the model")

    answers, notice = RowAnswers(None, heard), partial(note, job)
    return services(module, run.params, answers, project=run.project, notice=notice)


def _outcomes_of_batch(
    run: CaptionRun, module: Any, sources: Sequence[Source], served: Mapping[str, Any]
) -> Iterator[tuple[int, MadeCaption | Skip]]:
    """Yield (the video's row, the outcome) per source."""
    video_by_source = {source.id: video for _, video, source in sources}
    inputs = [source for _, _, source in sources]
    for outcome in module.make(inputs, params=dict(run.params), mode=run.mode, seed=run.seed, **served):
        yield video_by_source[outcome.caption_id if isinstance(outcome, Skip) else outcome.source_id], outcome


def _source_text(sources: Sequence[Source], caption: MadeCaption) -> str:
    source = next(source_input for _, _, source_input in sources if source_input.id == caption.source_id)
    return source.text or str(source.facts.get("class_label") or source.video)


@transaction.atomic
def _store(run: CaptionRun, outcomes: Sequence[tuple[int, MadeCaption | Skip]], batch: Sequence[Source]) -> None:
    """Store one batch with the run's counts and position."""
    rows: dict[tuple[int, str], Caption] = {}
    for video, outcome in outcomes:
        if isinstance(outcome, MadeCaption):
            row = _row(run, video, outcome)
            rows.setdefault((video, row.text_sha256), row)
    stored_keys = set(
        Caption.objects.filter(video__in={video for video, _ in rows}).values_list("video_id", "text_sha256")
    )
    new = [row for key, row in rows.items() if key not in stored_keys]
    Caption.objects.bulk_create(new, CAPTIONS_PER_BATCH)
    run.stored += len(new)
    run.known += len(rows) - len(new)
    reasons = Counter(run.skipped)
    reasons.update(outcome.why for _, outcome in outcomes if isinstance(outcome, Skip))
    run.skipped = most_frequent(reasons)
    run.cursor = batch[-1][0]
    run.save(update_fields=["stored", "known", "skipped", "cursor"])


def _row(run: CaptionRun, video: int, caption: MadeCaption) -> Caption:
    sha256 = hashlib.sha256(caption.text.encode()).hexdigest()
    facts = {**caption.facts, "maker": caption.maker, "mode": caption.mode, "made_by_run": run.pk}
    key = f"{caption.maker}-{sha256[:12]}"[:MAX_KEY_LENGTH]
    return Caption(video_id=video, key=key, text=caption.text, text_sha256=sha256, facts=facts)
