"""The scoring loop: each clip and each distinct text once, whatever the order of the requests."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.scoring.caches import VectorCache
from evaluation.scoring.clip_keys import clip_key
from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import ScoringCounts, score_pairs
from evaluation.scoring.protocol_models import reader
from evaluation.scoring.protocols import PROTOCOLS
from foilworks.core.hub.adapters.fake import FakeEmbedder, FakeScorer
from foilworks.core.hub.errors import ClipError
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, VideoMeta
from foilworks.core.media.encode import write_mp4
from foilworks.core.media.file_cache import FileCache
from foilworks.core.media.frame_cache import FrameCache


def still(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
    """Frames made from the clip's key: no file, no decoder."""
    frames = np.full((info.frames, 8, 8, 3), len(clip.key) * 7 % 256, np.uint8)
    return frames, VideoMeta(clip.key)


def test_equal_numbers_of_different_units_are_different_clips() -> None:
    video = {"sha256": "", "source_dataset": "QUVA", "source_id": "1", "key": "k", "start_time": 1.0, "end_time": 2.0}
    keys = [clip_key({**video, "time_unit": unit}) for unit in ("sec", "pts", "frames")]
    assert keys == ["QUVA/1@1.0-2.0", "QUVA/1@1.0-2.0pts", "QUVA/1@1.0-2.0frames"]


class CountingEmbedder(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.clips: list[str] = []
        self.text_batches: list[Sequence[str]] = []

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> np.ndarray:
        self.clips += [about.key for about in meta]
        return super().encode_video(clips, meta)

    def encode_text(self, texts: Sequence[str]) -> np.ndarray:
        self.text_batches.append(texts)
        return super().encode_text(texts)


class PairScorer:
    """Scores a text by its length times the clip's grey level."""

    info = ModelInfo("pairs", "1", ScoreKind.LOGIT, frames=1)

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        assert clip is not None
        return [Score(float(len(text) * clip[0, 0, 0, 0]), ScoreKind.LOGIT) for text in texts]


class BrokenScorer(PairScorer):
    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        given = super().score(clip, texts, mode, meta)
        return [Score(float("nan"), ScoreKind.LOGIT) if t == "hello" else s for t, s in zip(texts, given, strict=True)]


def test_a_clip_named_twice_is_decoded_and_encoded_once() -> None:
    adapter, tally = CountingEmbedder(), ScoringCounts()
    requests = [(Clip("a"), ["one", "two"]), (Clip("b2"), ["one"]), (Clip("a"), ["two", "three"])]
    scores = list(score_pairs(adapter, requests, tally=tally, read=still))
    assert adapter.clips == ["a", "b2"]
    # a: one, two, three; b2: one
    assert sorted((s.clip_key, s.text) for s in scores) == [("a", "one"), ("a", "three"), ("a", "two"), ("b2", "one")]
    assert (tally.clips_encoded, tally.texts_encoded, tally.pairs) == (2, 3, 4)
    assert (tally.video_calls, tally.text_calls) == (1, 1)


def test_texts_are_encoded_in_batches_of_like_length() -> None:
    adapter = CountingEmbedder()
    texts = ["word " * n for n in range(1, 301)]
    list(score_pairs(adapter, [(Clip("a"), texts[::-1])], read=still))
    lengths = [len(text.split()) for batch in adapter.text_batches for text in batch]
    assert lengths == sorted(lengths)
    assert [len(batch) for batch in adapter.text_batches] == [128, 128, 44]


def test_values_are_those_of_the_matrix_entry_by_entry() -> None:
    adapter = FakeEmbedder()
    requests = [(Clip(key), ["x", f"only {key}"]) for key in ("a", "bb", "ccc")]
    scores = {(s.clip_key, s.text): s.value for s in score_pairs(adapter, requests, read=still, clips_a_batch=2)}
    for clip, texts in requests:
        frames, meta = still(clip, adapter.info)
        row = adapter.score(adapter.encode_video([frames], [meta]), adapter.encode_text(texts))[0]
        assert [scores[clip.key, text] for text in texts] == pytest.approx(row.tolist(), abs=1e-6)


def test_a_scorer_sees_each_clip_with_all_its_texts() -> None:
    # Grey levels: "a" 1 * 7, "bb" 2 * 7; a value is the text's length times that.
    scores = list(score_pairs(PairScorer(), [(Clip("a"), ["four", "to"]), (Clip("bb"), ["to"])], read=still))
    assert [(s.clip_key, s.text, s.value) for s in scores] == [("a", "to", 14), ("a", "four", 28), ("bb", "to", 28)]


def test_a_text_only_model_scores_each_distinct_text_once_and_reads_no_clip() -> None:
    def never(clip: Clip, info: ModelInfo) -> tuple[Frames, VideoMeta]:
        raise AssertionError("a text-only model needs no frames")

    tally = ScoringCounts()
    requests = [(Clip("a"), ["one", "two words"]), (Clip("b"), ["one"])]
    scores = list(score_pairs(FakeScorer(), requests, tally=tally, read=never))
    assert [(s.clip_key, s.text) for s in scores] == [(None, "one"), (None, "two words")]
    assert scores[1].value == pytest.approx(scores[1].components["sum"] / 2)
    assert tally.texts_encoded == 2


def test_an_unreadable_clip_is_listed_and_the_others_are_scored(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mp4", tmp_path / "bad.mp4"
    write_mp4(good, np.full((4, 16, 16, 3), 90, np.uint8), fps=4)
    bad.write_text("no video", encoding="utf-8")
    tally = ScoringCounts()
    requests = [(Clip("bad", bad), ["x"]), (Clip("good", good), ["x"]), (Clip("none"), ["x"])]
    scores = list(score_pairs(FakeEmbedder(), requests, tally=tally))
    assert [s.clip_key for s in scores] == ["good"]
    assert [key for key, _ in tally.unreadable] == ["bad", "none"]
    assert str(bad) in tally.unreadable[0][1]


def test_a_value_that_is_not_finite_is_listed_and_the_others_are_scored() -> None:
    tally = ScoringCounts()
    scores = list(score_pairs(BrokenScorer(), [(Clip("a"), ["hello", "fine"])], read=still, tally=tally))
    assert [(score.text, score.value) for score in scores] == [("fine", 4.0 * 7)]
    ((key, text, value),) = tally.not_finite
    assert (key, text) == ("a", "hello")
    assert np.isnan(value)


class FussyEmbedder(CountingEmbedder):
    """Takes no clip of the key "bb"."""

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> np.ndarray:
        for about in meta:
            if about.key == "bb":
                raise ClipError("no face in it")
        return super().encode_video(clips, meta)


class FussyScorer(PairScorer):
    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        if meta is not None and meta.key == "bb":
            raise ClipError("no face in it")
        return super().score(clip, texts, mode, meta)


@pytest.mark.parametrize("adapter", [FussyEmbedder(), FussyScorer()])
def test_a_clip_that_the_model_refuses_is_listed_and_the_others_are_scored(
    adapter: FussyEmbedder | FussyScorer,
) -> None:
    tally = ScoringCounts()
    requests = [(Clip(key), ["x", "yy"]) for key in ("a", "bb", "ccc")]
    scores = list(score_pairs(adapter, requests, read=still, tally=tally))
    assert [score.clip_key for score in scores] == ["a", "a", "ccc", "ccc"]
    assert tally.refused == [("bb", "no face in it")]


def test_kept_vectors_are_neither_decoded_nor_encoded_again_and_score_the_same(tmp_path: Path) -> None:
    paths = [tmp_path / f"{n}.mp4" for n in range(3)]
    for n, path in enumerate(paths):
        write_mp4(path, np.full((4, 16, 16, 3), 60 * n, np.uint8), fps=4)
    files = FileCache(tmp_path / "vectors", 10**6)
    kept = VectorCache(files, FrameCache(), PROTOCOLS["foilworks"])
    requests = [(Clip(str(n), path), ["x", f"only {n}"]) for n, path in enumerate(paths)]

    def scored(adapter: CountingEmbedder, tally: ScoringCounts) -> list[tuple[str | None, str, float]]:
        found = score_pairs(adapter, requests, tally=tally, vector_cache=kept, read=reader(PROTOCOLS["foilworks"]))
        return [(score.clip_key, score.text, score.value) for score in found]

    first, tally = scored(CountingEmbedder(), ScoringCounts()), ScoringCounts()
    again = CountingEmbedder()
    assert scored(again, tally) == first
    assert again.clips == []
    assert (tally.vectors_kept, tally.video_calls) == (3, 0)
    # Another model, another video, a broken entry: encoded.
    other = CountingEmbedder()
    other.info = replace(other.info, revision="2")
    scored(other, ScoringCounts())
    assert other.clips == ["0", "1", "2"]
    write_mp4(paths[1], np.full((4, 16, 16, 3), 250, np.uint8), fps=4)
    for entry in (tmp_path / "vectors").glob("??/*"):
        entry.write_bytes(b"broken")
    last = CountingEmbedder()
    changed = scored(last, ScoringCounts())
    assert last.clips == ["0", "1", "2"]
    assert [one for one in changed if one[0] != "1"] == [one for one in first if one[0] != "1"]


def test_values_leave_batch_by_batch() -> None:
    """A job that dies after the first batch has stored it: nothing waits for the last clip."""
    adapter = CountingEmbedder()
    stream = score_pairs(adapter, [(Clip("a" * n), ["x"]) for n in range(1, 9)], read=still, clips_a_batch=2)
    next(stream)
    assert len(adapter.clips) == 2


@given(
    st.lists(
        st.tuples(st.sampled_from("abcde"), st.lists(st.sampled_from(["p", "q r", "s t u"]), max_size=4)), max_size=8
    ),
    st.integers(1, 4),
)
def test_scores_depend_neither_on_order_nor_on_batch_size(requests: list[tuple[str, list[str]]], size: int) -> None:
    adapter = FakeEmbedder()

    def scored(order: list[tuple[str, list[str]]], batch: int) -> dict[tuple[str | None, str], float]:
        asked = [(Clip(key), texts) for key, texts in order]
        found = list(score_pairs(adapter, asked, read=still, clips_a_batch=batch))
        pairs = {(s.clip_key, s.text): s.value for s in found}
        assert len(pairs) == len(found)
        return pairs

    first, second = scored(requests, size), scored(requests[::-1], 16)
    assert first.keys() == second.keys() == {(key, text) for key, texts in requests for text in texts}
    for pair, value in first.items():
        assert value == pytest.approx(second[pair], abs=1e-6)


def test_lengths_ascend_within_one_clip_too() -> None:
    texts = ["three words here", "one", "two words"]
    scores = list(score_pairs(PairScorer(), [(Clip("a"), texts)], read=still))
    assert all(len(a.text.split()) <= len(b.text.split()) for a, b in pairwise(scores))
