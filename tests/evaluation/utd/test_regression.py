"""Logistic regression by block, against scikit-learn on the whole array."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from evaluation.utd import bias_measures, regression
from evaluation.utd.bias_measures import Embedded, Gathered
from evaluation.utd.concepts import TEMPORAL
from evaluation.utd.vector_formats import FLOAT16

VIDEOS, FRAMES, WIDTH = 2_000, 4, 24


def samples(classes, seed=0):
    """Vectors that lean towards their class, so that some samples are right and some are not."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, VIDEOS)
    centres = np.random.default_rng(99).normal(size=(classes, WIDTH))
    frames = (centres[labels][:, None] + rng.normal(scale=3.0, size=(VIDEOS, FRAMES, WIDTH))).astype(np.float32)
    return frames, labels


def dense(vectors, labels, tested):
    model = LogisticRegression(C=1.0, max_iter=1_000, tol=1e-9)
    model.fit(regression.scaled(vectors).astype(np.float64), labels)
    return model, model.predict_log_proba(regression.scaled(tested).astype(np.float64))


@pytest.fixture
def small_blocks(monkeypatch):
    """100 rows per block, in a file."""
    monkeypatch.setattr(regression, "BLOCK_BYTES", 100 * 4 * WIDTH)
    monkeypatch.setattr(regression, "HELD_BYTES", 0)
    monkeypatch.setattr(bias_measures, "BLOCK_BYTES", 8 * 100 * WIDTH)


@pytest.mark.parametrize("classes", [2, 7])
def test_the_optimum_is_that_of_scikit_learn(classes, small_blocks, tmp_path):
    frames, labels = samples(classes)
    tested = samples(classes, seed=1)[0][:, 0]
    found = regression.fit(frames[:, 0], labels, scratch=tmp_path)
    _, expected = dense(frames[:, 0], labels, tested)
    assert np.abs(found.log_probabilities(regression.scaled(tested)) - expected).max() < 1e-3
    assert not list(tmp_path.iterdir())


def test_many_classes_do_not_stop_at_the_start():
    """The mean slope at the start is below the tolerance of scikit-learn."""
    rng = np.random.default_rng(0)
    labels = np.arange(4_000) % 200
    vectors = (rng.normal(size=(200, WIDTH))[labels] + rng.normal(size=(4_000, WIDTH))).astype(np.float32)
    found = regression.fit(vectors, labels)
    assert found.iterations > 3
    assert (found.log_probabilities(regression.scaled(vectors)).argmax(axis=1) == labels).mean() > 0.5


def test_a_row_that_counts_twice_is_a_row_that_is_there_twice(small_blocks):
    frames, labels = samples(5)
    drawn = np.random.default_rng(3).integers(0, VIDEOS, VIDEOS)
    found = regression.fit(frames[:, 0], labels, counts=np.bincount(drawn, minlength=VIDEOS))
    _, expected = dense(frames[drawn, 0], labels[drawn], frames[:, 0])
    assert np.abs(found.log_probabilities(regression.scaled(frames[:, 0])) - expected).max() < 1e-3


@pytest.mark.parametrize("temporal", TEMPORAL)
def test_blocks_give_the_cells_of_the_whole_array_on_2000_videos(temporal, small_blocks):
    (train, train_labels), (test, labels) = samples(7), samples(7, seed=1)
    learnt, judged = (Embedded(frames, frames.mean(axis=1)) for frames in (train, test))
    found = bias_measures.classified_by_training(learnt, train_labels, judged, labels, 7, temporal)
    if temporal == "max":
        _, scores = dense(train.reshape(-1, WIDTH), np.repeat(train_labels, FRAMES), test.reshape(-1, WIDTH))
        scores = scores.reshape(VIDEOS, FRAMES, -1).max(axis=1)
    else:
        _, scores = dense(learnt.vectors(temporal), train_labels, judged.vectors(temporal))
    assert 0.2 < found.mean() < 0.95
    assert (found == bias_measures.credit_of(scores, labels)).mean() >= 0.999
    assert abs(found.mean() - bias_measures.credit_of(scores, labels).mean()) <= 1e-3


@pytest.mark.parametrize("temporal", TEMPORAL)
def test_frames_without_a_text_count_nowhere_in_any_block(temporal, small_blocks):
    (train, train_labels), (test, labels) = samples(7), samples(7, seed=1)
    train[::3, 1], train[::50], test[::3, 2] = 0, 0, 0
    there, judged = train.any(axis=2), test.any(axis=2)
    means = [bias_measures.mean_present(frames) for frames in (train, test)]
    found = bias_measures.classified_by_training(
        Embedded(train, means[0]), train_labels, Embedded(test, means[1]), labels, 7, temporal
    )
    if temporal == "max":
        _, scores = dense(train[there], np.repeat(train_labels, FRAMES)[there.ravel()], test.reshape(-1, WIDTH))
        scores = np.where(judged[..., None], scores.reshape(VIDEOS, FRAMES, -1), -np.inf).max(axis=1)
    else:
        learnt, rows = (train[:, 1], test[:, 1]) if temporal == "middle" else means
        kept = learnt.any(axis=1)
        _, scores = dense(learnt[kept], train_labels[kept], rows)
    assert (found == bias_measures.credit_of(scores, labels)).mean() >= 0.999


def test_float16_changes_less_than_a_tenth_of_a_point(small_blocks):
    (train, train_labels), (test, labels) = samples(7), samples(7, seed=1)
    right = []
    for kind in (np.float32, FLOAT16):
        rows = [Gathered(frames.mean(axis=1).astype(kind), np.arange(VIDEOS)) for frames in (train, test)]
        right.append(
            bias_measures.nine_classifiers([rows[0]], train_labels, [rows[1]], labels, 7, bootstraps=1)[0][:, 0]
        )
    assert (right[0] == right[1]).mean() >= 0.995
    assert abs(right[0].mean() - right[1].mean()) <= 1e-3
