"""CLIP by frames: what is computed, and that pixels reach the model as its preprocessor file asks."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import CLIPImageProcessor

from foilworks.core.hub.adapters.clip import softmax_mean
from foilworks.core.hub.batching.pixels import Pixels
from foilworks.core.hub.interfaces import VideoMeta
from foilworks.core.hub.opening import open_adapter
from tests.hub import folders, video_folders

TEXTS = ["a man folds a shirt", "a ring", "a woman opens the door"]


def clip(height: int = 20, width: int = 30, frames: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), np.uint8)


@pytest.mark.parametrize("siglip", [False, True])
def test_frames_and_texts_score_like_the_model_itself(tmp_path: Path, siglip: bool) -> None:
    adapter = open_adapter(f"clip:{folders.clip(tmp_path / 'm', siglip=siglip)}?frames=4", device="cpu")
    given = clip(16, 16)
    rows = adapter.encode_video([given], [VideoMeta()])
    mean, std = adapter.pixels.mean, adapter.pixels.std
    pixels = torch.tensor((given / 255.0 - np.array(mean)) / np.array(std), dtype=torch.float32).permute(0, 3, 1, 2)
    tokens = adapter.tokenizer(TEXTS, padding="max_length", truncation=True, max_length=16, return_tensors="pt")
    with torch.inference_mode():
        mask = {} if siglip else {"attention_mask": tokens["attention_mask"]}
        out = adapter.model(pixel_values=pixels, input_ids=tokens["input_ids"], **mask)
    logits = adapter.frame_logits(rows, adapter.encode_text(TEXTS))
    assert rows.shape == (1, 4, 16)
    np.testing.assert_allclose(logits[0], out.logits_per_image.numpy(), atol=1e-4)


@pytest.mark.parametrize("family", ["altclip", "chinese_clip", "clipseg"])
def test_relatives_of_clip_score_like_the_model_itself(tmp_path: Path, family: str) -> None:
    adapter = open_adapter(f"clip:{getattr(video_folders, family)(tmp_path / family)}?frames=4", device="cpu")
    assert adapter.model.config.model_type == family
    given = clip(16, 16)
    pixels = adapter.pixels(given, torch.device("cpu"))
    tokens = adapter.tokenizer(TEXTS, padding="max_length", truncation=True, max_length=16, return_tensors="pt")
    inputs = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        wanted = adapter.model(pixel_values=pixels, **inputs).logits_per_image.numpy()
    rows = adapter.encode_video([given], [VideoMeta()])
    np.testing.assert_allclose(adapter.frame_logits(rows, adapter.encode_text(TEXTS))[0], wanted, atol=1e-4)
    assert np.abs(wanted[:, 0] - wanted[:, 1]).max() > 1e-3


def test_every_pooling_comes_from_the_same_frame_vectors(tmp_path: Path) -> None:
    folder = folders.clip(tmp_path / "m")
    by_features = open_adapter(f"clip:{folder}?frames=4", device="cpu")
    by_logits = open_adapter(f"clip:{folder}?frames=4&pooling=logits", device="cpu")
    rows, texts = by_features.encode_video([clip()], [VideoMeta()]), by_features.encode_text(TEXTS)
    mean = rows[0].mean(0)
    np.testing.assert_allclose(by_features.score(rows, texts)[0], texts @ mean / np.linalg.norm(mean), atol=1e-6)
    logits = by_features.frame_logits(rows, texts)
    np.testing.assert_allclose(by_logits.score(rows, texts), logits.mean(1), atol=1e-5)
    assert by_features.info.revision != by_logits.info.revision
    assert (by_features.info.kind, by_logits.info.kind) == ("cosine", "logit")


def test_the_mean_of_softmaxes_by_hand() -> None:
    """Two frames: (ln 3, 0) -> (3/4, 1/4); (0, 0) -> (1/2, 1/2); the mean is (5/8, 3/8)."""
    logits = np.array([[[np.log(3), 0], [0, 0]]], np.float32)
    np.testing.assert_allclose(softmax_mean(logits), [[0.625, 0.375]], atol=1e-6)


def test_pixels_are_those_of_the_published_processor(tmp_path: Path) -> None:
    """Against transformers' own PIL processor: within one grey value of 255 everywhere, a tenth of one on average."""
    folder = folders.clip(tmp_path / "m")
    frames = clip(37, 53, frames=2)
    smooth = np.stack([np.asarray(Image.fromarray(f).resize((300, 200), Image.Resampling.BICUBIC)) for f in frames])
    ours = Pixels.of(str(folder), 16)(smooth, torch.device("cpu")).numpy()
    reference = CLIPImageProcessor(**json.loads((folder / "preprocessor_config.json").read_text()))
    theirs = np.stack([reference(Image.fromarray(image))["pixel_values"][0] for image in smooth])
    grey = np.abs(ours - theirs) * np.array([0.27, 0.26, 0.28]).reshape(1, 3, 1, 1) * 255
    assert ours.shape == (2, 3, 16, 16)
    assert grey.max() <= 1.01
    assert grey.mean() < 0.1


def test_clips_of_different_sizes_form_one_batch(tmp_path: Path) -> None:
    adapter = open_adapter(f"clip:{folders.clip(tmp_path / 'm')}?frames=4", device="cpu")
    clips = [clip(20, 30), clip(64, 16, seed=1), clip(8, 8, seed=2)]
    together = adapter.encode_video(clips, [VideoMeta()] * 3)
    for row, one in zip(together, clips, strict=True):
        np.testing.assert_allclose(row, adapter.encode_video([one], [VideoMeta()])[0], atol=1e-5)


def test_similarity_is_float32_in_every_number_format(tmp_path: Path) -> None:
    adapter = open_adapter(f"clip:{folders.clip(tmp_path / 'm')}?frames=4", device="cpu", dtype="bfloat16")
    rows, texts = adapter.encode_video([clip()], [VideoMeta()]), adapter.encode_text(TEXTS)
    assert rows.dtype == texts.dtype == adapter.score(rows, texts).dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=2), 1, atol=1e-6)
