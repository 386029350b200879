"""Where the device's memory runs out, batches are halved, the values stay, and the row says so."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from evaluation.scoring.fetching import Clip
from evaluation.scoring.loop import ScoringCounts, score_pairs
from foilworks.core.hub.adapters.fake import FakeEmbedder
from foilworks.core.hub.interfaces import Frames, ModelInfo, Score, ScoreKind, VideoMeta
from foilworks.core.hub.loaded_model import ran_out_of_memory
from tests.evaluation.test_scoring import still

CLIPS = [(Clip("x" * n), [f"text {n}", "both"]) for n in range(1, 12)]


class Small(FakeEmbedder):
    """Has room for three clips and two texts at once."""

    def __init__(self, error: type[Exception] = torch.OutOfMemoryError, clips: int = 3) -> None:
        super().__init__(1)
        self.error, self.room, self.sizes = error, clips, []

    def encode_video(self, clips: Sequence[Frames], meta: Sequence[VideoMeta]) -> np.ndarray:
        self.sizes.append(len(clips))
        if len(clips) > self.room:
            raise self.error("CUDA out of memory. Tried to allocate 20.00 MiB")
        return super().encode_video(clips, meta)

    def encode_text(self, texts: Sequence[str]) -> np.ndarray:
        if len(texts) > 2:
            raise self.error("CUDA out of memory. Tried to allocate 20.00 MiB")
        return super().encode_text(texts)


def values(adapter, tally=None) -> dict:
    return {(s.clip_key, s.text): s.value for s in score_pairs(adapter, CLIPS, tally=tally, read=still)}


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, MemoryError])
def test_batches_are_halved_until_they_fit_and_stay_small(error) -> None:
    adapter, tally = Small(error), ScoringCounts()
    assert values(adapter, tally) == values(FakeEmbedder(1))
    # 11 -> 5 + 6 -> (2 + 3) + (3 + 3): the first halving of five notes two for the rest of the run.
    assert tally.halved == {"clips": 2, "texts": 1}
    assert tally.clips_encoded == len(CLIPS)
    again = ScoringCounts(halved=dict(tally.halved))
    adapter.sizes.clear()
    assert values(adapter, again) == values(FakeEmbedder(1))
    assert max(adapter.sizes) == 2


def test_a_clip_that_does_not_fit_alone_is_listed() -> None:
    tally = ScoringCounts()
    assert values(Small(clips=0), tally) == {}
    assert len(tally.refused) == len(CLIPS)
    assert "use fewer frames" in tally.refused[0][1]


def test_other_errors_do_not_count_as_out_of_memory() -> None:
    class Broken(FakeEmbedder):
        def encode_video(self, clips, meta):
            raise RuntimeError("device-side assert triggered")

    with pytest.raises(RuntimeError, match="assert"):
        values(Broken(1))
    assert not ran_out_of_memory(ValueError("out of memory"))
    assert ran_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"))


class Pairs:
    """Scores one text at a time at most."""

    info = ModelInfo("pairs", "1", ScoreKind.LOGIT, frames=1)

    def score(
        self, clip: Frames | None, texts: Sequence[str], mode: str = "", meta: VideoMeta | None = None
    ) -> list[Score]:
        if len(texts) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return [Score(float(len(text)), ScoreKind.LOGIT) for text in texts]


def test_texts_of_a_clip_are_scored_in_halves() -> None:
    tally = ScoringCounts()
    scores = list(score_pairs(Pairs(), CLIPS, tally=tally, read=still))
    assert all(score.value == len(score.text) for score in scores)
    assert len(scores) == 2 * len(CLIPS)
    assert tally.halved == {"texts": 1}
