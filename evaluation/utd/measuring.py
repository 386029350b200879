"""Measure biases from descriptions, and find items that descriptions alone answer. Only jobs load it.

Item checks compare caption and foils by the cosine of texts: nine combinations of objects in sequence (three prompts
for the objects by three for the sentences: UTD, Table F.4), and the whole description of only the middle frame.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from numpy.typing import NDArray

from corpus.models import Item, Subtest
from corpus.rules.states import ItemState, drops_out
from evaluation.errors import EvaluationError
from evaluation.metrics.intervals import mean, mean_intervals
from evaluation.utd import measures
from evaluation.utd.cells import Cell, gains, table
from evaluation.utd.concepts import CONCEPTS, DESCRIPTION, OBJECTS, SEQUENCE, TEMPORAL
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
from evaluation.utd.measures import Credits, Embedded, normalised
from evaluation.utd.models import BiasRun, Descriptions, ItemCheck, ItemShortcut
from evaluation.utd.representations import Embedding, Texts, texts_of
from evaluation.utd.samples import Sample, described_videos, raw_frames, samples_of
from evaluation.utd.shortcuts import texts_sha256
from evaluation.utd.splits import Split, split_facts, split_of
from evaluation.utd.vector_formats import FLOAT16, FLOAT32
from evaluation.utd.vector_store import Heard, TextVectors, evict, nobody
from hub.adapters.registry import ENCODER, open_helper
from hub.batching.text_limits import CutTexts, facts_of
from hub.interfaces import TextRead
from jobs.models import Job
from jobs.progress import progress
from jobs.shards import PROBLEMS, Part, Problems, Stage, finish, keep, run_stages, shard_size
from jobs.spread import Spread
from text.quoting import quoted

VERSION = "1"
ORACLE = "oracle"
FOLDER = "text-vectors"
VIDEOS_PER_CHUNK = 500
ITEMS_PER_BATCH = 200
SHARD = "evaluation.utd.jobs.measure_shard"
UNITS, MODEL_UNIT = "units", "model "
# A run with more samples is measured in one shard per unit.
SAMPLES_PER_SHARD = (512, 2048)
# Models per prompt for the objects (UTD, Sec. B.3).
BOOTSTRAPS = 3
ACCEPTED = (ItemState.IN_VALIDATION, ItemState.DISPUTED, ItemState.VALID)


@dataclass
class _Task:
    """n samples to judge and, in classification, those to train on; `names`: classes, or captions."""

    run: BiasRun
    test: Sequence[Sample]
    train: Sequence[Sample]
    names: Sequence[str]
    labels: NDArray[np.int64]
    train_labels: NDArray[np.int64]
    embedding: Embedding = field(init=False)

    @property
    def classifies(self) -> bool:
        return self.run.task == CLASSIFICATION

    def embedded(self, samples: Sequence[Sample], concept: str) -> Embedded:
        texts = _chunks(self.run.descriptions, [sample.video for sample in samples], concept)
        return self.embedding.videos(texts, self.run.task, concept)


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
    parts: list[Part] = [({UNITS: units}, len(units))]
    if len(samples) > size:
        parts = [({UNITS: [unit]}, 1) for unit in units]
    stage = Stage(UNITS, SHARD, lambda: parts, lambda payload, worker: measure_units(run, payload, worker))
    found = run_stages(job, len(units), [stage])
    if isinstance(found, Spread):
        return found
    keys = set(found["encoder"])
    if len(keys) > 1:
        raise EvaluationError(
            f"hosts have different files of the encoder: {', '.join(sorted(keys))}; install the same files on all "
            "hosts, then measure again"
        )
    task = _task(run, samples)
    credits = _Credits()
    for kind, cells in (("common", credits.common), ("dataset", credits.dataset)):
        for concept in CONCEPTS:
            for temporal in TEMPORAL:
                if (values := found.get(f"{kind} {concept} {temporal}")) is not None:
                    cells[concept, temporal] = np.array(values, np.float64)
    nine = _nine_of(found)
    run.predictions = nine and _stored(task, *nine)
    made = nine and split_of(run.predictions)
    run.result = _result(task, credits, made, without)
    if made is not None and not task.classifies:
        task.embedding, _, _ = open_encoder(run.encoder, run.params)
        run.result["galleries"] = _galleries(task, credits, made)
    run.result["truncated"] = facts_of({text: TextRead(*read) for text, *read in found["cut"]})
    run.encoder_key, run.measured_at = keys.pop(), timezone.now()
    run.save(update_fields=["predictions", "result", "encoder_key", "measured_at"])
    progress(job, len(units), len(units))
    return None


def measure_units(run: BiasRun, payload: Mapping[str, Any], job: Job) -> Problems:
    """Measure the missing units of a part; each cell and each model is stored when it is done."""
    found: Problems = dict(job.measured.get(PROBLEMS, {}))
    at = job.done

    def heard(done: int) -> None:
        progress(job, at, message=f"embedding texts: {done}")

    progress(job, at, message="loading the encoder")
    embedding, key, cuts = open_encoder(run.encoder, run.params, heard)
    task = _task(run, samples_of(run)[0])
    task.embedding = embedding
    for unit in payload[UNITS]:
        progress(job, at, message=f"measuring: {unit}")
        measured = _measure(task, unit, found) if unit in CONCEPTS else _one_of_nine(task, unit, found)
        for name, values in measured:
            found[name] = values.tolist()
            keep(job, job.done, found)
        at += 1
        cut = {text: [text, read.tokens, read.limit, read.kept] for text, read in cuts.found.items()}
        known = {row[0] for row in found.get("cut", [])}
        found["cut"] = [*found.get("cut", []), *(row for text, row in cut.items() if text not in known)]
        found["encoder"] = [key]
        keep(job, min(at, job.total), found)
    return found


def measure_shard(run: BiasRun, shard: Job) -> None:
    finish(shard, measure_units(run, shard.payload, shard))


def _units(run: BiasRun, samples: Sequence[Sample]) -> list[str]:
    nine = [f"{MODEL_UNIT}{number}" for number in range(MODELS)]
    learns = len({sample.target for sample in samples if sample.train}) > 1
    return [*CONCEPTS, *(nine if run.task != CLASSIFICATION or learns else [])]


def _chunks(descriptions: Descriptions, videos: Sequence[int], concept: str) -> Iterator[Texts]:
    """Return the texts of the videos, in order, some hundred videos at a time."""
    for start in range(0, len(videos), VIDEOS_PER_CHUNK):
        yield texts_of(raw_frames(descriptions, videos[start : start + VIDEOS_PER_CHUNK]), concept)


def _task(run: BiasRun, samples: Sequence[Sample]) -> _Task:
    """Return the task without its embedding, which only `measure_units` needs."""
    test = [sample for sample in samples if not sample.train]
    train = [sample for sample in samples if sample.train]
    if run.task != CLASSIFICATION:
        captions = [sample.target for sample in test]
        if len(captions) < 2:
            raise EvaluationError("retrieval needs at least two captions of described videos; describe more videos")
        return _Task(run, test, [], captions, np.arange(len(test)), np.zeros(0, np.int64))
    names = sorted({sample.target for sample in samples})
    if len(names) < 2:
        raise EvaluationError(f"all samples have the class {quoted(names[0])}; choose a different source of classes")
    place = {name: at for at, name in enumerate(names)}
    labels, learnt = (np.array([place[one.target] for one in some], np.int64) for some in (test, train))
    if len(set(learnt.tolist())) < 2:
        train, learnt = [], np.zeros(0, np.int64)
    return _Task(run, test, train, names, labels, learnt)


def _measure(task: _Task, concept: str, found: Problems) -> Iterator[tuple[str, Credits]]:
    """Compute the cells of a concept that `found` lacks, each with its name."""
    targets = task.embedding.targets(task.names, task.run.task)
    test = task.embedded(task.test, concept)
    train = task.embedded(task.train, concept) if task.train else None
    oracle = task.run.params.get("max_reading") == ORACLE
    for temporal in TEMPORAL:
        told = targets[SEQUENCE if temporal == SEQUENCE else FRAME]
        if (name := f"common {concept} {temporal}") not in found:
            if task.classifies:
                yield name, measures.classified(test, told[:], task.labels, temporal, oracle=oracle)
            else:
                yield name, measures.retrieved(told, test, temporal)
        if train is not None and (name := f"dataset {concept} {temporal}") not in found:
            yield (
                name,
                measures.classified_by_training(
                    train, task.train_labels, test, task.labels, len(task.names), temporal, scratch=_scratch()
                ),
            )


def _one_of_nine(task: _Task, unit: str, found: Problems) -> Iterator[tuple[str, NDArray[Any]]]:
    """Return right or wrong of one of the nine models, (n,), and in classification its probability of the true
    class."""
    number = int(unit.removeprefix(MODEL_UNIT))
    if f"right {unit}" in found:
        return
    objects = ROBUST_OBJECTS[task.run.task]

    def sequences(samples: Sequence[Sample], told: str) -> Any:
        videos = [sample.video for sample in samples]
        return task.embedding.sequences(_chunks(task.run.descriptions, videos, OBJECTS), told)

    if not task.classifies:
        captions = task.embedding.rows(task.names, ROBUST_CAPTIONS[number // len(objects)])
        right = measures.nine_retrievals([captions], [sequences(task.test, objects[number % len(objects)])])
        yield f"right {unit}", right[:, 0]
        return
    told = objects[number // BOOTSTRAPS]
    learnt, judged = (sequences(some, told) for some in (task.train, task.test))
    seed = int(task.run.params.get("seed", 0)) + number
    right, confidence = measures.nine_classifiers(
        [learnt],
        task.train_labels,
        [judged],
        task.labels,
        len(task.names),
        seed=seed,
        bootstraps=1,
        scratch=_scratch(),
    )
    # In this order: a unit without `right` is measured again.
    yield f"confidence {unit}", confidence
    yield f"right {unit}", right[:, 0]


def _scratch() -> Path:
    """Return the folder of temporary files: the cache, because the system's one may be in memory."""
    return Path(settings.CACHE_ROOT)


def _nine_of(found: Problems) -> tuple[NDArray[np.bool_], NDArray[np.float64] | None] | None:
    """Return right or wrong, (n, 9), and confidence, (n,); None if there is nothing to train on."""
    units = [f"{MODEL_UNIT}{number}" for number in range(MODELS)]
    if f"right {units[0]}" not in found:
        return None
    right = np.column_stack([np.array(found[f"right {unit}"], np.bool_) for unit in units])
    confidence = [found[f"confidence {unit}"] for unit in units if f"confidence {unit}" in found]
    return right, np.mean(np.array(confidence, np.float64), axis=0) if confidence else None


def _stored(task: _Task, correct: NDArray[np.bool_], confidence: NDArray[np.float64] | None) -> dict[str, Any]:
    return {
        "ids": [sample.id for sample in task.test],
        "classes": [sample.target for sample in task.test] if task.classifies else None,
        "clusters": [sample.cluster for sample in task.test],
        "correct": ["".join("1" if right else "0" for right in row) for row in correct.tolist()],
        "confidence": None if confidence is None else confidence.tolist(),
    }


def _result(task: _Task, credits: _Credits, made: Split | None, without: Sequence[str]) -> dict[str, Any]:
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
        # Identifies the samples: runs on the same samples are compared.
        "samples": hashlib.sha256("\n".join(sample.id for sample in task.test).encode()).hexdigest()[:16],
        "common": table(credits.common, clusters),
        "dataset": table(credits.dataset, clusters) if credits.dataset else None,
        "gains": gains(credits.common, credits.dataset, clusters) if credits.dataset else None,
        "split": made and split_facts(task.run.predictions, made),
    }


def _galleries(task: _Task, credits: _Credits, made: Split) -> list[dict[str, Any]]:
    """Return R@1 of the remaining queries, among all videos and among the videos of the remaining queries."""
    kept = np.setdiff1d(np.arange(len(task.test)), np.array(made.removed, dtype=np.int64))
    if not len(kept):
        return []
    told = task.embedding.targets(task.names, task.run.task)[SEQUENCE]
    clusters = [task.test[at].cluster for at in kept]
    rows = []
    for concept in CONCEPTS:
        full = credits.common[concept, SEQUENCE][kept]
        reduced = measures.retrieved(told, task.embedded(task.test, concept), SEQUENCE, gallery=kept)[kept]
        found = mean_intervals(np.column_stack([full, reduced]), clusters)
        row = {"concept": concept, "full": mean(full), "full_ci": found[0]}
        rows.append({**row, "reduced": mean(reduced), "reduced_ci": found[1]})
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
    left = items.exclude(shortcuts__check_of=check).order_by("video_id", "pk").prefetch_related("foils")
    for batch in _batches(list(left.select_related("caption"))):
        ItemShortcut.objects.bulk_create(_found(check, embedding, batch), ignore_conflicts=True)
        done += len(batch)
        progress(job, done, total, "comparing sentences with descriptions")
    check.checked_at = timezone.now()
    check.params = {**check.params, "truncated": cuts.facts()}
    check.save(update_fields=["encoder_key", "checked_at", "params"])


def accepted_items(check: ItemCheck) -> QuerySet[Item]:
    return Item.objects.filter(
        subtest__project=check.descriptions.project_id, subtest__kind=Subtest.Kind.MAIN, state__in=ACCEPTED
    )


def _found(check: ItemCheck, embedding: Embedding, items: Sequence[Item]) -> list[ItemShortcut]:
    videos = list(dict.fromkeys(item.video_id for item in items))
    place = {video: at for at, video in enumerate(videos)}
    own = [place[item.video_id] for item in items]
    raw = raw_frames(check.descriptions, videos)
    objects, whole = texts_of(raw, OBJECTS), texts_of(raw, DESCRIPTION)
    sentences = [_sentences(item) for item in items]
    nine = np.zeros(len(items), dtype=np.int64)
    for told in ROBUST_OBJECTS[RETRIEVAL]:
        seen = normalised(embedding.rows(objects.sequences, told)[:])[own]
        for asked in ROBUST_CAPTIONS:
            nine += _right(embedding, seen, sentences, asked)
    middle = (len(whole.frames[0]) - 1) // 2
    told = INSTRUCTIONS[RETRIEVAL]
    one = normalised(embedding.rows([frames[middle] for frames in whole.frames], told[DESCRIPTION][FRAME])[:])[own]
    frame = _right(embedding, one, sentences, told[TARGET][FRAME])
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
    embedding: Embedding, seen: NDArray[np.float32], sentences: Sequence[Sequence[str]], asked: str
) -> NDArray[np.bool_]:
    """Return whether the caption is nearer to its video's text than every foil, (n,); a tie does not count."""
    flat = [text for texts in sentences for text in texts]
    rows = normalised(embedding.rows(flat, asked)[:])
    right, first = [], 0
    for at, texts in enumerate(sentences):
        scores = rows[first : first + len(texts)] @ seen[at]
        first += len(texts)
        right.append(len(texts) > 1 and bool(scores[0] > scores[1:].max()))
    return np.array(right, dtype=np.bool_)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), ITEMS_PER_BATCH):
        yield items[start : start + ITEMS_PER_BATCH]
