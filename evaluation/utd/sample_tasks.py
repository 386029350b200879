"""Hold the samples that a measurement judges and trains on, and the parts of them that have the texts of a cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd.bias_measures import Credits, Embedded
from evaluation.utd.concepts import OBJECTS, SEQUENCE
from evaluation.utd.instructions import CLASSIFICATION
from evaluation.utd.models import BiasRun, Descriptions
from evaluation.utd.procedure import AS_PUBLISHED, Procedure, procedure_of
from evaluation.utd.representations import Embedding, Texts, texts_of
from evaluation.utd.required_texts import complete
from evaluation.utd.samples import Sample, described_by_text, raw_frames
from foilworks.core.text.quoting import quoted

VIDEOS_PER_CHUNK = 500


@dataclass
class SampleTask:
    """n samples to judge and, in classification, those to train on; `names`: classes, or captions.

    `texts`: the texts of each name; `described`: the videos with each kind of text.
    """

    run: BiasRun
    test: Sequence[Sample]
    train: Sequence[Sample]
    names: Sequence[str]
    texts: Sequence[Sequence[str]]
    labels: NDArray[np.int64]
    train_labels: NDArray[np.int64]
    described: Mapping[str, set[int]]
    embedding: Embedding = field(init=False)

    @property
    def classifies(self) -> bool:
        return self.run.task == CLASSIFICATION

    @property
    def procedure(self) -> Procedure:
        return procedure_of(self.run.params)

    def with_texts(self, concept: str, temporal: str) -> "SampleTask":
        """Return the task of the samples that have the texts of a cell."""
        videos = complete(self.described, concept, temporal)
        test_indices, train_indices = (
            np.flatnonzero([sample.video in videos for sample in some]) for some in (self.test, self.train)
        )
        cell_task = replace(
            self,
            test=[self.test[at] for at in test_indices],
            train=[self.train[at] for at in train_indices],
            labels=self.labels[test_indices] if self.classifies else np.arange(len(test_indices)),
            train_labels=self.train_labels[train_indices],
        )
        if not self.classifies:
            cell_task.names, cell_task.texts = (
                [self.names[at] for at in test_indices],
                [self.texts[at] for at in test_indices],
            )
        if len(np.unique(cell_task.train_labels)) < 2:
            cell_task.train, cell_task.train_labels = [], np.zeros(0, np.int64)
        if hasattr(self, "embedding"):
            cell_task.embedding = self.embedding
        return cell_task

    def spread(self, cell_task: "SampleTask", credits: Credits) -> Credits:
        """Return the credits of a cell's task for all samples, NaN for the others."""
        row_by_id = {sample.id: at for at, sample in enumerate(self.test)}
        all_credits = np.full(len(self.test), np.nan)
        all_credits[[row_by_id[sample.id] for sample in cell_task.test]] = credits
        return all_credits

    def credits_in(self, cell_task: "SampleTask", credits: Credits) -> Credits:
        """Return the credits of the samples of a cell's task."""
        sample_ids = {sample.id for sample in cell_task.test}
        return credits[[sample.id in sample_ids for sample in self.test]]

    def embedded(self, samples: Sequence[Sample], concept: str, kind: str) -> Embedded:
        texts = chunks(self.run.descriptions, [sample.video for sample in samples], concept, self.procedure, kind)
        return self.embedding.videos(texts, self.run.task, concept)

    def sequences(self, samples: Sequence[Sample], instruction: str) -> Any:
        """Return the sequences of objects under an instruction, (n, d)."""
        videos = [sample.video for sample in samples]
        texts = chunks(self.run.descriptions, videos, OBJECTS, self.procedure, SEQUENCE)
        return self.embedding.sequences(texts, instruction)


def chunks(
    descriptions: Descriptions,
    videos: Sequence[int],
    concept: str,
    procedure: Procedure = AS_PUBLISHED,
    kind: str = "",
) -> Iterator[Texts]:
    """Return the texts of the videos, in order, some hundred videos at a time."""
    for start in range(0, len(videos), VIDEOS_PER_CHUNK):
        some = raw_frames(descriptions, videos[start : start + VIDEOS_PER_CHUNK])
        yield texts_of(some, concept, procedure, kind)


def task_of(run: BiasRun, samples: Sequence[Sample]) -> SampleTask:
    """Return the task without its embedding, which only `measure_units` needs."""
    test = [sample for sample in samples if not sample.train]
    train = [sample for sample in samples if sample.train]
    described = described_by_text(run.descriptions)
    if run.task != CLASSIFICATION:
        captions = [sample.target for sample in test]
        if len(captions) < 2:
            raise EvaluationError("retrieval needs at least two captions of described videos; describe more videos")
        texts = [sample.captions for sample in test]
        return SampleTask(run, test, [], captions, texts, np.arange(len(test)), np.zeros(0, np.int64), described)
    names = sorted({sample.target for sample in samples})
    if len(names) < 2:
        raise EvaluationError(f"all samples have the class {quoted(names[0])}; choose a different source of classes")
    index_by_name = {name: at for at, name in enumerate(names)}
    labels, learnt = (np.array([index_by_name[sample.target] for sample in some], np.int64) for some in (test, train))
    if len(set(learnt.tolist())) < 2:
        train, learnt = [], np.zeros(0, np.int64)
    class_texts = run.params.get("class_texts", {})
    return SampleTask(
        run, test, train, names, [[class_texts.get(name, name)] for name in names], labels, learnt, described
    )
