"""Measure biases from descriptions, and find items that descriptions alone answer. Only jobs load it.

Item checks compare caption and foils by the cosine of texts: nine combinations of objects in sequence (three prompts
for the objects by three for the sentences: UTD, Table F.4), and the whole description of only the middle frame.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean, mean_intervals
from evaluation.utd import bias_measures
from evaluation.utd.bias_measures import Credits, Embedded, normalised
from evaluation.utd.cells import Cell, gains, table
from evaluation.utd.concepts import CONCEPTS, DESCRIPTION, OBJECTS, SEQUENCE, TEMPORAL
from evaluation.utd.guards import guarded
from evaluation.utd.instructions import (
    CLASSIFICATION,
    FRAME,
    INSTRUCTIONS,
    MODELS,
    RETRIEVAL,
    ROBUST_CAPTIONS,
    ROBUST_OBJECTS,
    TARGET,
)
from evaluation.utd.learning import curve_of
from evaluation.utd.models import BiasRun, ItemCheck, ItemShortcut
from evaluation.utd.procedure import CURVE, SHARE, STRATIFIED
from evaluation.utd.recall import NAME, TO_TEXT, ranks_of, recalls
from evaluation.utd.representations import Embedding, texts_of
from evaluation.utd.required_texts import TEST, TRAIN, complete, missing_texts
from evaluation.utd.sample_tasks import SampleTask, task_of
from evaluation.utd.samples import Sample, described_by_text, described_videos, raw_frames, samples_of
from evaluation.utd.shortcuts import texts_sha256
from evaluation.utd.splits import Split, split_facts, split_of
from evaluation.utd.vector_formats import FLOAT16, FLOAT32
from evaluation.utd.vector_store import Heard, TextVectors, evict, nobody
from foilworks.core.corpus.models import Item, Subtest, Video
from foilworks.core.corpus.rules.states import ItemState, drops_out
from foilworks.core.hub.batching.text_limits import CutTexts, facts_of
from foilworks.core.hub.catalogue.registry import ENCODER
from foilworks.core.hub.interfaces import TextRead
from foilworks.core.hub.opening import open_helper
from foilworks.core.jobs.models import Job
from foilworks.core.jobs.progress import progress
from foilworks.core.jobs.shards import PROBLEMS, Part, Problems, Stage, finish, keep, run_stages, shard_size
from foilworks.core.jobs.spread import Spread

VERSION = "2"
ORACLE = "oracle"
FOLDER = "text-vectors"
ITEMS_PER_BATCH = 200
SHARD = "utd.measure_shard"
UNITS, MODEL_UNIT = "units", "model "
# A run with more samples is measured in one shard per unit.
SAMPLES_PER_SHARD = (512, 2048)
# Models per prompt for the objects (UTD, Sec. B.3).
BOOTSTRAPS = 3
ACCEPTED = (ItemState.IN_VALIDATION, ItemState.DISPUTED, ItemState.VALID)


@dataclass
class _Credits:
    common: dict[Cell, Credits] = field(default_factory=dict)
    dataset: dict[Cell, Credits] = field(default_factory=dict)


def open_encoder(spec: str, params: Mapping[str, Any], heard: Heard = nobody) -> tuple[Embedding, str, CutTexts]:
    """Open an encoder: its embedding with the cached vectors, its id with its revision, and its truncated texts.

    `params`: `device`, and `vectors` (float32 or float16). The oldest vectors that no job uses are evicted first.
    HubError: there is no such encoder.
    """
    model = open_helper(spec, ENCODER, device=params.get("device", "auto"))
    key = f"{model.info.model_id}@{model.info.revision}"
    root, precision = Path(settings.CACHE_ROOT) / FOLDER, params.get("vectors", FLOAT32)
    evict(root, settings.TEXT_VECTOR_CACHE_BYTES)
    name = f"{key}-{FLOAT16}" if precision == FLOAT16 else key
    vectors = TextVectors(root / re.sub(r"[^\w.@-]+", "-", name)[-150:], model.encode_text, precision=precision)
    cuts = CutTexts(model)
    return Embedding(vectors, heard, cuts.seen), key, cuts


def measure(run: BiasRun, job: Job) -> Spread | None:
    """Compute and store `run.result` and `run.predictions`. EvaluationError: nothing to measure.

    A unit is a concept, or one of the nine models. Few samples are measured in one process, many in one shard per unit.
    """
    samples, without = samples_of(run)
    units = _units(run, samples)
    size = shard_size(len(samples), *SAMPLES_PER_SHARD)
    shards: list[Part] = [({UNITS: units}, len(units))]
    if len(samples) > size:
        shards = [({UNITS: [unit]}, 1) for unit in units]
    stage = Stage(UNITS, SHARD, lambda: shards, lambda payload, worker: measure_units(run, payload, worker))
    outcome = run_stages(job, len(units), [stage])
    if isinstance(outcome, Spread):
        return outcome
    keys = set(outcome["encoder"])
    if len(keys) > 1:
        raise EvaluationError(
            f"hosts have different files of the encoder: {', '.join(sorted(keys))}; install the same files on all "
            "hosts, then measure again"
        )
    task = task_of(run, samples)
    credits = _Credits()
    for kind, cells in (("common", credits.common), ("dataset", credits.dataset)):
        for concept in CONCEPTS:
            for temporal in TEMPORAL:
                if (values := outcome.get(f"{kind} {concept} {temporal}")) is not None:
                    cells[concept, temporal] = np.array(values, np.float64)
    nine, by_objects = _nine_of(outcome), task.with_texts(OBJECTS, SEQUENCE)
    run.predictions = nine and _stored(by_objects, *nine)
    debiased_split = nine and split_of(run.predictions)
    run.result = _result(task, credits, debiased_split, without)
    run.result["learning_curve"], run.result["recall"] = outcome.get(CURVE), recalls(outcome)
    if debiased_split is not None and task.classifies:
        sizes = Counter(sample.target for sample in by_objects.train)
        full = task.credits_in(by_objects, credits.dataset[OBJECTS, SEQUENCE])
        run.result["split"]["nine"] = guarded(run.predictions["correct"], full, sizes, task.procedure)
    if debiased_split is not None and not task.classifies:
        task.embedding, _, _ = open_encoder(run.encoder, run.params)
        run.result["galleries"] = _galleries(task, credits, debiased_split)
    run.result["truncated"] = facts_of({text: TextRead(*read) for text, *read in outcome["cut"]})
    run.encoder_key, run.measured_at = keys.pop(), timezone.now()
    run.save(update_fields=["predictions", "result", "encoder_key", "measured_at"])
    progress(job, len(units), len(units))
    return None


def measure_units(run: BiasRun, payload: Mapping[str, Any], job: Job) -> Problems:
    """Measure the missing units of a part; each cell and each model is stored when it is done."""
    measurements: Problems = dict(job.measured.get(PROBLEMS, {}))
    at = job.done

    def report_embedded(done: int) -> None:
        progress(job, at, message=f"embedding texts: {done}")

    progress(job, at, message="loading the encoder")
    embedding, key, cuts = open_encoder(run.encoder, run.params, report_embedded)
    task = task_of(run, samples_of(run)[0])
    task.embedding = embedding
    for unit in payload[UNITS]:
        progress(job, at, message=f"measuring: {unit}")
        if unit == CURVE:
            measurements[CURVE] = measurements.get(CURVE) or _curve(task)
        measured = _measure(task, unit, measurements) if unit in CONCEPTS else _one_of_nine(task, unit, measurements)
        for name, values in () if unit == CURVE else measured:
            measurements[name] = _listed(values)
            keep(job, job.done, measurements)
        at += 1
        cut = {text: [text, read.tokens, read.limit, read.kept] for text, read in cuts.found.items()}
        truncated_texts = {row[0] for row in measurements.get("cut", [])}
        measurements["cut"] = [
            *measurements.get("cut", []),
            *(row for text, row in cut.items() if text not in truncated_texts),
        ]
        measurements["encoder"] = [key]
        keep(job, min(at, job.total), measurements)
    return measurements


def _listed(values: NDArray[Any]) -> list[Any]:
    """Return the values for JSON, which has no NaN."""
    return [None if value != value else value for value in values.tolist()]


def measure_shard(run: BiasRun, shard: Job) -> None:
    finish(shard, measure_units(run, shard.payload, shard))


def _units(run: BiasRun, samples: Sequence[Sample]) -> list[str]:
    nine = [f"{MODEL_UNIT}{number}" for number in range(MODELS)]
    with_objects = complete(described_by_text(run.descriptions), OBJECTS, SEQUENCE)
    counted = [sample for sample in samples if sample.video in with_objects]
    learns = len({sample.target for sample in counted if sample.train}) > 1
    judged = sum(not sample.train for sample in counted)
    if run.task != CLASSIFICATION:
        return [*CONCEPTS, *(nine if judged > 1 else [])]
    curve = [CURVE] if run.params.get(CURVE) else []
    return [*CONCEPTS, *([*nine, *curve] if learns and judged else [])]


def _measure(task: SampleTask, concept: str, measurements: Problems) -> Iterator[tuple[str, Credits]]:
    """Compute the cells of a concept that `measurements` lacks, each with its name.

    A cell is of the samples that have its texts; one without such samples is left out.
    """
    for kind, temporals in (
        (SEQUENCE, (SEQUENCE,)),
        (FRAME, tuple(temporal for temporal in TEMPORAL if temporal != SEQUENCE)),
    ):
        cell_task = task.with_texts(concept, temporals[0])
        if len(cell_task.test) < (1 if task.classifies else 2):
            continue
        target_vectors = task.embedding.targets(cell_task.texts, task.run.task)[kind]
        test = cell_task.embedded(cell_task.test, concept, kind)
        train = cell_task.embedded(cell_task.train, concept, kind) if cell_task.train else None
        for temporal in temporals:
            if (name := f"common {concept} {temporal}") not in measurements:
                yield name, task.spread(cell_task, _common(cell_task, target_vectors, test, temporal))
            if temporal == SEQUENCE and NAME.format(concept, TO_TEXT) not in measurements:
                yield from ranks_of(concept, cell_task, target_vectors, test)
            if train is not None and (name := f"dataset {concept} {temporal}") not in measurements:
                # Texts that say nothing, such as activities of still pictures, leave out their own cells only.
                with suppress(bias_measures.TooFewClassesError):
                    yield name, task.spread(cell_task, _learnt(task, cell_task, train, test, temporal))


def _learnt(task: SampleTask, cell_task: SampleTask, train: Embedded, test: Embedded, temporal: str) -> Credits:
    return bias_measures.classified_by_training(
        train,
        cell_task.train_labels,
        test,
        cell_task.labels,
        len(task.names),
        temporal,
        c=task.procedure.c,
        scratch=_scratch(),
    )


def _common(task: SampleTask, target_vectors: Any, test: Embedded, temporal: str) -> Credits:
    if not task.classifies:
        return bias_measures.retrieved(target_vectors, test, temporal, shares_ties=task.procedure.ties == SHARE)
    oracle = task.run.params.get("max_reading") == ORACLE
    return bias_measures.classified(test, target_vectors[:], task.labels, temporal, oracle=oracle)


def _one_of_nine(task: SampleTask, unit: str, measurements: Problems) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return right or wrong of one of the nine models, (n,), and in classification its probability of the true
    class. The samples are those that have objects."""
    number = int(unit.removeprefix(MODEL_UNIT))
    if f"right {unit}" in measurements:
        return
    task, objects = task.with_texts(OBJECTS, SEQUENCE), ROBUST_OBJECTS[task.run.task]
    if not task.classifies:
        captions = task.embedding.means(task.texts, ROBUST_CAPTIONS[number // len(objects)])
        right = bias_measures.nine_retrievals([captions], [task.sequences(task.test, objects[number % len(objects)])])
        yield f"right {unit}", right[:, 0]
        return
    instruction = objects[number // BOOTSTRAPS]
    learnt, judged = (task.sequences(some, instruction) for some in (task.train, task.test))
    right, confidence = bias_measures.nine_classifiers(
        [learnt],
        task.train_labels,
        [judged],
        task.labels,
        len(task.names),
        seed=_seed(task) + number,
        bootstraps=1,
        stratified=task.procedure.bootstrap == STRATIFIED,
        c=task.procedure.c,
        scratch=_scratch(),
    )
    # In this order: a unit without `right` is measured again.
    yield f"confidence {unit}", confidence
    yield f"right {unit}", right[:, 0]


def _seed(task: SampleTask) -> int:
    return int(task.run.params.get("seed", 0))


def _curve(task: SampleTask) -> list[dict[str, Any]]:
    """Return the learning curve over the number of train videos with objects."""
    task = task.with_texts(OBJECTS, SEQUENCE)
    instructions = ROBUST_OBJECTS[task.run.task]
    train, test = (
        [task.sequences(some, instruction) for instruction in instructions] for some in (task.train, task.test)
    )
    return curve_of(
        train, task.train_labels, test, task.labels, len(task.names), task.procedure, _seed(task), _scratch()
    )


def _scratch() -> Path:
    """Return the folder of temporary files: the cache, because the system's one may be in memory."""
    return Path(settings.CACHE_ROOT)


def _nine_of(measurements: Problems) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None] | None:
    """Return right or wrong, (n, 9), and confidence, (n,); None if there is nothing to train on."""
    units = [f"{MODEL_UNIT}{number}" for number in range(MODELS)]
    if f"right {units[0]}" not in measurements:
        return None
    right = np.column_stack([np.array(measurements[f"right {unit}"], np.bool_) for unit in units])
    confidence = [measurements[f"confidence {unit}"] for unit in units if f"confidence {unit}" in measurements]
    return right, np.mean(np.array(confidence, np.float64), axis=0) if confidence else None


def _stored(task: SampleTask, correct: NDArray[np.bool_], confidence: NDArray[np.float64] | None) -> dict[str, Any]:
    keys = dict(Video.objects.filter(project=task.run.project_id).values_list("pk", "key"))
    return {
        "ids": [sample.id for sample in task.test],
        "classes": [sample.target for sample in task.test] if task.classifies else None,
        "clusters": [sample.cluster for sample in task.test],
        "videos": [keys[sample.video] for sample in task.test],
        "correct": ["".join("1" if right else "0" for right in row) for row in correct.tolist()],
        "confidence": None if confidence is None else confidence.tolist(),
    }


def _result(
    task: SampleTask, credits: _Credits, debiased_split: Split | None, without: Sequence[str]
) -> dict[str, Any]:
    clusters = [sample.cluster for sample in task.test]
    sizes = Counter(sample.target for sample in task.test) if task.classifies else {}
    return {
        "version": VERSION,
        "task": task.run.task,
        "n": len(task.test),
        "n_train": len(task.train),
        "n_classes": len(task.names) if task.classifies else None,
        "n_sources": len(set(clusters)),
        "largest_class": max(sizes.values()) / len(task.test) if sizes else None,
        "chance": 1 / len(task.names),
        "without": list(without),
        "missing": missing_texts(
            task.described,
            {TRAIN: [sample.video for sample in task.train], TEST: [sample.video for sample in task.test]},
            task.classifies,
        ),
        "procedure": asdict(task.procedure),
        # Identifies the samples: runs on the same samples are compared.
        "samples": hashlib.sha256("\n".join(sample.id for sample in task.test).encode()).hexdigest()[:16],
        "common": table(credits.common, clusters),
        "dataset": table(credits.dataset, clusters) if credits.dataset else None,
        "gains": gains(credits.common, credits.dataset, clusters) if credits.dataset else None,
        "split": debiased_split and split_facts(task.run.predictions, debiased_split),
    }


def _galleries(task: SampleTask, credits: _Credits, debiased_split: Split) -> list[dict[str, Any]]:
    """Return R@1 of the remaining queries, among all videos and among the videos of the remaining queries."""
    by_objects = task.with_texts(OBJECTS, SEQUENCE)
    removed = {by_objects.test[at].id for at in debiased_split.removed}
    rows = []
    for concept in CONCEPTS:
        cell_task = task.with_texts(concept, SEQUENCE)
        remaining = np.array(
            [at for at, sample in enumerate(cell_task.test) if sample.id not in removed], dtype=np.int64
        )
        if not len(remaining) or (concept, SEQUENCE) not in credits.common:
            continue
        target_vectors = task.embedding.targets(cell_task.texts, task.run.task)[SEQUENCE]
        clusters = [cell_task.test[at].cluster for at in remaining]
        full = task.credits_in(cell_task, credits.common[concept, SEQUENCE])[remaining]
        video_vectors = cell_task.embedded(cell_task.test, concept, SEQUENCE)
        reduced = bias_measures.retrieved(
            target_vectors, video_vectors, SEQUENCE, gallery=remaining, shares_ties=task.procedure.ties == SHARE
        )[remaining]
        intervals = mean_intervals(np.column_stack([full, reduced]), clusters)
        row = {"concept": concept, "full": mean(full), "full_ci": intervals[0]}
        rows.append({**row, "reduced": mean(reduced), "reduced_ci": intervals[1]})
    return rows


def check_items(check: ItemCheck, job: Job) -> None:
    """Check every accepted main item of a described video; results of an earlier attempt are reused. EvaluationError:
    no items.
    """
    described = described_videos(check.descriptions)
    items = accepted_items(check).filter(video__in=described)
    done = items.filter(shortcuts__check_of=check).count()
    total = items.count()
    if not total:
        raise EvaluationError("no accepted item has a described video; describe the videos first")
    progress(job, done, total, "loading the encoder")
    embedding, check.encoder_key, cuts = open_encoder(check.encoder, check.params)
    pending_items = items.exclude(shortcuts__check_of=check).order_by("video_id", "pk").prefetch_related("foils")
    for batch in _batches(list(pending_items.select_related("caption"))):
        ItemShortcut.objects.bulk_create(_shortcuts_of(check, embedding, batch), ignore_conflicts=True)
        done += len(batch)
        progress(job, done, total, "comparing sentences with descriptions")
    check.checked_at = timezone.now()
    check.params = {**check.params, "truncated": cuts.facts()}
    check.save(update_fields=["encoder_key", "checked_at", "params"])


def accepted_items(check: ItemCheck) -> QuerySet[Item]:
    return Item.objects.filter(
        subtest__project=check.descriptions.project_id, subtest__kind=Subtest.Kind.MAIN, state__in=ACCEPTED
    )


def _shortcuts_of(check: ItemCheck, embedding: Embedding, items: Sequence[Item]) -> list[ItemShortcut]:
    videos = list(dict.fromkeys(item.video_id for item in items))
    row_by_video = {video: at for at, video in enumerate(videos)}
    own = [row_by_video[item.video_id] for item in items]
    raw = raw_frames(check.descriptions, videos)
    objects, description_texts = texts_of(raw, OBJECTS), texts_of(raw, DESCRIPTION)
    sentences = [_sentences(item) for item in items]
    nine = np.zeros(len(items), dtype=np.int64)
    for instruction in ROBUST_OBJECTS[RETRIEVAL]:
        seen = normalised(embedding.rows(objects.sequences, instruction)[:])[own]
        for caption_instruction in ROBUST_CAPTIONS:
            nine += _right(embedding, seen, sentences, caption_instruction)
    middle = (len(description_texts.frames[0]) - 1) // 2
    instructions = INSTRUCTIONS[RETRIEVAL]
    middle_vectors = normalised(
        embedding.rows([frames[middle] for frames in description_texts.frames], instructions[DESCRIPTION][FRAME])[:]
    )[own]
    frame = _right(embedding, middle_vectors, sentences, instructions[TARGET][FRAME])
    return [
        ItemShortcut(
            check_of=check,
            item=item,
            texts_sha256=texts_sha256(texts),
            objects_right=int(nine[at]),
            frame_right=bool(frame[at]),
        )
        for at, (item, texts) in enumerate(zip(items, sentences, strict=True))
    ]


def _sentences(item: Item) -> list[str]:
    return [item.caption.text, *[foil.text for foil in item.foils.all() if not drops_out(foil.verdict, item.state)]]


def _right(
    embedding: Embedding, seen: NDArray[np.float32], sentences: Sequence[Sequence[str]], instruction: str
) -> NDArray[np.bool_]:
    """Return whether the caption is nearer to its video's text than every foil, (n,); a tie does not count."""
    flat = [text for texts in sentences for text in texts]
    rows = normalised(embedding.rows(flat, instruction)[:])
    right, first = [], 0
    for at, texts in enumerate(sentences):
        scores = rows[first : first + len(texts)] @ seen[at]
        first += len(texts)
        right.append(len(texts) > 1 and bool(scores[0] > scores[1:].max()))
    return np.array(right, dtype=np.bool_)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), ITEMS_PER_BATCH):
        yield items[start : start + ITEMS_PER_BATCH]
