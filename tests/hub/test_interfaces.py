"""One interface test for every row of the table: what a caller may rely on, whatever the model."""

from pathlib import Path

import numpy as np
import pytest

from foilworks.core.hub.adapters.tiny_video import TinyConfig, TinyVideoText, Words, save_model
from foilworks.core.hub.batching.text_limits import ReadsWholeTexts
from foilworks.core.hub.catalogue.registry import ADAPTERS
from foilworks.core.hub.interfaces import (
    CATEGORIES,
    HIGHER_IS_BETTER,
    Embedder,
    LimitsTexts,
    ModelInfo,
    ScoreKind,
    Scorer,
    VideoMeta,
)
from foilworks.core.hub.opening import open_adapter
from tests.hub import folders, generative_folders, test_external, test_text_models, video_folders

TEXTS = ["a red circle moves from left to right", "a ring", "words that no model knows: zyzzyva, été", ""]


def tiny(folder: Path, architecture: str) -> str:
    vocabulary = Words.of(["a red circle moves from left to right", "a ring"])
    config = TinyConfig(architecture, f"tiny/{architecture}", frames=4, size=16, width=16, dimensions=8)
    save_model(folder / architecture, TinyVideoText(config, len(vocabulary.entries)), vocabulary, {"category": "video"})
    return f"tiny:{folder / architecture}"


SPECS = {
    "fake": lambda _: "fake:",
    "fake text": lambda _: "fake:text",
    "colours": lambda _: "colours:?frames=4",
    "tiny average": lambda folder: tiny(folder, "average"),
    "tiny temporal": lambda folder: tiny(folder, "temporal"),
    "clip": lambda folder: f"clip:{folders.clip(folder / 'clip')}?frames=4",
    "clip logits": lambda folder: f"clip:{folders.clip(folder / 'clip')}?frames=3&pooling=logits",
    "clip siglip": lambda folder: f"clip:{folders.clip(folder / 'siglip', siglip=True)}",
    "xclip": lambda folder: f"xclip:{video_folders.xclip(folder / 'xclip')}",
    "video": lambda folder: f"video:{video_folders.videoprism(folder / 'video')}",
    "blip2": lambda folder: f"blip2:{video_folders.blip2(folder / 'blip2')}?frames=2",
    "clip metaclip2": lambda folder: f"clip:{video_folders.metaclip2(folder / 'metaclip2')}?frames=2",
    "clip siglip2": lambda folder: f"clip:{video_folders.siglip2(folder / 'siglip2')}?frames=2",
    "vlm": lambda folder: f"vlm:{generative_folders.llava_onevision(folder / 'vlm')}?frames=4",
    "vlm blind": lambda folder: f"vlm:{generative_folders.qwen3_vl(folder / 'vlm')}?mode=blind",
    "external": lambda folder: f"external:{test_external.EXAMPLE}",
    "lm": lambda folder: f"lm:{folders.causal_lm(folder / 'lm')}",
    "seq2seq": lambda folder: f"seq2seq:{test_text_models.bart(folder / 'bart')}",
    "seq2seq t5": lambda folder: f"seq2seq:{test_text_models.t5(folder / 't5')}",
}


@pytest.fixture(params=SPECS)
def adapter(request: pytest.FixtureRequest, tmp_path: Path) -> Embedder | Scorer:
    return open_adapter(SPECS[request.param](tmp_path), device="cpu")


def clips(info: ModelInfo, n: int) -> tuple[list[np.ndarray], list[VideoMeta]]:
    height, width = info.size or (16, 16)
    draw = np.random.default_rng(0)
    frames = [draw.integers(0, 256, (info.frames, height, width, 3), np.uint8) for _ in range(n)]
    return frames, [VideoMeta(f"clip {i}") for i in range(n)]


def matrix(adapter: Embedder | Scorer, n: int = 3) -> np.ndarray:
    return scored(adapter, TEXTS, n)


def scored(adapter: Embedder | Scorer, texts: list[str], n: int = 1) -> np.ndarray:
    frames, meta = clips(adapter.info, n)
    if isinstance(adapter, Embedder):
        return adapter.score(adapter.encode_video(frames, meta), adapter.encode_text(texts))
    given = zip(frames, meta, strict=True) if adapter.info.needs_video else [(None, None)] * n
    return np.array([[s.value for s in adapter.score(clip, texts, meta=about)] for clip, about in given])


def test_every_row_of_the_table_is_tested_here() -> None:
    assert set(ADAPTERS) == {name.partition(" ")[0] for name in SPECS}


def test_a_model_has_an_id_a_revision_and_a_kind(adapter: Embedder | Scorer) -> None:
    assert adapter.info.model_id
    assert adapter.info.revision
    assert adapter.info.kind in ScoreKind
    assert adapter.info.higher_is_better is HIGHER_IS_BETTER[adapter.info.kind]
    assert adapter.info.card["category"] in {*CATEGORIES, "fake"}
    assert (adapter.info.frames > 0) is adapter.info.needs_video


def test_scores_are_finite_one_per_clip_and_text(adapter: Embedder | Scorer) -> None:
    scores = matrix(adapter)
    assert scores.shape == (3, len(TEXTS))
    assert np.isfinite(scores).all()
    if isinstance(adapter, Embedder):
        assert scores.dtype == np.float32


def test_the_same_input_scores_the_same(adapter: Embedder | Scorer) -> None:
    np.testing.assert_array_equal(matrix(adapter), matrix(adapter))


def test_a_batch_scores_like_single_texts(adapter: Embedder | Scorer) -> None:
    """Alone or beside others: padding and batch statistics must not leak into a score."""
    if not isinstance(adapter, Embedder):
        frames, meta = clips(adapter.info, 1)
        clip, about = (frames[0], meta[0]) if adapter.info.needs_video else (None, None)
        alone = [adapter.score(clip, [text], meta=about)[0].value for text in TEXTS]
        assert alone == pytest.approx([s.value for s in adapter.score(clip, TEXTS, meta=about)], abs=1e-5)
        return
    frames, meta = clips(adapter.info, 3)
    together, texts = adapter.encode_video(frames, meta), adapter.encode_text(TEXTS)
    for i in range(3):
        np.testing.assert_allclose(adapter.encode_video(frames[i : i + 1], meta[i : i + 1])[0], together[i], atol=1e-5)
    for i, text in enumerate(TEXTS):
        np.testing.assert_allclose(adapter.encode_text([text])[0], texts[i], atol=1e-5)


def test_no_texts_give_no_rows(adapter: Embedder | Scorer) -> None:
    if isinstance(adapter, Embedder):
        assert len(adapter.encode_text([])) == 0
    else:
        clip = clips(adapter.info, 1)[0][0] if adapter.info.needs_video else None
        assert adapter.score(clip, []) == []


# 246 words, and only the last ones differ.
LONG = [" ".join(["a man folds a red shirt"] * 40 + [end]) for end in ("jumps on the table", "opens the door")]


def test_texts_beyond_the_limit_are_reported(adapter: Embedder | Scorer, request: pytest.FixtureRequest) -> None:
    assert isinstance(adapter, LimitsTexts)
    reads = adapter.at_limit([*TEXTS, *LONG])
    if isinstance(adapter, ReadsWholeTexts) or reads is None:
        assert reads == (None if "external" in request.node.name else {})
        return
    assert set(LONG) <= set(reads)
    first, second = (reads[text] for text in LONG)
    assert first.is_cut
    assert first.kept == second.kept
    # Nothing that is shorter by a token is reported.
    words = LONG[0].split()
    shorter = (" ".join(words[:n]) for n in range(1, len(words)))
    exact = next(text for text in shorter if text in adapter.at_limit([text]))
    read = adapter.at_limit([exact])[exact]
    assert read.tokens >= read.limit == first.limit
    # Equal tokens, equal scores (up to what a batch changes); of a text read to its end as well.
    scores = scored(adapter, [*LONG, exact])[0]
    assert scores[0] == scores[1]
    assert bool(np.isclose(scores[0], scores[2], rtol=1e-5, atol=0)) == (read.kept == first.kept)
