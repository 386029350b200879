"""Run scoring jobs: score a release's distinct (clip, text) pairs with one model; scores are stored as they come.

Stored scores are never computed again: a rerun, a second release with the same items or the successor of a killed
worker computes only what is missing. A run of more than one shard is spread over the workers; a worker keeps its model
loaded. Each kind of job imports its own libraries: a worker that scores through its own server does not load torch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from evaluation.errors import EvaluationError
from evaluation.scoring.caches import Caches, caches
from evaluation.scoring.file_scores import store_files
from evaluation.scoring.finished import notify
from evaluation.scoring.loop import ScoringCounts, score_pairs, scores_blind
from evaluation.scoring.model_cards import stated
from evaluation.scoring.models import ModelCard, Run
from evaluation.scoring.protocol_models import reader, scores_by_item, under_protocol
from evaluation.scoring.protocols import PROTOCOLS, Protocol
from evaluation.scoring.queries import SCORE_FILE
from evaluation.scoring.run_results import keep
from evaluation.scoring.served.opening import open_served
from evaluation.scoring.served.served_run import run_requests
from evaluation.scoring.shards.outlook import OTHER_MODEL
from evaluation.scoring.shards.pending_pairs import (
    ScoreWriter,
    in_time,
    listed,
    missing,
    store,
    work_of,
)
from evaluation.scoring.shards.plan import Todo, collected, costs, cut_to, pairs_of, parts_of, rounds_of
from evaluation.scoring.shared_reads import of_other_runs, stored
from evaluation.scoring.standard import check_standard, measure
from evaluation.scoring.standard_results import STANDARD
from evaluation.scoring.truncation import listed_before, truncation_of
from evaluation.scoring.trusted_models import trust_of
from evaluation.scoring.unseen_time import unseen_of
from foilworks.core.corpus.models import ReleaseItem
from foilworks.core.hub.catalogue import number_formats
from foilworks.core.hub.catalogue.registry import ENDPOINT
from foilworks.core.hub.interfaces import ModelInfo
from foilworks.core.hub.loaded_model import loaded_adapter
from foilworks.core.hub.opening import open_adapter
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.outcomes import outcome_of, reasons_of
from foilworks.core.jobs.progress import note, progress
from foilworks.core.jobs.shards import finish
from foilworks.core.jobs.spread import Partly, Spread
from foilworks.core.media.decode_pool import DecodePool, usual_workers
from foilworks.core.text.quoting import quoted

SHARD = "scoring.shard"
# What a model is shown without a clip.
NOTHING, GREY_FRAMES = "none", "grey"
# Adapters whose texts are encoded before the first clip.
CLIPS_PER_ROUND = 512
# A killed worker loses at most these scores, and its current clip batch.
SCORES_PER_WRITE, SECONDS_PER_WRITE = 64, 2.0


def run_scoring(run_id: int, job: Job) -> Spread | Partly | None:
    """Score the run's release. Problems (missing or unreadable media, unknown ids) are stored in the run.

    Several shards are spread over workers; the run then continues to collect them. It is partly done, or fails, if too
    many items have no score (`foilworks.core.jobs.outcomes`).
    """
    run = Run.objects.select_related("release__project").get(pk=run_id)
    if run.spec.startswith(SCORE_FILE):
        problems = store_files(run, job)
    elif job.shards.exists():
        problems = {**collected(job), **listed_before(run)}
    else:
        outcome = _score(run, job)
        if isinstance(outcome, Spread):
            return outcome
        problems = outcome
    if STANDARD in run.params:
        _measure_standard(run, job)
    run.problems = {name: entries for name, entries in problems.items() if entries}
    run.scored_at = timezone.now()
    run.save(update_fields=["problems", "scored_at"])
    results = keep(run)
    notify(run)
    n_items = ReleaseItem.objects.filter(release=run.release_id, is_private=False).count() - run.n_unseen
    return outcome_of(n_items, len(results["missing"]), reasons_of(run.problems)) if n_items else None


def score_shard(run_id: int, job: Job) -> None:
    """Score one shard of a run (`evaluation.scoring.shards.plan`). EvaluationError: this host has different weights."""
    run = Run.objects.select_related("release__project").get(pk=run_id)
    with _opened(run, job) as opened:
        if opened.key != run.model_key:
            progress(job, job.done, measured={**job.measured, OTHER_MODEL: opened.key})
            raise EvaluationError(
                f"the model is {quoted(opened.key)} on this host and {quoted(run.model_key)} on the host that planned "
                "the run; install the same model files and the same Foilworks version on all hosts, then retry "
                "the run: it is planned again"
            )
        all_work, _ = work_of(run, opened.info.needs_video, opened.by_item, job.payload.get("positions"))
        work = cut_to(all_work, job.payload)
        todo = list(missing(run, work, opened.info.needs_video))
        progress(job, max(0, job.total - pairs_of(todo)), job.total, f"asking the model: {opened.info.model_id}")
        tally = _score_all(run, opened, todo, job)
    finish(job, listed(work, tally))


def _measure_standard(run: Run, job: Job) -> None:
    """Rank each clip's caption among all captions, and store the counts in the run's parameters."""
    with _opened(run, job) as opened, DecodePool(settings.FOILWORKS_DECODERS or usual_workers()) as pool:
        words = "ranking all captions: {done}/{total} clips"
        run.params[STANDARD] = measure(
            run,
            opened.adapter,
            lambda done, total: progress(job, job.done, message=words.format(done=done, total=total)),
            read=reader(opened.protocol, opened.caches.frames),
            vector_cache=opened.caches.vectors,
            pool=pool,
        )
    run.save(update_fields=["params"])


@dataclass(frozen=True)
class _Opened:
    """A loaded model as the run's protocol queries it; `key` is the key of its scores."""

    adapter: Any
    protocol: Protocol
    caches: Caches
    by_item: bool
    key: str
    device: str
    dtype: str
    served: Any = None

    @property
    def info(self) -> ModelInfo:
        return self.adapter.info


@contextmanager
def _opened(run: Run, job: Job) -> Iterator[_Opened]:
    protocol, trust = PROTOCOLS[run.protocol], trust_of(run.release.project, run.spec)
    if run.spec.startswith(f"{ENDPOINT}:"):
        served = open_served(run, partial(note, job))
        yield _as_opened(served.model, protocol, number_formats.FLOAT32, "", served)
        return
    device = settings.FOILWORKS_DEVICE if run.device == "auto" else run.device
    dtype = number_formats.dtype_of_spec(run.spec, run.params.get("dtype", number_formats.AUTO), device)
    with loaded_adapter(open_adapter, run.spec, device=device, dtype=dtype, trust=trust) as loaded:
        yield _as_opened(under_protocol(loaded, protocol), protocol, dtype, device)


def _as_opened(adapter: Any, protocol: Protocol, dtype: str, device: str, served: Any = None) -> _Opened:
    info: ModelInfo = adapter.info
    run_caches = caches(protocol, info)
    key = f"{info.model_id}@{info.revision}{run_caches.suffix}{protocol.suffix}"
    return _Opened(adapter, protocol, run_caches, scores_by_item(adapter, protocol), key, device, dtype, served)


def _score(run: Run, job: Job) -> Spread | dict[str, Any]:
    with _opened(run, job) as opened:
        info = opened.info
        if STANDARD in run.params:
            check_standard(opened.adapter, opened.by_item)
        run.params = {**run.params, "by_item": opened.by_item}
        run.params |= stored(opened.protocol, info, opened.caches.frames)
        if run.spec.partition(":")[0] in number_formats.GENERATIVE:
            # Chosen by the device of this host; the run's other hosts may have different devices.
            run.params["dtype"] = opened.dtype
        if opened.served is not None:
            run.params["served"] = dict(opened.served.facts)
        if "ladder" in run.params:
            run.params["ladder"] = {**run.params["ladder"], "no_clip": _shown_without_clip(opened)}
        run.model_key = opened.key
        cut = {**truncation_of(run, opened.adapter), **unseen_of(run, info, opened.protocol)}
        # Before the first score is stored: the page of a running run leaves out pairs that are equal after truncation.
        run.problems = cut
        run.save(update_fields=["model_key", "params", "problems"])
        # Fields that a person wrote about the model do not change.
        ModelCard.objects.get_or_create(
            project=run.release.project, model_key=run.model_key, defaults=stated(info.card)
        )
        work, without_media = work_of(run, info.needs_video, opened.by_item)
        n_pairs = pairs_of((clip_work, clip_work.texts) for clip_work in work)
        todo = list(missing(run, work, info.needs_video))
        message = f"distinct texts: {n_pairs} ({info.model_id})"
        progress(job, n_pairs - pairs_of(todo), n_pairs, message)
        if opened.served is not None:
            return {"missing_media": without_media, **run_requests(run, opened, work, todo, job), **cut}
        shards = parts_of(todo, info.needs_video)
        if len(shards) > 1:
            return Spread(SHARD, shards, {"missing_media": without_media})
        tally = _score_all(run, opened, todo, job)
    progress(job, n_pairs, n_pairs)
    return {"missing_media": without_media, **listed(work, tally), **cut}


def _shown_without_clip(opened: _Opened) -> str:
    """Return what the model is shown where there is no clip: nothing, or grey frames.

    EvaluationError: it opens video files itself, so it cannot be shown other frames.
    """
    if opened.info.card.get("opens_file"):
        raise EvaluationError(
            f"{opened.info.model_id} opens the video files itself, so it cannot be shown single or shuffled frames; "
            "clear “Controls”, or let the model read the frames that it is given"
        )
    asked_alone = opened.served is not None or not opened.info.needs_video or scores_blind(opened.adapter)
    return NOTHING if asked_alone else GREY_FRAMES


def _score_all(run: Run, opened: _Opened, todo: Todo, job: Job) -> ScoringCounts:
    """Score everything and store the results; the job's row has the progress and the cost."""
    tally, before, done = ScoringCounts(), dict(job.measured), max(0, job.total - pairs_of(todo))
    info = opened.info
    read = reader(opened.protocol, replace(opened.caches.frames, also=of_other_runs(run) if info.needs_video else ()))
    decoders = settings.FOILWORKS_DECODERS or usual_workers()
    with ScoreWriter(partial(store, run, info)) as writer, DecodePool(decoders) as pool:
        for requests in rounds_of(todo, CLIPS_PER_ROUND):
            new_scores = score_pairs(
                opened.adapter, requests, tally=tally, read=read, vector_cache=opened.caches.vectors, pool=pool
            )
            for scores in in_time(new_scores, SCORES_PER_WRITE, SECONDS_PER_WRITE):
                writer.put(scores)
                done += len(scores)
                progress(job, done, measured=costs(tally, writer.seconds, before, opened.device))
    job.measured = costs(tally, writer.seconds, before, opened.device)
    progress(job, done, measured=job.measured)
    return tally
