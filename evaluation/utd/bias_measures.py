"""Measure bias towards a representation (UTD, Secs. 3.1 and 3.3.2): how often a model that sees nothing else is right.

All functions return M(v_n, phi), right (1) or wrong (0) for every sample; a bias is its mean. Text embeddings are float
arrays; similarities are cosines, computed in blocks, so that no array of all samples by all frames by all targets ever
exists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import EvaluationError
from evaluation.utd import regression
from evaluation.utd.concepts import AVERAGE, MAX_SCORE, MIDDLE, SEQUENCE, TEMPORAL
from evaluation.utd.regression import Linear
from evaluation.utd.regression import scaled as normalised
from foilworks.core.text.quoting import quoted

Floats = NDArray[np.float32]
Credits = NDArray[np.float64]
BLOCK_BYTES = 32 * 2**20
# Number of captions per pass over a gallery.
QUERIES = 512
# The place of a text that does not exist: its vector is zero, and no model sees it.
NO_TEXT = -1
# The default of scikit-learn; the paper only names the model.
INVERSE_REGULARISATION, ITERATIONS = 1.0, 1_000


class Rows(Protocol):
    """Vectors that are read block by block: an array, or `Gathered`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def ndim(self) -> int: ...

    def __len__(self) -> int: ...

    def __getitem__(self, at: Any, /) -> Any: ...


@dataclass(frozen=True)
class Gathered:
    """Vectors of texts with many duplicates: `table` (u, d), memory-mapped if it is large; `indices` (n, k) or (n,).

    A row NO_TEXT has a vector of zeros.
    """

    table: Any
    indices: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.indices.shape, self.table.shape[1])

    @property
    def ndim(self) -> int:
        return self.indices.ndim + 1

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, at: Any, /) -> Floats:
        indices = np.asarray(self.indices[at])
        vectors = np.asarray(self.table[indices], dtype=np.float32)
        if (indices == NO_TEXT).any():
            vectors = np.where((indices == NO_TEXT)[..., None], np.float32(0), vectors)
        return vectors


@dataclass(frozen=True)
class Averaged(Gathered):
    """The mean of several texts' vectors per row: `indices` (n, m), filled up with NO_TEXT."""

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.indices), self.table.shape[1])

    @property
    def ndim(self) -> int:
        return 2

    def __getitem__(self, at: Any, /) -> Floats:
        return mean_present(super().__getitem__(at))


@dataclass(frozen=True)
class Embedded:
    """Videos of one concept: `frames` (n, k, d) one vector per frame, `sequences` (n, d) one per video."""

    frames: Rows
    sequences: Rows

    def __post_init__(self) -> None:
        if self.frames.ndim != 3 or self.sequences.shape != (len(self.frames), self.frames.shape[2]):
            raise EvaluationError(
                f"embeddings have the shapes {self.frames.shape} and {self.sequences.shape}; give (n, k, d) and (n, d)"
            )

    def vectors(self, temporal: str, at: Any = slice(None)) -> Floats:
        """Return the one vector of each video, (n, d), or of the videos at `at`; EvaluationError for `max`, which has
        one per frame.

        The middle frame of k is number k/2 counted from 1 (UTD, Sec. 3.2): of 8 the fourth.
        """
        if temporal == SEQUENCE:
            return np.asarray(self.sequences[at])
        if temporal == MIDDLE:
            return np.asarray(self.frames[at, (self.frames.shape[1] - 1) // 2])
        if temporal == AVERAGE:
            return mean_present(self.frames[at])
        raise EvaluationError(f"{quoted(temporal)} has no single vector a video; choose one of: {', '.join(TEMPORAL)}")


def present(vectors: Any) -> NDArray[np.bool_]:
    """Return which of the vectors (..., d) belong to a text, (...)."""
    return np.asarray(np.any(np.asarray(vectors) != 0, axis=-1))


def mean_present(vectors: Any) -> Floats:
    """Average normalised vectors (n, k, d) over those that belong to a text, (n, d); zeros if none does."""
    counts = np.maximum(present(vectors).sum(axis=-1, keepdims=True), 1)
    return np.asarray(normalised(vectors).sum(axis=-2) / counts, dtype=np.float32)


def _hidden(scores: NDArray[Any], vectors: Any) -> NDArray[Any]:
    """Set the scores (n, k, c) of frames without a text to -inf, unless the video has no text at all."""
    has_text = present(vectors)
    absent = ~has_text & has_text.any(axis=1, keepdims=True)
    return np.where(absent[..., None], -np.inf, scores)


def products(rows: Any, targets: Any) -> Floats:
    """Compute (..., m) of `rows` (..., d) and `targets` (m, d); equal vectors have equal products wherever they are.

    The rounding of a matrix product depends on the position of a row in it and on the processor. So it is computed in
    double precision, and its last digits are rounded away.
    """
    return np.asarray(np.asarray(rows, np.float64) @ np.asarray(targets, np.float64).T, dtype=np.float32)


def classified(
    videos: Embedded, targets: Floats, labels: NDArray[np.int64], temporal: str, *, oracle: bool = False
) -> Credits:
    """Compute common sense bias in classification, (n,): the class with the highest cosine is the true one.

    `targets` (c, d) the class names' embeddings, `labels` (n,) indices of the true classes. `max`: the highest cosine
    over the frames for each class, then the best class. `oracle`, the other reading of (UTD, Sec. 3.2): right if any
    frame alone is. Classes tied for best share the credit. A video without any text is a tie of all classes.
    """
    names = normalised(targets)
    credits = np.empty(len(labels))
    for start, end in _steps(len(labels), 8 * sum(names.shape) * videos.frames.shape[1]):
        if temporal == MAX_SCORE:
            frames = videos.frames[start:end]
            scores = _hidden(products(normalised(frames), names), frames)
            oracle_credits = credit_of(scores, labels[start:end, None]).max(axis=1) if oracle else None
            credits[start:end] = (
                credit_of(scores.max(axis=1), labels[start:end]) if oracle_credits is None else oracle_credits
            )
        else:
            scores = products(normalised(videos.vectors(temporal, slice(start, end))), names)
            credits[start:end] = credit_of(scores, labels[start:end])
    return credits


def retrieved(
    captions: Rows,
    videos: Embedded,
    temporal: str,
    *,
    gallery: NDArray[np.int64] | None = None,
    shares_ties: bool = True,
) -> Credits:
    """Compute common sense bias in text-to-video retrieval, (n,): caption i's own video, video i, ranks first.

    `captions` (n, d). `gallery`: the videos that are searched (all by default); captions whose video is not in it get
    NaN. Videos tied for best share the credit, or earn nothing. A video without any text is never found.
    """
    n, k = len(videos.frames), videos.frames.shape[1]
    within = np.arange(n) if gallery is None else np.asarray(gallery)
    column = np.full(n, -1)
    column[within] = np.arange(len(within))
    credits = np.full(n, np.nan)
    query_indices = np.flatnonzero(column >= 0)
    for start in range(0, len(query_indices), QUERIES):
        batch = query_indices[start : start + QUERIES]
        queries = normalised(captions[batch])
        best = _Best(len(batch))
        for first, end in _tiles(len(within), queries.shape[1], k if temporal == MAX_SCORE else 1):
            video_indices = within[first:end]
            vectors = (
                videos.frames[video_indices]
                if temporal == MAX_SCORE
                else videos.vectors(temporal, video_indices)[:, None]
            )
            scores = products(queries, normalised(vectors).reshape(-1, queries.shape[1]))
            scores = np.where(present(vectors).reshape(-1), scores, np.float32(-np.inf))
            best.see(scores.reshape(len(batch), len(video_indices), -1).max(axis=2), column[batch] - first)
        batch_credits = best.credits()
        credits[batch] = batch_credits if shares_ties else np.floor(batch_credits)
    return credits


class _Best:
    """The best score of each of m queries over tiles of a gallery, its number of ties, and the score of the own
    video."""

    def __init__(self, m: int) -> None:
        self.score, self.level, self.own = np.full(m, -np.inf), np.zeros(m), np.full(m, np.nan)

    def see(self, scores: Floats, own: NDArray[np.int64]) -> None:
        """Process scores (m, g) of a tile; `own` (m,) the column of the own video, outside of 0..g-1 if it is not in
        the tile.
        """
        in_tile = np.flatnonzero((own >= 0) & (own < scores.shape[1]))
        self.own[in_tile] = scores[in_tile, own[in_tile]]
        top = scores.max(axis=1)
        level = (scores == top[:, None]).sum(axis=1)
        self.level = np.where(top > self.score, level, self.level + np.where(top == self.score, level, 0))
        self.score = np.maximum(self.score, top)

    def credits(self) -> Credits:
        is_best = (self.own == self.score) & np.isfinite(self.own)
        return np.where(is_best, 1.0 / np.maximum(self.level, 1.0), 0.0)


def ranks(queries: Rows, gallery: Floats, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of row `labels[i]` of the gallery for query i, from 0, (n,); tied rows share their mean rank."""
    rows = normalised(gallery)
    query_ranks = np.empty(len(labels))
    for start, end in _steps(len(labels), 8 * sum(rows.shape)):
        scores = products(normalised(queries[start:end]), rows)
        own = np.take_along_axis(scores, labels[start:end, None], axis=1)
        query_ranks[start:end] = (scores > own).sum(axis=1) + ((scores == own).sum(axis=1) - 1) / 2
    return query_ranks


def _tiles(size: int, d: int, k: int) -> Iterator[tuple[int, int]]:
    """Return (start, end) of parts of a gallery of k vectors per video: neither a part nor its scores take more than
    BLOCK_BYTES, if it has more than 64 videos.
    """
    step = max(64, BLOCK_BYTES // (8 * k * max(d, QUERIES)))
    for start in range(0, size, step):
        yield start, min(size, start + step)


@dataclass(frozen=True)
class Fitted:
    """A linear model on embeddings and the classes that it has seen."""

    model: Linear
    n_classes: int

    def scores(self, vectors: Floats) -> NDArray[np.float64]:
        """Return log-probabilities, (n, c); -inf for a class that was not in training."""
        log_probabilities = np.full((len(vectors), self.n_classes), -np.inf)
        log_probabilities[:, self.model.classes] = self.model.log_probabilities(vectors)
        return log_probabilities

    def judged(self, rows: Rows, labels: NDArray[np.int64], per_video: int = 1) -> tuple[Credits, Credits]:
        """Return the credit of each video and its probability of the true class, (n,) each, in blocks.

        `rows` (n * `per_video`, d); a class's score is its highest over the rows of a video that have a text.
        """
        credits, confidence = np.empty(len(labels)), np.empty(len(labels))
        for start, end in _steps(len(labels), 8 * per_video * (self.n_classes + rows.shape[1])):
            vectors = rows[np.arange(start * per_video, end * per_video)]
            scores = self.scores(normalised(vectors)).reshape(end - start, per_video, self.n_classes)
            scores = _hidden(scores, vectors.reshape(end - start, per_video, -1)).max(axis=1)
            credits[start:end] = credit_of(scores, labels[start:end])
            confidence[start:end] = np.exp(scores[np.arange(end - start), labels[start:end]])
        return credits, confidence


class TooFewClassesError(EvaluationError):
    """The training samples whose texts say something have fewer than two classes."""


@dataclass(frozen=True)
class Aggregated:
    """One vector per video, (n, d), or for `max` one per frame, (n * k, d): computed when they are read."""

    videos: Embedded
    temporal: str

    @property
    def per_video(self) -> int:
        return self.videos.frames.shape[1] if self.temporal == MAX_SCORE else 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.videos.frames) * self.per_video, self.videos.frames.shape[2])

    @property
    def ndim(self) -> int:
        return 2

    def __len__(self) -> int:
        return self.shape[0]

    def has_text(self) -> NDArray[np.bool_]:
        """Return which rows belong to a text, read in blocks."""
        has_text = np.empty(len(self), np.bool_)
        for start, end in _steps(len(self), 4 * self.shape[1]):
            has_text[start:end] = present(self[start:end])
        return has_text

    def __getitem__(self, at: Any, /) -> Floats:
        indices = np.arange(len(self))[at]
        if self.temporal == MAX_SCORE:
            video, frame = np.divmod(indices, self.per_video)
            return np.asarray(self.videos.frames[video, frame])
        vectors = np.empty((len(indices), self.shape[1]), np.float32)
        k, d = self.videos.frames.shape[1:]
        for start, end in _steps(len(indices), 8 * k * d):
            vectors[start:end] = self.videos.vectors(self.temporal, indices[start:end])
        return vectors


def drawn(labels: NDArray[np.int64], seed: int, *, stratified: bool = False) -> NDArray[np.int64]:
    """Draw a bootstrap sample of the same size (UTD, Sec. B.3): indices in `labels`.

    `stratified`: each class keeps its number of samples.
    """
    rng = np.random.default_rng(seed)
    if not stratified:
        return rng.integers(0, len(labels), len(labels))
    classes = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return np.concatenate([rng.choice(members, len(members)) for members in classes])


def fitted(
    vectors: Rows,
    labels: NDArray[np.int64],
    n_classes: int,
    *,
    bootstrap: int | None = None,
    stratified: bool = False,
    has_text: NDArray[np.bool_] | None = None,
    c: float = INVERSE_REGULARISATION,
    scratch: Path | None = None,
) -> Fitted:
    """Fit dataset bias (UTD, Sec. 3.3.2): logistic regression on the train split's embeddings (n, d), in blocks.

    `bootstrap`: the seed of a sample with replacement (`drawn`). `has_text`: the rows to train on, (n,). `scratch`:
    folder of temporary files. TooFewClassesError if the training samples have fewer than two classes.
    """
    sampled_rows = np.arange(len(labels)) if bootstrap is None else drawn(labels, bootstrap, stratified=stratified)
    counts = np.bincount(sampled_rows, minlength=len(labels))
    if has_text is not None:
        counts[~has_text] = 0
    if len(np.unique(labels[counts > 0])) < 2:
        raise TooFewClassesError(
            "the training samples with texts are of fewer than two classes; give train-split videos of several classes"
        )
    model = regression.fit(
        vectors, labels, counts=counts, inverse_regularisation=c, iterations=ITERATIONS, scratch=scratch
    )
    return Fitted(model, n_classes)


def classified_by_training(
    train: Embedded,
    train_labels: NDArray[np.int64],
    test: Embedded,
    labels: NDArray[np.int64],
    n_classes: int,
    temporal: str,
    *,
    c: float = INVERSE_REGULARISATION,
    scratch: Path | None = None,
) -> Credits:
    """Compute dataset bias, (n,): as `classified`, by a linear model of the given embedding. `max`: it trains on
    frames, and a class's score is its highest over the frames of a video. It trains only on videos and frames that
    have a text.
    """
    learnt, judged = Aggregated(train, temporal), Aggregated(test, temporal)
    repeated = np.repeat(train_labels, learnt.per_video)
    model = fitted(learnt, repeated, n_classes, has_text=learnt.has_text(), c=c, scratch=scratch)
    return model.judged(judged, labels, judged.per_video)[0]


def nine_classifiers(
    train: Sequence[Rows],
    train_labels: NDArray[np.int64],
    test: Sequence[Rows],
    labels: NDArray[np.int64],
    n_classes: int,
    *,
    seed: int = 0,
    bootstraps: int = 3,
    stratified: bool = False,
    c: float = INVERSE_REGULARISATION,
    scratch: Path | None = None,
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return right or wrong, (n, 9), and mean probability of the true class, (n,) (UTD, Sec. B.3).

    The nine are three embeddings of the object sequences, `train` and `test` each of three (., d), by three models of
    bootstrapped training sets.
    """
    right, confidence = [], []
    for number, (learnt, judged) in enumerate(zip(train, test, strict=True)):
        for draw in range(bootstraps):
            at = seed + number * bootstraps + draw
            model = fitted(learnt, train_labels, n_classes, bootstrap=at, stratified=stratified, c=c, scratch=scratch)
            credits, sure = model.judged(judged, labels)
            right.append(credits == 1.0)
            confidence.append(sure)
    return np.column_stack(right), np.mean(confidence, axis=0)


def nine_retrievals(captions: Sequence[Rows], videos: Sequence[Gathered]) -> NDArray[np.bool_]:
    """Return whether each query ranks its own video first and without a tie, (n, 9).

    The nine are three embeddings of the captions by three of the object sequences, each (n, d).
    """
    right = []
    for queries in captions:
        for sequences in videos:
            single = Embedded(Gathered(sequences.table, sequences.indices[:, None]), sequences)
            right.append(retrieved(queries, single, SEQUENCE) == 1.0)
    return np.column_stack(right)


def credit_of(scores: NDArray[Any], right: NDArray[np.int64]) -> Credits:
    """Return the right column's share of the best rank in `scores` (..., c): 1 alone, 1/m tied with m - 1."""
    own = np.take_along_axis(scores, np.broadcast_to(right, scores.shape[:-1])[..., None], axis=-1)
    above, level = (scores > own).sum(axis=-1), (scores == own).sum(axis=-1)
    # An unseen class scores -inf, as do others: it is not an answer, so it earns nothing.
    return np.where((above == 0) & np.isfinite(own[..., 0]), 1.0 / level, 0.0)


def _steps(size: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, size, step):
        yield start, min(size, start + step)
