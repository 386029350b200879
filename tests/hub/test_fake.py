"""The fakes: functions of content and seed alone."""

import numpy as np
import pytest

from foilworks.core.hub.adapters.fake import FakeEmbedder, FakeScorer
from foilworks.core.hub.interfaces import VideoMeta


def test_equal_content_scores_one_with_itself() -> None:
    rows = FakeEmbedder().encode_text(["a", "b"])
    np.testing.assert_allclose(np.diag(rows @ rows.T), [1, 1], atol=1e-6)


def test_another_seed_is_another_model() -> None:
    a, b = FakeEmbedder(0), FakeEmbedder(1)
    assert a.info.model_id != b.info.model_id
    assert not np.allclose(a.encode_text(["a"]), b.encode_text(["a"]))


def test_one_changed_pixel_changes_the_clip() -> None:
    frames = np.zeros((4, 2, 2, 3), np.uint8)
    changed = frames.copy()
    changed[3, 1, 1, 2] = 1
    rows = FakeEmbedder().encode_video([frames, changed], [VideoMeta(), VideoMeta()])
    assert abs(float(rows[0] @ rows[1])) < 0.9


def test_unrelated_contents_score_about_zero() -> None:
    """1,000 cosines of random directions in 32 dimensions: mean 0, deviation 1/sqrt(32) = .177."""
    texts = FakeEmbedder().encode_text([f"text {i}" for i in range(1001)])
    cosines = texts[1:] @ texts[0]
    assert cosines.mean() == pytest.approx(0, abs=0.03)
    assert cosines.std() == pytest.approx(0.177, abs=0.02)


def test_the_text_scorer_sums_its_words() -> None:
    whole, first, second = FakeScorer().score(None, ["red ring", "red", "ring"])
    assert whole.parts["sum"] == pytest.approx(first.parts["sum"] + second.parts["sum"])
    assert whole.value == pytest.approx(whole.parts["sum"] / 2)
    assert whole.parts["tokens"] == 2
    assert whole.value <= 0
