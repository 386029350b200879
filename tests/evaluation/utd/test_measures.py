"""Bias towards a representation, against plain loops and hand-made cases."""

import numpy as np
import pytest

from evaluation.errors import EvaluationError
from evaluation.utd import bias_measures
from evaluation.utd.bias_measures import Embedded
from evaluation.utd.concepts import AVERAGE, MAX_SCORE, MIDDLE, SEQUENCE, TEMPORAL


def plain_cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


@pytest.fixture(scope="module")
def world():
    """40 videos of 4 frames, 5 classes, random vectors."""
    rng = np.random.default_rng(0)
    frames = rng.normal(size=(40, 4, 6)).astype(np.float32)
    videos = Embedded(frames, rng.normal(size=(40, 6)).astype(np.float32))
    return (
        videos,
        rng.normal(size=(5, 6)).astype(np.float32),
        rng.integers(0, 5, 40),
        rng.normal(size=(40, 6)).astype(np.float32),
    )


def scores_of(videos, place, target, temporal):
    frames = videos.frames[place]
    if temporal == MAX_SCORE:
        return max(plain_cosine(frame, target) for frame in frames)
    if temporal == AVERAGE:
        return plain_cosine(np.mean([frame / np.linalg.norm(frame) for frame in frames], axis=0), target)
    return plain_cosine(frames[1] if temporal == MIDDLE else videos.sequences[place], target)


@pytest.mark.parametrize("temporal", TEMPORAL)
def test_classification_takes_the_class_of_highest_cosine(world, temporal, monkeypatch):
    videos, targets, labels, _ = world
    expected = [
        int(np.argmax([scores_of(videos, place, target, temporal) for target in targets]) == labels[place])
        for place in range(40)
    ]
    assert bias_measures.classified(videos, targets, labels, temporal).tolist() == expected
    monkeypatch.setattr(bias_measures, "BLOCK_BYTES", 200)
    assert bias_measures.classified(videos, targets, labels, temporal).tolist() == expected


@pytest.mark.parametrize("temporal", TEMPORAL)
def test_retrieval_finds_the_captions_own_video_first(world, temporal, monkeypatch):
    videos, _, _, captions = world
    captions = captions + 2 * videos.sequences
    expected = [
        int(np.argmax([scores_of(videos, place, caption, temporal) for place in range(40)]) == own)
        for own, caption in enumerate(captions)
    ]
    assert sum(expected) > 0 or temporal != SEQUENCE
    assert bias_measures.retrieved(captions, videos, temporal).tolist() == expected
    monkeypatch.setattr(bias_measures, "BLOCK_BYTES", 2_000)
    monkeypatch.setattr(bias_measures, "QUERIES", 7)
    assert bias_measures.retrieved(captions, videos, temporal).tolist() == expected


@pytest.mark.parametrize("temporal", TEMPORAL)
def test_equal_texts_remain_tied_in_any_block(temporal, monkeypatch):
    monkeypatch.setattr(bias_measures, "BLOCK_BYTES", 1)
    monkeypatch.setattr(bias_measures, "QUERIES", 16)
    table = np.random.default_rng(3).normal(size=(5, 48)).astype(np.float32)
    places = np.arange(200) % 5
    videos = Embedded(
        bias_measures.Gathered(table, places[:, None].repeat(4, axis=1)), bias_measures.Gathered(table, places)
    )
    # Each caption is its own video's text, which 40 videos have.
    found = bias_measures.retrieved(bias_measures.Gathered(table, places), videos, temporal)
    assert found.tolist() == [1 / 40] * 200


def test_the_oracle_reading_of_max_is_right_if_any_frame_is():
    frames = np.array([[[1.0, 0], [0, 3.0]]], dtype=np.float32)
    videos = Embedded(frames, frames[:, 0])
    # Frame 1 says class 0 with cosine 1, frame 2 class 1 with cosine 1: as a plain maximum the two are level.
    targets = np.eye(2, dtype=np.float32)
    assert bias_measures.classified(videos, targets, np.array([1]), MAX_SCORE).tolist() == [0.5]
    assert bias_measures.classified(videos, targets, np.array([1]), MAX_SCORE, oracle=True).tolist() == [1.0]


def test_a_reduced_gallery_searches_only_the_remaining_videos():
    captions = np.eye(3, dtype=np.float32)
    sequences = np.array([[1, 0.2, 0], [1, 0.1, 0], [0, 0, 1]], dtype=np.float32)
    videos = Embedded(sequences[:, None], sequences)
    assert bias_measures.retrieved(captions, videos, SEQUENCE).tolist() == [0.0, 0.0, 1.0]
    reduced = bias_measures.retrieved(captions, videos, SEQUENCE, gallery=np.array([0, 2]))
    assert reduced[0] == 1.0
    assert np.isnan(reduced[1])


def test_the_middle_of_eight_frames_is_the_fourth():
    frames = np.arange(8, dtype=np.float32)[None, :, None]
    assert Embedded(frames, frames[:, 0]).vectors(MIDDLE).tolist() == [[3.0]]
    with pytest.raises(EvaluationError, match="has no single vector a video"):
        Embedded(frames, frames[:, 0]).vectors(MAX_SCORE)


@pytest.fixture(scope="module")
def split():
    """A colour that goes with a class in train and test, hidden in a direction that no class name points to."""
    rng = np.random.default_rng(1)

    def videos(labels):
        frames = rng.normal(scale=0.3, size=(len(labels), 4, 8)).astype(np.float32)
        frames[:, :, 6] += np.where(labels == 1, 2.0, -2.0)[:, None]
        return Embedded(frames, frames.mean(axis=1))

    train_labels, labels = rng.integers(0, 2, 80), rng.integers(0, 2, 60)
    return videos(train_labels), train_labels, videos(labels), labels


class TestDatasetBias:
    @pytest.mark.parametrize("temporal", TEMPORAL)
    def test_training_finds_what_common_sense_does_not(self, split, temporal):
        train, train_labels, test, labels = split
        names = np.eye(8, dtype=np.float32)[:2]
        common = bias_measures.classified(test, names, labels, temporal).mean()
        learnt = bias_measures.classified_by_training(train, train_labels, test, labels, 2, temporal).mean()
        assert learnt >= common + 0.3
        assert learnt > 0.95

    def test_a_class_that_training_never_saw_is_never_right(self, split):
        train, train_labels, test, labels = split
        unseen = np.where(labels == 1, 2, 0)
        credits = bias_measures.classified_by_training(train, train_labels, test, unseen, 3, SEQUENCE)
        assert credits[unseen == 2].sum() == 0
        assert credits[unseen == 0].mean() > 0.9

    def test_training_samples_of_one_class_are_refused(self, split):
        train, train_labels, test, labels = split
        with pytest.raises(EvaluationError, match="fewer than two classes"):
            bias_measures.classified_by_training(train, np.zeros_like(train_labels), test, labels, 2, SEQUENCE)

    def test_nine_models_differ_and_are_reproducible(self, split):
        train, train_labels, test, labels = split
        three = [train.sequences, train.sequences[:, ::-1].copy(), train.sequences + 0.01]
        judged = [test.sequences, test.sequences[:, ::-1].copy(), test.sequences + 0.01]
        right, confidence = bias_measures.nine_classifiers(three, train_labels, judged, labels, 2)
        assert right.shape == (60, 9)
        assert right.mean() > 0.95
        assert ((confidence > 0) & (confidence < 1)).all()
        again, same = bias_measures.nine_classifiers(three, train_labels, judged, labels, 2)
        assert (right == again).all()
        assert (confidence == same).all()
        _, other = bias_measures.nine_classifiers(three, train_labels, judged, labels, 2, seed=100)
        assert (confidence != other).any()


def test_nine_retrievals_are_right_only_if_the_own_video_is_first_without_ties():
    captions = np.eye(3, dtype=np.float32)
    videos = np.eye(3, dtype=np.float32)
    videos[1] = videos[0]
    right = bias_measures.nine_retrievals([captions] * 3, [bias_measures.Gathered(videos, np.arange(3))] * 3)
    assert right.shape == (3, 9)
    assert right.all(axis=1).tolist() == [False, False, True]


@pytest.mark.parametrize("block_bytes", [2**20, 200])
def test_ranks_are_those_of_the_authors_rule(world, block_bytes, monkeypatch):
    """Their rule: sort the scores, and average the positions that equal the own score."""
    monkeypatch.setattr(bias_measures, "BLOCK_BYTES", block_bytes)
    videos, targets, labels, _ = world
    gallery = np.vstack([targets, targets[:2]])
    names = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
    expected = []
    for row, label in zip(videos.sequences, labels, strict=True):
        scores = np.round(names @ (row / np.linalg.norm(row)), 5)
        expected.append(np.mean(np.flatnonzero(np.sort(-scores) == -scores[label])))
    assert bias_measures.ranks(videos.sequences, gallery, labels) == pytest.approx(expected, abs=1e-6)
