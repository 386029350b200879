"""The job of a generation run. Resumable: captions that have a group are done; a killed worker loses one batch."""

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Any

from generation import pipeline
from generation.asking.answer_rows import RowAnswers
from generation.asking.services import services
from generation.batch_storage import done_captions, judged_by, known_foils, store_batch
from generation.caption_making import preview_captions, store_captions
from generation.detections import detectors_of, with_objects
from generation.errors import GenerationError
from generation.filters.registry import FILTERS
from generation.hint_scoring import answer
from generation.methods.registry import METHODS
from generation.models import CandidateGroup, GenerationRun, Hint, Selection
from generation.models.side_work import CaptionRun, Tuning
from generation.records import most_frequent
from generation.run_captions import RunCaptions, captions_to_learn_from, captions_to_plan, record_excluded_captions
from generation.stored_measures import RowMeasures
from generation.tuning.parameters import TUNING
from jobs.models import Job
from jobs.progress import progress
from text.registry import load

BATCH = 200


def run_generation(run_id: int, job: Job) -> None:
    """Make and judge the foils of the run's captions, a batch a transaction.

    Raises GenerationError where the run cannot go on as it began (its method has changed since).
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
    method = _with_services(run, method, heard)
    state = pipeline.prepare(method, captions_to_plan(run) if trades else captions, mode=run.mode, seed=run.seed)
    measures = RowMeasures(filters)
    filters = [_fitted(run, step) for step in filters]
    eyes = detectors_of([method, *filters])
    stream, done = captions.selected(), 0
    while batch := list(islice(stream, BATCH)):
        already = done_captions(run, [selected.row for selected in batch])
        rows = {selected.given.id: selected.row for selected in batch if selected.row.pk not in already}
        given = [selected.given for selected in batch if selected.given.id in rows]
        given = with_objects(eyes, given, rows)
        known = known_foils(run, given, rows)
        outcomes = pipeline.run(
            method,
            given,
            filters=filters,
            mode=run.mode,
            seed=run.seed,
            state=state,
            known=known,
            measures=measures,
            batch_size=BATCH,
        )
        store_batch(run, list(outcomes), rows, measures)
        done += len(batch)
        heard.start(done)
        progress(job, done, total, "making foils")
    GenerationRun.objects.filter(pk=run.pk).update(skipped=_skipped(run), missing=_missing(run))
    progress(job, total, total, "done")


def answer_hint(hint_id: int, job: Job) -> None:
    """Ask the hint's model about its text. A hint that has an answer is left as it is."""
    hint = Hint.objects.select_related("caption__video").get(pk=hint_id)
    if hint.value is not None or hint.problem:
        return
    answer(hint)
    hint.save(update_fields=["model_key", "value", "of_caption", "kind", "higher_is_better", "problem"])


def run_caption_preview(run_id: int, job: Job) -> None:
    """Look at what a caption maker makes of a project's first sources."""
    preview_captions(CaptionRun.objects.select_related("project").get(pk=run_id), job)


def run_captions(run_id: int, job: Job) -> None:
    """Make and store a project's captions; goes on behind what is stored."""
    store_captions(CaptionRun.objects.select_related("project").get(pk=run_id), job)


def _steps(run: GenerationRun) -> tuple[pipeline.Step, list[pipeline.Step]]:
    """The run's modules, and their versions noted in the run's row when it begins."""
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
    load(TUNING).run_tuning(Tuning.objects.select_related("project").get(pk=tuning_id), job)


class _ReplyProgress:
    """Counts a model's replies for the page, between two batches; a cancelled job ends at the next one."""

    def __init__(self, job: Job, total: int) -> None:
        self._job, self._total, self._done = job, total, 0

    def start(self, done: int) -> None:
        self._done = done

    def __call__(self, replies: int) -> None:
        self._done = min(self._done + replies, self._total)
        progress(self._job, self._done, self._total, "asking the model")


def _with_services(run: GenerationRun, step: pipeline.Step, heard: _ReplyProgress) -> pipeline.Step:
    """The method with the model that it asks, where it asks one."""
    if not getattr(step.module, "USES_LLM", False):
        return step
    answers = RowAnswers(run, heard)
    return replace(step, given=services(step.module, step.params, answers, project=run.project, spent=answers.spent))


def _fitted(run: GenerationRun, step: pipeline.Step) -> pipeline.Step:
    """The filter with what it learns from captions, where it learns."""
    if not hasattr(step.module, "prepare"):
        return step
    closing = getattr(step.module, "RUNS_LAST", False)
    learnt = step.module.prepare(RunCaptions(run) if closing else captions_to_learn_from(run), params=dict(step.params))
    if closing:
        # What a killed worker had stored counts as if this one had judged it.
        step.module.restore(learnt, judged_by(run, step.slug))
    return replace(step, state=learnt)


def _skipped(run: GenerationRun) -> dict[str, Any]:
    reasons = CandidateGroup.objects.filter(run=run).exclude(skipped_why="").values_list("skipped_why", flat=True)
    return most_frequent(Counter(reasons.iterator()))


def _missing(run: GenerationRun) -> dict[str, int]:
    """Foils that are missing beside others of their caption: why -> how many."""
    lists = CandidateGroup.objects.filter(run=run).exclude(missing=[]).values_list("missing", flat=True)
    return most_frequent(Counter(why for found in lists.iterator() for why in found))


def work_out_selection(selection_id: int, job: Job) -> None:
    """Work out a selection for somebody to look at; nothing moves. Again changes nothing."""
    chosen = Selection.objects.select_related("project", "subtest").get(pk=selection_id)
    if chosen.result is not None:
        return
    progress(job, 0, 1, "choosing")
    # scikit-learn and scipy's solver: no other job needs them.
    from generation.selections.choosing import choose_candidates

    chosen.result, chosen.lost = choose_candidates(chosen)
    chosen.save(update_fields=["result", "lost"])
    progress(job, 1, 1, "done")
